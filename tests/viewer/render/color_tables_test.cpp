// Color conversions by tables on every device, compared with those of OpenColorIO's processor.
#include <cstdlib>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/support/on_every_device.h"
#include "viewer/render/color_tables.h"
#include "viewer/render/render.h"

namespace texton::viewer {
namespace {

int greatest_difference(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
    int out = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (int shift = 0; shift < 32; shift += 8)
            out =
                std::max(out, std::abs(static_cast<int>(a[i] >> shift & 255) - static_cast<int>(b[i] >> shift & 255)));
    return out;
}

// Random colors from below black to above white, more of them dark, and the edges of the table's range.
Values random_values(int width, int height) {
    Values out;
    out.part = {0, 0, width, height};
    out.meaning = {.channels = 4, .light = true};
    std::mt19937 random(7);
    std::uniform_real_distribution<float> stops(-8, 4), share(0, 1);
    while (out.values.size() < static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {
        const float size = std::exp2(stops(random));
        Color color{size * share(random), size * share(random), size * share(random), 1};
        if (share(random) < 0.05f) color[0] = -color[0];
        out.values.push_back(color);
    }
    out.values[0] = {ColorTables::kMinLevel, ColorTables::kMaxLevel, 0, 1};
    out.values[1] = {ColorTables::kMaxLevel, ColorTables::kMaxLevel, ColorTables::kMaxLevel, 1};
    out.seen.assign(out.values.size(), 1);
    return out;
}

class ColorTablesTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        if (!has_color_management()) GTEST_SKIP() << "built without OpenColorIO";
        unsetenv("OCIO");
        OnEveryDevice::SetUp();
    }

    std::vector<std::uint32_t> exact(const Values& values, const Display& display) const {
        std::vector<std::uint32_t> out(values.values.size());
        show_values(values, display, out);
        return out;
    }
    std::vector<std::uint32_t> by_tables(const Values& values, const Display& display) const {
        ColorTableCache cache;
        const TableUse tables{device(), cache};
        std::vector<std::uint32_t> out(values.values.size());
        show_values(values, display, out, &tables);
        return out;
    }
};

TEST_P(ColorTablesTest, PixelsDifferByAtMostTwoCodes) {
    const Values values = random_values(256, 300);
    for (const char* input : {"ACEScg", "sRGB"}) {
        for (const char* view : {"Standard", "ACES SDR Video"}) {
            const Display display{.color = {.input = input, .view = view}};
            EXPECT_LE(greatest_difference(exact(values, display), by_tables(values, display)), 2)
                << input << ", " << view;
        }
    }
}

TEST_P(ColorTablesTest, ErrorIsWithinTheDocumentedBounds) {
    const auto error = [this](const ColorConversion& color) {
        return ColorTables(device(), color_transform(color)).error();
    };
    EXPECT_LE(error({.input = "ACEScg"}), 0.2f);
    EXPECT_LE(error({.input = "ACEScg", .view = "ACES SDR Video"}), 1.5f);
    EXPECT_LE(error({.input = "sRGB"}), 0.5f);
}

TEST_P(ColorTablesTest, ConversionThatTablesCannotFollowHasNone) {
    // This display has no negative values: the results have an edge within the cells.
    const auto transform = color_transform({.input = "ACEScg", .display = "Rec.709 (BT.1886)"});
    ColorTableCache cache;
    EXPECT_EQ(cache.tables(device(), transform), nullptr);
    const Values values = random_values(256, 4);
    const Display display{.color = {.input = "ACEScg", .display = "Rec.709 (BT.1886)"}};
    EXPECT_EQ(by_tables(values, display), exact(values, display));
}

TEST_P(ColorTablesTest, TheErrorOfTheLastTablesIsKnownWhetherOrNotTheyAreUsed) {
    ColorTableCache cache;
    EXPECT_EQ(cache.last_error(), std::nullopt);
    for (const char* shown : {"sRGB", "Rec.709 (BT.1886)"}) {
        const auto transform = color_transform({.input = "ACEScg", .display = shown});
        const bool is_used = cache.tables(device(), transform) != nullptr;
        ASSERT_TRUE(cache.last_error().has_value());
        EXPECT_EQ(cache.last_error()->transform, transform);
        EXPECT_EQ(cache.last_error()->error, ColorTables(device(), transform).error());
        EXPECT_EQ(cache.last_error()->is_used(), is_used);
    }
}

TEST_P(ColorTablesTest, ColorsOutsideOfTheTableAreExact) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<Color> outside{{-0.5f, 0.2f, 0.3f, 1},   {0.01f, 17, 0.5f, 1}, {kInfinity, 0.1f, 0.1f, 1},
                                     {0.1f, kNan, 0.1f, 1},    {100, 0.1f, 0.1f, 1}, {0.1f, 0.1f, -1e9f, 1},
                                     {0.1f, -kInfinity, 2, 1}, {1e9f, 1e9f, 1e9f, 1}};
    Values values = random_values(256, 4);
    for (std::size_t i = 0; i < values.values.size(); ++i) values.values[i] = outside[i % outside.size()];
    const Display display{.mark_nan = false, .color = {.input = "ACEScg"}};
    EXPECT_EQ(by_tables(values, display), exact(values, display));
}

TEST_P(ColorTablesTest, AlphaMarksGammaAndExposureAreThoseOfExactColors) {
    Values values = random_values(64, 64);
    values.meaning.alpha = true;
    for (std::size_t i = 0; i < values.values.size(); ++i) values.values[i][3] = static_cast<float>(i % 7) / 6;
    values.values[5][1] = std::numeric_limits<float>::quiet_NaN();
    const Display display{
        .exposure = -1, .gamma = 1.2f, .zebra = true, .color = {.input = "ACEScg", .display = "Display P3"}};
    const auto shown = by_tables(values, display);
    EXPECT_EQ(shown[5], kNanMark);
    EXPECT_LE(greatest_difference(exact(values, display), shown), 1);
}

TEST_P(ColorTablesTest, ValuesWithoutColorConversionAreShownExactly) {
    const Values values = random_values(64, 64);
    for (const Display& display : {Display{}, Display{.luminance = true, .color = {.input = "ACEScg"}}})
        EXPECT_EQ(by_tables(values, display), exact(values, display));
}

TEST_P(ColorTablesTest, CacheKeepsTheTablesOfOneConversion) {
    ColorTableCache cache;
    const auto first = color_transform({.input = "ACEScg"}), second = color_transform({.input = "sRGB"});
    const auto tables = cache.tables(device(), first);
    EXPECT_EQ(cache.tables(device(), first), tables);
    EXPECT_NE(cache.tables(device(), second), tables);
}

INSTANTIATE_TEST_SUITE_P(Devices, ColorTablesTest, test::every_device(), test::device_label);

}  // namespace
}  // namespace texton::viewer
