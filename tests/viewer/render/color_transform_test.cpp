// Color management and the display of high dynamic range: known colors, refusals, and what does not change.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <texton/error.h>

#include "viewer/render/color_transform.h"
#include "viewer/render/display.h"

namespace texton::viewer {
namespace {

constexpr Meaning kLinear{.channels = 4, .light = true};
constexpr Meaning kEncoded{.channels = 4};

std::uint32_t pixel(const Display& display, const Meaning& meaning, const Color& value, int x = 0, int y = 0) {
    std::uint32_t out = 0;
    Screen(display, meaning).show({&value, 1}, x, y, {&out, 1});
    return out;
}

Display with_color(ColorConversion color) {
    Display display;
    display.color = std::move(color);
    return display;
}

int greatest_difference(std::uint32_t a, std::uint32_t b) {
    int out = 0;
    for (int shift = 0; shift < 32; shift += 8)
        out = std::max(out, std::abs(static_cast<int>(a >> shift & 255) - static_cast<int>(b >> shift & 255)));
    return out;
}

// Returns the message with which a conversion is refused.
std::string refusal(const ColorConversion& color) {
    try {
        (void)color_transform(color);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

// Texton's own config, whatever $OCIO is.
class ColorTransformTest : public testing::Test {
protected:
    void SetUp() override {
        if (!has_color_management()) GTEST_SKIP() << "built without OpenColorIO";
        unsetenv("OCIO");
    }
};

TEST_F(ColorTransformTest, OwnConfigHasTheDocumentedNames) {
    const ColorNames names = color_names({});
    EXPECT_THAT(names.inputs, testing::IsSupersetOf({"Linear Rec.709", "sRGB", "ACEScg", "ACES2065-1",
                                                     "Linear Rec.2020", "Display P3", "Raw"}));
    EXPECT_THAT(names.displays, testing::ElementsAre("sRGB", "Rec.709 (BT.1886)", "Display P3"));
    EXPECT_THAT(names.views, testing::ElementsAre("Standard", "ACES SDR Video", "Raw"));
    for (const std::string& input : names.inputs) {
        for (const std::string& display : names.displays) {
            for (const std::string& view : names.views)
                EXPECT_NE(color_transform({.input = input, .display = display, .view = view}), nullptr)
                    << input << ", " << display << ", " << view;
        }
    }
}

TEST_F(ColorTransformTest, SrgbCodesStayTheSameToOneCode) {
    for (int code = 0; code < 256; ++code) {
        const float value = static_cast<float>(code) / 255;
        const Color color{value, 1 - value, value * value, 1};
        for (const Meaning& meaning : {kEncoded, kLinear}) {
            const char* input = meaning.light ? "Linear Rec.709" : "sRGB";
            EXPECT_LE(
                greatest_difference(pixel(with_color({.input = input}), meaning, color), pixel({}, meaning, color)), 1)
                << input << ", code " << code;
        }
    }
}

TEST_F(ColorTransformTest, PrimariesOfAcescgHaveTheirPublishedRec709Values) {
    // Columns of the matrix from ACEScg to linear Rec.709 (Bradford adaptation) that the ACES project publishes.
    constexpr std::array<std::array<double, 3>, 3> kColumns{
        {{1.70505, -0.13026, -0.02400}, {-0.62179, 1.14080, -0.12897}, {-0.08326, -0.01055, 1.15297}}};
    const auto transform = color_transform({.input = "ACEScg"});
    for (std::size_t primary = 0; primary < 3; ++primary) {
        // With gray added, no result is negative.
        Color color{0.4f, 0.4f, 0.4f, 1};
        color[primary] += 0.25f;
        transform->apply({&color, 1});
        for (std::size_t i = 0; i < 3; ++i) {
            const double light = std::pow((color[i] + 0.055) / 1.055, 2.4);
            EXPECT_NEAR(light, 0.4 + 0.25 * kColumns[primary][i], 2e-5) << "primary " << primary << ", channel " << i;
        }
        EXPECT_EQ(color[3], 1);
    }
}

TEST_F(ColorTransformTest, RawViewShowsTheValues) {
    EXPECT_EQ(pixel(with_color({.input = "ACEScg", .view = "Raw"}), kLinear, {0.2f, 0.4f, 0.6f, 1}), 0xff336699u);
}

TEST_F(ColorTransformTest, AcesOutputCompressesHighlights) {
    const Display display = with_color({.input = "ACEScg", .view = "ACES SDR Video"});
    EXPECT_EQ(pixel(display, kLinear, {0, 0, 0, 1}), 0xff000000u);
    const std::uint32_t one = pixel(display, kLinear, {1, 1, 1, 1}), four = pixel(display, kLinear, {4, 4, 4, 1});
    EXPECT_LT(one & 255, four & 255);
    EXPECT_LE(four & 255, 255u);
    EXPECT_LT(one & 255, 240u);
}

TEST_F(ColorTransformTest, GammaAndExposureApplyToConvertedColors) {
    Display display = with_color({.input = "Linear Rec.709"});
    display.exposure = -1;
    EXPECT_LE(greatest_difference(pixel(display, kLinear, {1, 1, 1, 1}), 0xffbcbcbcu), 1);
    display = with_color({.input = "sRGB"});
    display.gamma = 2;
    EXPECT_LE(greatest_difference(pixel(display, kEncoded, {0.25f, 0.25f, 0.25f, 1}), 0xff808080u), 1);
}

TEST_F(ColorTransformTest, GrayFalseColorsAndDifferencesAreNotConverted) {
    const Color color{0.3f, 0.5f, 0.7f, 1};
    const auto expect_unchanged = [&](const std::function<void(Display&)>& edit, const Meaning& meaning) {
        Display plain, managed = with_color({.input = "ACEScg", .view = "ACES SDR Video"});
        edit(plain), edit(managed);
        EXPECT_EQ(pixel(managed, meaning, color), pixel(plain, meaning, color));
    };
    expect_unchanged([](Display& display) { display.luminance = true; }, kLinear);
    expect_unchanged([](Display& display) { display.false_color = FalseColor::viridis; }, kLinear);
    expect_unchanged([](Display& display) { display.channels = {false, true, false, false}; }, kLinear);
    expect_unchanged([](Display&) {}, {.kind = ValueKind::difference});
    expect_unchanged([](Display&) {}, {.channels = 1, .light = true});
}

TEST_F(ColorTransformTest, NanAndInfinityAreMarkedOrShownInRange) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    Display display = with_color({.input = "ACEScg", .view = "ACES SDR Video"});
    EXPECT_EQ(pixel(display, kLinear, {nan, 0, 0, 1}), kNanMark);
    EXPECT_EQ(pixel(display, kLinear, {0, infinity, 0, 1}), kInfinityMark);
    display.mark_nan = false;
    for (const float value : {nan, infinity, -infinity, 3e38f, -3e38f})
        EXPECT_EQ(pixel(display, kLinear, {value, value, value, 1}) >> 24, 255u);
}

TEST_F(ColorTransformTest, UnknownNamesAreRefusedWithTheKnownOnes) {
    EXPECT_THAT(refusal({.input = "none"}), testing::HasSubstr("no color space 'none'"));
    EXPECT_THAT(refusal({.input = "none"}), testing::HasSubstr("ACES2065-1"));
    EXPECT_THAT(refusal({.input = "sRGB", .display = "none"}), testing::HasSubstr("no display 'none'"));
    EXPECT_THAT(refusal({.input = "sRGB", .view = "none"}), testing::HasSubstr("no view 'none'"));
    EXPECT_EQ(color_transform({.view = "none"}), nullptr) << "no input means no color management";
}

TEST_F(ColorTransformTest, BrokenConfigsAreRefusedAndTheImageIsShownWithoutThem) {
    const std::filesystem::path folder = testing::TempDir(), broken = folder / "broken.ocio";
    std::ofstream(broken) << "ocio_profile_version: 2\ncolorspaces: 7\n";
    for (const std::string& path : {broken.string(), (folder / "missing.ocio").string(), folder.string()}) {
        const ColorConversion color{.config = path, .input = "sRGB"};
        EXPECT_THAT(refusal(color), testing::HasSubstr(path));
        EXPECT_THAT(refusal(color), testing::HasSubstr("cannot be used"));
        EXPECT_THAT(color_problem({.config = path}), testing::HasSubstr(path)) << "also without an input";
        EXPECT_EQ(pixel(with_color(color), kLinear, {0.5f, 0.25f, 1, 1}), pixel({}, kLinear, {0.5f, 0.25f, 1, 1}));
    }
    std::filesystem::remove(broken);
}

TEST_F(ColorTransformTest, EnvironmentVariableNamesTheConfigUnlessOneIsChosen) {
    const std::filesystem::path own = std::filesystem::path(testing::TempDir()) / "own.ocio";
    std::ofstream(own) << kOwnColorConfig;
    setenv("OCIO", "/does/not/exist.ocio", 1);
    const std::string refused = refusal({.input = "ACEScg"});
    const auto chosen = color_transform({.config = own.string(), .input = "ACEScg"});
    unsetenv("OCIO");
    EXPECT_THAT(refused, testing::HasSubstr("/does/not/exist.ocio"));
    EXPECT_NE(chosen, nullptr);
    std::filesystem::remove(own);
}

TEST(ColorRefusalTest, BuildWithoutOpenColorIoNamesTheRemedy) {
    if (has_color_management()) GTEST_SKIP() << "built with OpenColorIO";
    EXPECT_THAT(refusal({.input = "sRGB"}), testing::HasSubstr("TEXTON_COLOR=ON"));
    EXPECT_EQ(pixel(with_color({.input = "sRGB"}), kLinear, {0.5f, 0.5f, 0.5f, 1}),
              pixel({}, kLinear, {0.5f, 0.5f, 0.5f, 1}));
}

TEST(ToneCurveTest, CurvesFollowTheirFormulas) {
    Display display;
    const auto code = [&](float value) { return pixel(display, kEncoded, {value, value, value, 1}) & 255; };
    display.tone_curve = ToneCurve::reinhard;
    EXPECT_EQ(code(0), 0u);
    EXPECT_EQ(code(1), 128u);
    EXPECT_EQ(code(3), 191u);
    display.tone_curve = ToneCurve::filmic;
    EXPECT_EQ(code(0), 0u);
    EXPECT_EQ(code(1), 205u);     // 2.54 / 3.16
    EXPECT_EQ(code(0.5f), 157u);  // 0.6425 / 1.0425
    EXPECT_EQ(code(100), 255u);
    for (const ToneCurve curve : {ToneCurve::reinhard, ToneCurve::filmic}) {
        display.tone_curve = curve;
        display.mark_nan = false;
        EXPECT_EQ(code(std::numeric_limits<float>::infinity()), 255u);
        EXPECT_EQ(code(std::numeric_limits<float>::quiet_NaN()), 0u);
        EXPECT_EQ(code(-1), 0u);
        std::uint32_t before = 0;
        for (float value = 0; value < 20; value += 0.01f) {
            EXPECT_GE(code(value), before);
            before = code(value);
        }
    }
}

TEST(ToneCurveTest, FalseColorsAndDifferencesAreNotCompressed) {
    Display curved, plain;
    curved.tone_curve = ToneCurve::reinhard;
    const Color value{0.5f, 0.5f, 0.5f, 1};
    EXPECT_EQ(pixel(curved, {.kind = ValueKind::difference}, value),
              pixel(plain, {.kind = ValueKind::difference}, value));
    curved.false_color = plain.false_color = FalseColor::turbo;
    EXPECT_EQ(pixel(curved, kLinear, value), pixel(plain, kLinear, value));
}

TEST(ZebraTest, HalfOfThePixelsOutOfRangeAreStripedAndOthersUnchanged) {
    Display display;
    display.zebra = true;
    int above = 0, below = 0, rising = 0;
    for (int y = -8; y < 8; ++y) {
        for (int x = -8; x < 8; ++x) {
            const std::uint32_t high = pixel(display, kLinear, {2, 0.5f, 0.5f, 1}, x, y);
            const std::uint32_t low = pixel(display, kLinear, {0.5f, -1, 0.5f, 1}, x, y);
            EXPECT_THAT(high, testing::AnyOf(kAboveMark, pixel({}, kLinear, {2, 0.5f, 0.5f, 1})));
            EXPECT_THAT(low, testing::AnyOf(kBelowMark, pixel({}, kLinear, {0.5f, -1, 0.5f, 1})));
            above += high == kAboveMark, below += low == kBelowMark;
            rising += high == pixel(display, kLinear, {2, 0.5f, 0.5f, 1}, x + 1, y - 1);
            EXPECT_EQ(pixel(display, kLinear, {1, 0, 0.5f, 1}, x, y), pixel({}, kLinear, {1, 0, 0.5f, 1}));
        }
    }
    EXPECT_EQ(above, 128);
    EXPECT_EQ(below, 128);
    EXPECT_EQ(rising, 256) << "pixels on the diagonal up to the right are equal";
    display.mark_range = true;
    for (int x = 0; x < 8; ++x) EXPECT_EQ(pixel(display, kLinear, {2, 0, 0, 1}, x, 0), kAboveMark);
}

}  // namespace
}  // namespace texton::viewer
