// Patterns of suites, drawn as a whole and by parts.
#include <gmock/gmock.h>

#include "tests/support/expect_error.h"
#include "tests/support/texels.h"
#include "viewer/verify/pattern_image.h"

namespace texton::verify {
namespace {

using test::Bytes;
using testing::HasSubstr;

TEST(PatternTest, PartsHaveTheTexelsOfTheWhole) {
    constexpr Extent kWhole{70, 50};
    const Region part{{33, 17, 0}, {29, 12, 1}};
    for (const char* name :
         {"noise", "gradient", "zone_plate", "checker", "special", "ties", "transparent", "steps", "smooth"}) {
        for (const Format format : {Format::rgba8_unorm, Format::r16_float}) {
            const Pattern pattern{.kind = pattern_named(name).value(), .seed = 5};
            const HostArray whole = draw(pattern, {.format = format, .extent = kWhole});
            Bytes drawn(packed_bytes(format, part.extent));
            draw_part(pattern, format, kWhole, part, drawn.data());
            const std::size_t row = row_bytes(format, part.extent.width);
            for (std::size_t y = 0; y < part.extent.height; ++y) {
                const auto from = whole.levels[0].texels.begin() +
                                  static_cast<std::ptrdiff_t>((part.offset.y + y) * row_bytes(format, kWhole.width) +
                                                              row_bytes(format, part.offset.x));
                EXPECT_TRUE(std::equal(from, from + static_cast<std::ptrdiff_t>(row),
                                       drawn.begin() + static_cast<std::ptrdiff_t>(y * row)))
                    << name << ", row " << y;
            }
        }
    }
}

TEST(PatternTest, SmoothPatternHasSmallStepsAndOtherWavesInEachChannel) {
    constexpr Extent kExtent{1000, 600};
    const HostArray drawn = draw({.kind = PatternKind::smooth}, {.format = Format::rgba8_unorm, .extent = kExtent});
    const Bytes& texels = drawn.levels[0].texels;
    const auto code = [&](std::size_t x, std::size_t y, std::size_t channel) {
        return std::to_integer<int>(texels[(y * kExtent.width + x) * 4 + channel]);
    };
    int lowest = 255, highest = 0, differing = 0;
    for (std::size_t y = 0; y + 1 < kExtent.height; ++y) {
        for (std::size_t x = 0; x + 1 < kExtent.width; ++x) {
            for (std::size_t channel = 0; channel < 4; ++channel) {
                const int value = code(x, y, channel);
                ASSERT_LE(std::abs(code(x + 1, y, channel) - value), 2) << x << ", " << y;
                ASSERT_LE(std::abs(code(x, y + 1, channel) - value), 2) << x << ", " << y;
                lowest = std::min(lowest, value);
                highest = std::max(highest, value);
                differing += value != code(x, y, 0);
            }
        }
    }
    EXPECT_LT(lowest, 60);
    EXPECT_GT(highest, 195);
    EXPECT_GT(differing, 1000000);
}

TEST(PatternTest, ImagesOfAPatternCanBeReadInPartsAndHaveASeed) {
    const ImageFile image = pattern_image("smooth:90000x80000:3", Format::r8_unorm);
    EXPECT_EQ(image.info().extent, (Extent{90000, 80000}));
    const Region corner{{89990, 79990, 0}, {10, 10, 1}};
    Bytes read(100), expected(100);
    image.read({.region = corner}, read);
    draw_part({.kind = PatternKind::smooth, .seed = 3}, Format::r8_unorm, image.info().extent, corner, expected.data());
    EXPECT_EQ(read, expected);
    pattern_image("smooth:90000x80000:4", Format::r8_unorm).read({.region = corner}, read);
    EXPECT_NE(read, expected);
}

TEST(PatternTest, PatternsThatDoNotFitInMemoryAreRefused) {
    const ArrayInfo array{.format = Format::rgba32_float, .extent = {16384, 16384, 16384}, .kind = ArrayKind::array_3d};
    test::expect_error([&] { (void)draw({}, array); }, ErrorCode::out_of_memory, "texton::verify",
                       {"16384 x 16384 x 16384", "free"});
}

TEST(PatternTest, WrongTextsOfImagesAreRefused) {
    const auto refused = [](const std::string& text, Format format = Format::rgba8_unorm) {
        try {
            (void)pattern_image(text, format);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_THAT(refused("smoth:3x3"), HasSubstr("does not begin with a pattern"));
    for (const char* text : {"smooth", "smooth:", "smooth:3", "smooth:3x", "smooth:3x3x3", "smooth:3x3:", "smooth:-3x3",
                             "smooth:3x3:x", "smooth: 3x3"})
        EXPECT_THAT(refused(text), HasSubstr("has no size")) << text;
    EXPECT_THAT(refused("smooth:0x3"), HasSubstr("0 x 3"));
    EXPECT_THAT(refused("smooth:9999999999x3"), HasSubstr("9999999999 x 3"));
    EXPECT_THAT(refused("noise:64x64", Format::bc1_unorm), HasSubstr("bc1_unorm"));
}

}  // namespace
}  // namespace texton::verify
