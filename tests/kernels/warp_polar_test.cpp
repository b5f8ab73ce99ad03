// Polar warps: positions that warp_polar() reads.
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <texton/warp.h>

#include "tests/support/on_every_device.h"
#include "tests/support/warps.h"

namespace texton {
namespace {

using test::Color;
using test::kPi;
using test::Point;
using test::polar;
using test::Reference;

class WarpPolarTest : public test::WarpFixture {};
INSTANTIATE_TEST_SUITE_P(Devices, WarpPolarTest, test::every_device(), test::device_label);

double radius_at(const Polar& polar, double share) {
    const double inner = polar.inner;
    const double outer = polar.outer;
    return polar.logarithmic ? inner * std::pow(outer / inner, share) : inner + (outer - inner) * share;
}

Reference to_polar_position(const Polar& polar, Extent image) {
    return [=](double x, double y) {
        const double angle = 2 * kPi * x / static_cast<double>(image.width);
        const double radius = radius_at(polar, y / static_cast<double>(image.height));
        return Point{double{polar.center_x} + radius * std::cos(angle),
                     double{polar.center_y} + radius * std::sin(angle)};
    };
}

Reference from_polar_position(const Polar& polar, Extent texture) {
    return [=](double x, double y) {
        const double dx = x - double{polar.center_x};
        const double dy = y - double{polar.center_y};
        const double angle = std::atan2(dy, dx);
        const double radius = std::hypot(dx, dy);
        const double inner = polar.inner;
        const double outer = polar.outer;
        const double share =
            polar.logarithmic ? std::log(radius / inner) / std::log(outer / inner) : (radius - inner) / (outer - inner);
        return Point{(angle < 0 ? angle + 2 * kPi : angle) / (2 * kPi) * static_cast<double>(texture.width),
                     share * static_cast<double>(texture.height)};
    };
}

constexpr Polar kRing{.center_x = 30.2F, .center_y = 22.7F, .inner = 3, .outer = 21};
constexpr Polar kSpiral{.logarithmic = true, .center_x = 30.2F, .center_y = 22.7F, .inner = 2, .outer = 20};
constexpr Polar kFromRing{
    .direction = PolarDirection::from_polar, .center_x = 18.3F, .center_y = 14.2F, .inner = 0, .outer = 20};
constexpr Polar kFromSpiral{.direction = PolarDirection::from_polar,
                            .logarithmic = true,
                            .center_x = 18.3F,
                            .center_y = 14.2F,
                            .inner = 1,
                            .outer = 22};

TEST_P(WarpPolarTest, APolarWarpReadsAroundTheCenter) {
    leads(polar(kRing), to_polar_position(kRing, kImage));
    leads(polar(kSpiral), to_polar_position(kSpiral, kImage));
}

TEST_P(WarpPolarTest, APolarImageIsConvertedBack) {
    leads(polar(kFromRing), from_polar_position(kFromRing, kSize));
    leads(polar(kFromSpiral), from_polar_position(kFromSpiral, kSize));
}

TEST_P(WarpPolarTest, PolarWarpsSelectLevelsByTheirDerivatives) {
    const auto outside = [](const Reference& reference) {  // the center pixel covers more than one angle
        return
            [=](double x, double y) { return std::hypot(x - 18.3, y - 14.2) < 0.5 ? std::nullopt : reference(x, y); };
    };
    const Polar wide{.center_x = 32, .center_y = 32, .inner = 10, .outer = 300};
    const Polar wide_spiral{.logarithmic = true, .center_x = 32, .center_y = 32, .inner = 5, .outer = 300};
    picks_levels(polar(wide), to_polar_position(wide, kImage));
    picks_levels(polar(wide_spiral), to_polar_position(wide_spiral, kImage));
    picks_levels(polar(kFromRing), outside(from_polar_position(kFromRing, {64, 64})));
    picks_levels(polar(kFromSpiral), outside(from_polar_position(kFromSpiral, {64, 64})));
}

TEST_P(WarpPolarTest, TheDefaultRadiusReachesFromTheCenterToTheNearestEdge) {
    const Polar to{.center_x = 32, .center_y = 24, .inner = 0, .outer = 24};
    EXPECT_EQ(warped(polar({}), positions(), kImage), warped(polar(to), positions(), kImage));
    Polar from{.direction = PolarDirection::from_polar, .logarithmic = true};
    const std::vector<Color> pixels = warped(polar(from), positions(), kImage);
    from.center_x = 18.5F;
    from.center_y = 14.5F;
    from.inner = 1;
    from.outer = 14.5F;
    EXPECT_EQ(pixels, warped(polar(from), positions(), kImage));
}

TEST_P(WarpPolarTest, TheCenterOfALogarithmicWarpGetsTheBorderColor) {
    const Polar from{.direction = PolarDirection::from_polar, .logarithmic = true};
    const std::vector<Color> pixels = warped(polar(from), positions(), kImage, {.border = {1, 2, 3, 4}});
    for (std::size_t i = 0; i < pixels.size(); ++i)
        EXPECT_EQ(pixels[i] == (Color{1, 2, 3, 4}), i == 14 * kImage.width + 18) << i;
}

TEST(WarpPolarParityTest, AllDevicesGiveTheSameImage) {
    test::expect_same_on_all_devices("to polar", polar(kRing));
    test::expect_same_on_all_devices("to logarithmic", polar(kSpiral));
    test::expect_same_on_all_devices("from polar", polar(kFromRing));
    test::expect_same_on_all_devices("from logarithmic", polar(kFromSpiral));
}

}  // namespace
}  // namespace texton
