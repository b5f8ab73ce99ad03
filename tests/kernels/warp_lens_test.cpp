// Lens warps: positions that undistort() and distort() read.
#include <cmath>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <texton/warp.h>

#include "tests/support/on_every_device.h"
#include "tests/support/warps.h"

namespace texton {
namespace {

using test::affine;
using test::Color;
using test::distorted;
using test::kBrown;
using test::kCamera;
using test::kFisheye;
using test::kPi;
using test::kStraight;
using test::Point;
using test::Reference;
using test::undistorted;

class WarpLensTest : public test::WarpFixture {};
INSTANTIATE_TEST_SUITE_P(Devices, WarpLensTest, test::every_device(), test::device_label);

Point bent(const BrownConrady& lens, Point at) {
    const double k1 = lens.k1;
    const double k2 = lens.k2;
    const double k3 = lens.k3;
    const double p1 = lens.p1;
    const double p2 = lens.p2;
    const double r2 = at.x * at.x + at.y * at.y;
    const double g = 1 + k1 * r2 + k2 * r2 * r2 + k3 * r2 * r2 * r2;
    return {g * at.x + 2 * p1 * at.x * at.y + p2 * (r2 + 2 * at.x * at.x),
            g * at.y + p1 * (r2 + 2 * at.y * at.y) + 2 * p2 * at.x * at.y};
}

Point bent(const Fisheye& lens, Point at) {
    const double r = std::hypot(at.x, at.y);
    if (r == 0) return at;
    const double a = std::atan(r);
    const double t = a * (1 + double{lens.k1} * std::pow(a, 2) + double{lens.k2} * std::pow(a, 4) +
                          double{lens.k3} * std::pow(a, 6) + double{lens.k4} * std::pow(a, 8));
    return {at.x * t / r, at.y * t / r};
}

Point to_ray(const Camera& camera, Point at) {
    return {(at.x - double{camera.cx}) / double{camera.fx}, (at.y - double{camera.cy}) / double{camera.fy}};
}
Point to_texels(const Camera& camera, Point ray) {
    return {ray.x * double{camera.fx} + double{camera.cx}, ray.y * double{camera.fy} + double{camera.cy}};
}

/// Returns the ray that the lens bends to `target`, found by damped fixed-point iteration without derivatives.
template <class Distortion>
Point straightened(const Distortion& lens, Point target) {
    Point at = target;
    for (int i = 0; i < 400; ++i) {
        const Point now = bent(lens, at);
        at.x += 0.5 * (target.x - now.x);
        at.y += 0.5 * (target.y - now.y);
    }
    return at;
}

template <class Distortion>
Reference undistorted_position(const Distortion& lens) {
    return [lens](double x, double y) { return to_texels(kCamera, bent(lens, to_ray(kStraight, {x, y}))); };
}
/// Positions for distort(): the lens with camera kStraight images a straight image of kCamera.
template <class Distortion>
Reference distorted_position(const Distortion& lens) {
    return [lens](double x, double y) { return to_texels(kCamera, straightened(lens, to_ray(kStraight, {x, y}))); };
}

TEST_P(WarpLensTest, UndistortReadsAtTheDistortedCoordinate) {
    leads(undistorted({kCamera, kBrown, kStraight}), undistorted_position(kBrown));
    leads(undistorted({kCamera, kFisheye, kStraight}), undistorted_position(kFisheye));
}

TEST_P(WarpLensTest, DistortReadsAtTheUndistortedCoordinate) {
    leads(distorted({kStraight, kBrown, kCamera}), distorted_position(kBrown));
    leads(distorted({kStraight, kFisheye, kCamera}), distorted_position(kFisheye));
}

TEST_P(WarpLensTest, LensWarpsSelectLevelsByTheirDerivatives) {
    const Camera far{.fx = 90, .fy = 90, .cx = 30, .cy = 30};
    const auto onto = [&](const Camera& camera, auto bend) {
        return [=](double x, double y) { return to_texels(camera, bend(to_ray(kStraight, {x, y}))); };
    };
    const auto check = [&](const auto& lens) {
        picks_levels(undistorted({far, lens, kStraight}), onto(far, [=](Point ray) { return bent(lens, ray); }));
        picks_levels(distorted({kStraight, lens, far}), onto(far, [=](Point ray) { return straightened(lens, ray); }));
    };
    check(kBrown);
    check(kFisheye);
}

TEST_P(WarpLensTest, ALensWithoutDistortionActsAsAPinhole) {
    leads(undistorted({kCamera, BrownConrady{}, kStraight}), undistorted_position(BrownConrady{}));
    leads(distorted({kStraight, BrownConrady{}, kCamera}), distorted_position(BrownConrady{}));
    const Texture texture = noise(Format::r32_float, {.extent = kImage});
    const Lens same{.camera = {.fx = 32, .fy = 32, .cx = 16, .cy = 16}};
    EXPECT_EQ(warped(undistorted(same), texture, kImage), warped(affine({}), texture, kImage));
}

TEST_P(WarpLensTest, PixelsOutsideTheLensViewGetTheBorderColor) {
    constexpr Color kBorder{1, 2, 3, 4};
    // Equidistant fisheye: with a focal length of 10 the angle of 90 degrees lies 15.7 pixels from the center.
    const Camera wide{.fx = 10, .fy = 10, .cx = 20, .cy = 0.5F};
    const std::vector<Color> fisheye =
        warped(distorted({wide, Fisheye{}, kCamera}), positions(), {40, 1}, {.border = kBorder});
    for (std::size_t i = 0; i < 40; ++i) {
        const bool seen = std::abs(static_cast<double>(i) + 0.5 - 20) < 5 * kPi;
        EXPECT_EQ(fisheye[i] != kBorder, seen) << i;
    }
    // x - x^3 / 3 has its maximum at x = 1 with the value 2/3.
    const BrownConrady barrel{.k1 = -1.0F / 3};
    const std::vector<Color> brown =
        warped(distorted({wide, barrel, kCamera}), positions(), {40, 1}, {.border = kBorder});
    for (std::size_t i = 0; i < 40; ++i) {
        const double bent_x = std::abs(static_cast<double>(i) + 0.5 - 20) / 10;
        EXPECT_EQ(brown[i] != kBorder, bent_x < 2.0 / 3) << i;
    }
}

TEST(WarpLensParityTest, AllDevicesGiveTheSameImage) {
    test::expect_same_on_all_devices("undistort, Brown", undistorted({kCamera, kBrown, kStraight}));
    test::expect_same_on_all_devices("undistort, fisheye", undistorted({kCamera, kFisheye, kStraight}));
    test::expect_same_on_all_devices("distort, Brown", distorted({kStraight, kBrown, kCamera}));
    test::expect_same_on_all_devices("distort, fisheye", distorted({kStraight, kFisheye, kCamera}));
}

}  // namespace
}  // namespace texton
