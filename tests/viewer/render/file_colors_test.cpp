// ICC profiles of files as the input of color management.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <texton/error.h>
#include <texton/image_save.h>

#include "tests/support/icc_profile.h"
#include "tests/support/image_folder.h"
#include "viewer/model/document.h"
#include "viewer/render/color_transform.h"
#include "viewer/render/icc_profile.h"

namespace texton::viewer {
namespace {

using test::icc_profile;

FileColors colors_of(const std::vector<std::uint8_t>& profile, bool decoded = false) {
    return {std::make_shared<const IccProfile>(profile), decoded};
}

std::string refusal(const ColorConversion& color, const FileColors& colors) {
    try {
        (void)color_transform(color, colors);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

class FileColorsTest : public testing::Test {
protected:
    void SetUp() override {
        if (!has_color_management()) GTEST_SKIP() << "built without OpenColorIO";
        unsetenv("OCIO");
    }
    // Expects that two transforms convert all colors of a grid to the same code values, to one code, because a profile
    // has rounded colorants.
    static void expect_same(const ColorTransform& one, const ColorTransform& other) {
        for (int i = 0; i < 9 * 9 * 9; ++i) {
            const Color begin{static_cast<float>(i % 9) / 8, static_cast<float>(i / 9 % 9) / 8,
                              static_cast<float>(i / 81) / 8, 0.5f};
            Color a = begin, b = begin;
            one.apply({&a, 1});
            other.apply({&b, 1});
            for (std::size_t c = 0; c < 4; ++c) EXPECT_NEAR(a[c], b[c], 1.0 / 255) << i << ", channel " << c;
        }
    }
};

TEST_F(FileColorsTest, ProfilesOfKnownSpacesEqualTheColorSpacesOfTheConfig) {
    for (const char* display : {"sRGB", "Display P3"}) {
        for (const char* view : {"Standard", "ACES SDR Video", "Raw"}) {
            const ColorConversion of_file{.input = kFileProfile, .display = display, .view = view};
            const auto known = [&](const char* input) {
                return color_transform({.input = input, .display = display, .view = view});
            };
            expect_same(*color_transform(of_file, colors_of(icc_profile(test::kSrgbColorants, test::kSrgbCurve))),
                        *known("sRGB"));
            expect_same(*color_transform(of_file, colors_of(icc_profile(test::kSrgbColorants, {1}))),
                        *known("Linear Rec.709"));
        }
    }
}

TEST_F(FileColorsTest, ColorsOfDisplayP3AreWiderThanSrgb) {
    const auto transform =
        color_transform({.input = kFileProfile}, colors_of(icc_profile(test::kDisplayP3Colorants, test::kSrgbCurve)));
    Color gray{0.5f, 0.5f, 0.5f, 1}, red{1, 0, 0, 1};
    transform->apply({&gray, 1});
    transform->apply({&red, 1});
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(gray[c], 0.5f, 0.5 / 255);
    // The red primary of Display P3 in sRGB: (1.2249, -0.0421, -0.0196) in light.
    EXPECT_NEAR(red[0], 1.055 * std::pow(1.2249, 1 / 2.4) - 0.055, 0.003);
    EXPECT_LT(red[1], 0);
    EXPECT_LT(red[2], 0);
}

TEST_F(FileColorsTest, TheProfileAppliesToTheCodesOfTexelsThatWereDecoded) {
    const auto profile = icc_profile(test::kDisplayP3Colorants, {2.2});
    const auto coded = color_transform({.input = kFileProfile}, colors_of(profile));
    const auto decoded = color_transform({.input = kFileProfile}, colors_of(profile, true));
    for (const double code : {0.02, 0.2, 0.5, 0.9}) {
        const double light = code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
        const auto value = static_cast<float>(code), linear = static_cast<float>(light);
        Color a{value, value / 2, value, 1}, b{linear, 0, linear, 1};
        a[1] = 0;
        coded->apply({&a, 1});
        decoded->apply({&b, 1});
        for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(a[c], b[c], 0.5 / 255) << code;
    }
}

TEST_F(FileColorsTest, CurvesOfEveryTypeAreRead) {
    const auto curve = [](const std::vector<double>& parameters) {
        std::string problem;
        RgbProfile profile = rgb_profile(icc_profile(test::kSrgbColorants, parameters), problem);
        EXPECT_EQ(problem, "");
        return profile.curves[1];
    };
    const auto at = [](const std::vector<float>& values, double x) {
        return values[static_cast<std::size_t>(std::lround(x * static_cast<double>(values.size() - 1)))];
    };
    EXPECT_NEAR(at(curve({2.2}), 0.5), std::pow(0.5, 2.2), 1e-3);
    EXPECT_NEAR(at(curve({2, 0.5, 0.5}), 0.5), 0.5625, 1e-3);
    EXPECT_NEAR(at(curve({2, 0.5, 0.25, 0.125}), 0.5), 0.25 + 0.125, 1e-3);
    EXPECT_NEAR(at(curve(test::kSrgbCurve), 0.02), 0.02 / 12.92, 1e-4);
    EXPECT_NEAR(at(curve({2, 1, 0, 0.5, 0.5, 0.0625, 0.125}), 0.25), 0.25, 1e-3);
    EXPECT_NEAR(at(curve({2, 1, 0, 0.5, 0.5, 0.0625, 0.125}), 1), 1.0625, 1e-3);

    auto sampled = icc_profile(test::kSrgbColorants, {2.2, 0, 0, 0, 0, 0, 0});
    const auto para = std::search(sampled.begin(), sampled.end(), std::begin("para"), std::begin("para") + 4);
    ASSERT_NE(para, sampled.end());
    // The three curves share this data: three values, the middle one is 0x4000 of 0xffff.
    const std::uint8_t entries[] = {'c', 'u', 'r', 'v', 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0x40, 0, 0xff, 0xff};
    for (std::size_t i = 0; i < 3; ++i)
        std::copy(std::begin(entries), std::end(entries), para + static_cast<std::ptrdiff_t>(i * 40));
    std::string problem;
    const RgbProfile profile = rgb_profile(sampled, problem);
    EXPECT_EQ(problem, "");
    EXPECT_NEAR(at(profile.curves[2], 0.25), 0.125, 1e-3);
    EXPECT_NEAR(at(profile.curves[2], 1), 1, 1e-6);
}

TEST_F(FileColorsTest, ProfilesThatAreNotSupportedAreNamed) {
    const ColorConversion color{.input = kFileProfile};
    const auto good = icc_profile(test::kSrgbColorants, test::kSrgbCurve);
    EXPECT_THAT(refusal(color, {}), testing::HasSubstr("has no ICC profile"));
    EXPECT_THAT(refusal(color, colors_of(icc_profile(test::kSrgbColorants, {1}, "CMYK"))),
                testing::HasSubstr("has the color space CMYK"));
    EXPECT_THAT(refusal(color, colors_of(icc_profile(test::kSrgbColorants, {1}, "\1\2\3\4"))),
                testing::HasSubstr("unknown color space"));
    auto tables = good;
    tables[128 + 4 + 3 * 12] = 'A';  // of 'rTRC'
    EXPECT_THAT(refusal(color, colors_of(tables)), testing::HasSubstr("has no matrix and curves"));
    for (const std::size_t size : {std::size_t{20}, std::size_t{100}})
        EXPECT_THAT(refusal(color, colors_of({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)})),
                    testing::HasSubstr("is damaged"))
            << size;
    auto outside = good;
    outside[128 + 4 + 4] = 0x7f;  // the first tag begins behind the end
    EXPECT_THAT(refusal(color, colors_of(outside)), testing::HasSubstr("has no matrix and curves"));
    EXPECT_EQ(color_problem(color, colors_of(good)), "");
}

TEST_F(FileColorsTest, TheProfileOfAnImageIsThatOfItsFile) {
    const test::ImageFolder folder;
    const auto profile = icc_profile(test::kDisplayP3Colorants, test::kSrgbCurve);
    const std::vector<std::byte> texels(8 * 8 * 4, std::byte{200});
    for (const char* name : {"a.png", "a.tif"}) {
        save(folder.at(name), host_view(texels.data(), Format::rgba8_srgb, {8, 8}),
             {.attributes = {{"ICCProfile", test::attribute_text(profile), fmt::format("uint8[{}]", profile.size())}}});
        const auto document = Document::open({.paths = {folder.at(name)}}, Device::cpu());
        const FileColors colors = file_colors(*document);
        ASSERT_NE(colors.profile, nullptr) << name;
        EXPECT_EQ(*colors.profile, profile) << name;
        EXPECT_EQ(colors.decoded, document->info().format == Format::rgba8_srgb) << name;
        EXPECT_EQ(file_colors(*document).profile, colors.profile) << "it is converted once";
    }
    save(folder.at("b.png"), host_view(texels.data(), Format::rgba8_srgb, {8, 8}));
    EXPECT_EQ(file_colors(*Document::open({.paths = {folder.at("b.png")}}, Device::cpu())).profile, nullptr);
}

}  // namespace
}  // namespace texton::viewer
