// Limits, masks and ignored channels.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

#include <texton/image.h>

#include "tests/support/expect_error.h"
#include "tests/support/image_folder.h"
#include "viewer/verify/image_difference.h"
#include "viewer/verify/pattern.h"

namespace texton::verify {
namespace {

using test::expect_error;
using testing::HasSubstr;

HostImage image_of_values(Format format, Extent extent, const std::vector<float>& values) {
    HostImage image(format, extent);
    EXPECT_EQ(image.texels.size(), values.size() * sizeof(float));
    std::memcpy(image.texels.data(), values.data(), image.texels.size());
    return image;
}

HostImage bytes(Extent extent, const std::vector<int>& values) {
    HostImage image(Format::rgba8_unorm, extent);
    EXPECT_EQ(image.texels.size(), values.size());
    std::ranges::transform(values, image.texels.begin(), [](int value) { return static_cast<std::byte>(value); });
    return image;
}

Criteria limits(const Tolerance& tolerance, const Mask& mask = {}) {
    Criteria criteria;
    criteria.tolerance = tolerance;
    criteria.mask = mask;
    criteria.where = "here";
    return criteria;
}

std::string exceeded(const HostImage& a, const HostImage& b, const Criteria& criteria) {
    return difference_of(a, b, criteria).exceeded;
}

// --- stored bits -----------------------------------------------------------------------------------------------------

TEST(StoredBitsTest, ChangedBitsOfEqualValuesFailWithUlp0Only) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float other_nan = std::bit_cast<float>(std::bit_cast<std::uint32_t>(nan) ^ 1U);
    for (const auto& [before, after] : {std::pair{0.0f, -0.0f}, std::pair{nan, other_nan}, std::pair{nan, -nan}}) {
        const HostImage a = image_of_values(Format::r32_float, {2, 1}, {before, 1});
        const HostImage b = image_of_values(Format::r32_float, {2, 1}, {after, 1});
        const ImageDifference found = difference_of(a, b, limits({.ulp = 0}));
        EXPECT_EQ(found.changed_bits, 1U);
        EXPECT_EQ(found.comparison.all.differing, 0U);
        EXPECT_THAT(found.exceeded, HasSubstr("the stored bits of 1 texels differ"));
        EXPECT_EQ(exceeded(a, b, limits({.ulp = 1})), "");
        EXPECT_EQ(exceeded(a, b, limits({.max = 0})), "");
        EXPECT_EQ(exceeded(a, a, limits({.ulp = 0})), "");
    }
}

TEST(StoredBitsTest, BothCodesOfMinusOneAreDifferentBits) {
    HostImage a(Format::r8_snorm, {1, 1}), b = a;
    a.texels[0] = std::byte{0x80};
    b.texels[0] = std::byte{0x81};
    EXPECT_THAT(exceeded(a, b, limits({.ulp = 0})), HasSubstr("stored bits"));
    EXPECT_EQ(exceeded(a, b, limits({.ulp = 1})), "");
}

// --- limits ----------------------------------------------------------------------------------------------------------

TEST(LimitsTest, TexelsOverALimitAreCounted) {
    const HostImage a = image_of_values(Format::r32_float, {4, 1}, {1, 1, 1, 1});
    const HostImage b = image_of_values(Format::r32_float, {4, 1}, {1, 1.125f, 1.25f, 2});
    const auto count = [&](std::size_t texels, double max) {
        return exceeded(a, b, limits({.count = TexelCount{.texels = texels, .max = max}}));
    };
    EXPECT_EQ(count(2, 0.125), "");
    EXPECT_EQ(count(1, 0.125), "2 texels exceed the limit of count (allowed: 1)");
    EXPECT_EQ(count(0, 1), "");
    EXPECT_EQ(count(2, 0), "3 texels exceed the limit of count (allowed: 2)");
    EXPECT_EQ(exceeded(a, b, limits({.count = TexelCount{.texels = 2, .ulp = 1U << 20}})), "");
    EXPECT_THAT(exceeded(a, b, limits({.count = TexelCount{.texels = 1, .ulp = 1U << 20}})), HasSubstr("2 texels"));
}

TEST(LimitsTest, NaNExceedsEveryLimitOfCountUnlessBothAreNaN) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const HostImage a = image_of_values(Format::r32_float, {3, 1}, {1, nan, infinity});
    const HostImage b = image_of_values(Format::r32_float, {3, 1}, {nan, nan, infinity});
    for (const TexelCount& count : {TexelCount{.max = 1e30}, TexelCount{.ulp = 1U << 30}})
        EXPECT_THAT(exceeded(a, b, limits({.count = count})), HasSubstr("1 texels exceed"));
}

TEST(LimitsTest, SsimIsAMinimum) {
    const HostImage a = draw({.seed = 1}, {.format = Format::r8_unorm, .extent = {16, 16}}).levels[0];
    const HostImage b = draw({.seed = 2}, {.format = Format::r8_unorm, .extent = {16, 16}}).levels[0];
    EXPECT_EQ(exceeded(a, a, limits({.ssim = 1})), "");
    EXPECT_THAT(exceeded(a, b, limits({.ssim = 0.9})), testing::StartsWith("SSIM "));
    EXPECT_EQ(exceeded(a, b, limits({.ssim = -1})), "");
}

// --- ignored channels ------------------------------------------------------------------------------------------------

TEST(IgnoredChannelsTest, OnlyOtherChannelsAreCompared) {
    const HostImage a = bytes({2, 1}, {10, 20, 30, 40, 50, 60, 70, 80});
    const HostImage b = bytes({2, 1}, {10, 25, 30, 40, 50, 60, 70, 90});
    Criteria criteria = limits({.ulp = 0});
    criteria.ignored = 0b1010;
    EXPECT_EQ(exceeded(a, b, criteria), "");
    criteria.ignored = 0b1000;
    EXPECT_THAT(exceeded(a, b, criteria), HasSubstr("max ulp 5"));
    criteria.ignored = 0b0010;
    EXPECT_THAT(exceeded(a, b, criteria), HasSubstr("max ulp 10"));
}

TEST(IgnoredChannelsTest, ChannelsOfPackedFormatsAreIgnored) {
    HostImage a(Format::rgb10a2_unorm, {1, 1}), b = a;
    const std::uint32_t green = 5U << 10;
    std::memcpy(b.texels.data(), &green, sizeof green);
    Criteria criteria = limits({.ulp = 0});
    EXPECT_THAT(exceeded(a, b, criteria), HasSubstr("max ulp 5"));
    criteria.ignored = 0b0010;
    EXPECT_EQ(exceeded(a, b, criteria), "");
    criteria.ignored = 0b1101;
    EXPECT_THAT(exceeded(a, b, criteria), HasSubstr("max ulp 5"));
}

TEST(IgnoredChannelsTest, MeansAreThoseOfTheComparedChannels) {
    const HostImage a = bytes({1, 1}, {0, 0, 0, 0}), b = bytes({1, 1}, {51, 102, 0, 255});
    Criteria criteria = limits({.mse = 0});
    criteria.ignored = 0b1000;
    const Difference& rgb = difference_of(a, b, criteria).comparison.all;
    EXPECT_NEAR(rgb.mse, (0.04 + 0.16) / 3, 1e-6);
    EXPECT_NEAR(rgb.psnr, -10 * std::log10(rgb.mse), 1e-9);
    criteria.ignored = 0b1100;
    EXPECT_NEAR(difference_of(a, b, criteria).comparison.all.mse, 0.1, 1e-6);
}

TEST(IgnoredChannelsTest, ImageWithoutOtherChannelsIsRefused) {
    const HostImage a(Format::rg8_unorm, {1, 1});
    Criteria criteria = limits({.ulp = 0});
    criteria.ignored = 0b0011;
    expect_error([&] { (void)difference_of(a, a, criteria); }, ErrorCode::bad_argument, "texton::verify",
                 {"here: 'ignore' leaves no channel to compare"});
}

// --- masks -----------------------------------------------------------------------------------------------------------

class MaskTest : public testing::Test {
protected:
    /// Writes a mask of 4 x 2 texels that excludes the texel at this index.
    Mask file(std::size_t excluded, Extent extent = {4, 2}) const {
        std::vector<std::byte> texels(extent.width * extent.height, std::byte{1});
        texels[excluded] = std::byte{0};
        write_image(folder_.at("mask.png"), Format::r8_unorm, extent, texels);
        return {.file = folder_.at("mask.png"), .rectangles = {}};
    }
    static Criteria with(const Mask& mask, const Tolerance& tolerance = {.ulp = 0}) { return limits(tolerance, mask); }
    static HostImage gray(std::vector<int> values, Extent extent = {4, 2}) {
        HostImage image(Format::r8_unorm, extent);
        std::ranges::transform(values, image.texels.begin(), [](int value) { return static_cast<std::byte>(value); });
        return image;
    }

    const HostImage before_ = gray({0, 0, 0, 0, 0, 0, 0, 0});
    const HostImage after_ = gray({0, 0, 0, 0, 0, 0, 51, 0});
    test::ImageFolder folder_;
};

TEST_F(MaskTest, TexelsThatAre0InTheMaskAreNotCompared) {
    EXPECT_EQ(exceeded(before_, after_, with(file(6))), "");
    EXPECT_THAT(exceeded(before_, after_, with(file(5))), HasSubstr("max ulp 51"));
    EXPECT_THAT(exceeded(before_, after_, with({})), HasSubstr("max ulp 51"));
}

TEST_F(MaskTest, TexelsInRectanglesAreNotCompared) {
    const auto rectangle = [](std::size_t x, std::size_t y, std::size_t width, std::size_t height) {
        return with({.file = {}, .rectangles = {{{x, y, 0}, {width, height, 1}}}});
    };
    EXPECT_EQ(exceeded(before_, after_, rectangle(2, 1, 1, 1)), "");
    EXPECT_EQ(exceeded(before_, after_, rectangle(1, 0, 3, 2)), "");
    for (const auto& other : {rectangle(0, 0, 4, 1), rectangle(0, 0, 2, 2), rectangle(3, 0, 1, 2)})
        EXPECT_THAT(exceeded(before_, after_, other), HasSubstr("max ulp 51"));
}

TEST_F(MaskTest, RectanglesApplyToEverySlice) {
    const HostImage a = gray(std::vector<int>(8, 0), {2, 2, 2}), b = gray({0, 0, 0, 9, 0, 0, 0, 9}, {2, 2, 2});
    EXPECT_EQ(exceeded(a, b, with({.file = {}, .rectangles = {{{1, 1, 0}, {1, 1, 1}}}})), "");
}

TEST_F(MaskTest, MeansAndSharesAreThoseOfTheComparedTexels) {
    const Mask half{.file = {}, .rectangles = {{{0, 0, 0}, {4, 1, 1}}}};
    const ImageDifference found = difference_of(before_, after_, with(half, {.mse = 1}));
    EXPECT_EQ(found.texels, 4U);
    EXPECT_NEAR(found.comparison.all.mse, 0.04 / 4, 1e-6);
    EXPECT_EQ(exceeded(before_, after_, with(half, {.share = 0.25})), "");
    EXPECT_THAT(exceeded(before_, after_, with(half, {.share = 0.24})), HasSubstr("share 0.25"));
}

TEST_F(MaskTest, ComparedImageHasTheTexelsOfTheReferenceUnderTheMask) {
    EXPECT_EQ(compared_image(before_, after_, with(file(6))).texels, before_.texels);
    EXPECT_EQ(compared_image(before_, after_, with(file(5))).texels, after_.texels);
}

TEST_F(MaskTest, MaskOfAnotherSizeIsNamed) {
    expect_error(
        [&] {
            (void)difference_of(before_, after_, with(file(0, {4, 3})));
        },
        ErrorCode::bad_argument, "texton::verify",
        {"here: 'mask' is mask.png, which is 4 x 3, but the image is 4 x 2"});
    expect_error(
        [&] {
            (void)difference_of(before_, after_, with({.file = {}, .rectangles = {{{3, 0, 0}, {2, 1, 1}}}}));
        },
        ErrorCode::bad_argument, "texton::verify", {"here: 'mask' has a rectangle that ends at 5, 1"});
}

TEST_F(MaskTest, MaskThatExcludesAllTexelsIsRefused) {
    expect_error(
        [&] {
            (void)difference_of(before_, after_, with({.file = {}, .rectangles = {{{0, 0, 0}, {4, 2, 1}}}}));
        },
        ErrorCode::bad_argument, "texton::verify", {"here: 'mask' leaves no texel to compare"});
}

}  // namespace
}  // namespace texton::verify
