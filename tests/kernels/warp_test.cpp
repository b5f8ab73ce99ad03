// Warps: positions that pixels read, the selected levels, and invalid requests.
#include <texton/warp.h>

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sample.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"
#include "tests/support/warps.h"

namespace texton {
namespace {

using test::affine;
using test::by_map;
using test::Bytes;
using test::bytes_of;
using test::Color;
using test::colors_of;
using test::distorted;
using test::download;
using test::expect_error;
using test::kCamera;
using test::kStraight;
using test::perspective;
using test::Point;
using test::polar;
using test::Random;
using test::same_bytes;
using test::undistorted;
using test::Warp;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class WarpTest : public test::WarpFixture {};
INSTANTIATE_TEST_SUITE_P(Devices, WarpTest, test::every_device(), test::device_label);

// --- affine ----------------------------------------------------------------------------------------------------------

constexpr Affine kTurned{.xx = 0.9F, .xy = -0.4F, .x0 = 17, .yx = 0.5F, .yy = 1.1F, .y0 = -3};

TEST_P(WarpTest, AnAffineMapReadsAtItsCoordinates) {
    leads(affine(kTurned), [](double x, double y) { return Point{0.9 * x - 0.4 * y + 17, 0.5 * x + 1.1 * y - 3}; });
}

TEST_P(WarpTest, TheIdentityCopiesTexelsOfEveryFormat) {
    const Extent extent{9, 5};
    for (const Format format :
         {Format::r8_unorm, Format::rgba8_unorm, Format::rgba8_srgb, Format::rgb10a2_unorm, Format::rg16_snorm,
          Format::rgba16_float, Format::r32_float, Format::rgba32_float, Format::rgba8_uint, Format::r16_sint}) {
        SCOPED_TRACE(name(format));
        const Texture texture = noise(format, {.extent = extent});
        const ArrayInfo info{format, extent};
        Random random(3);
        const Bytes texels = test::random_texels(random, format, packed_bytes(info));
        EXPECT_TRUE(
            same_bytes(made([&](const Stream& stream, const View& image) { warp_affine(stream, image, texture, {}); },
                            format, extent),
                       texels));
    }
}

TEST_P(WarpTest, AnAffineMapGivesTheSamePixelsInMemoryAndArrays) {
    const Extent extent{33, 21};
    for (const bool normalized : {false, true}) {
        const Texture texture = noise(Format::rgba8_unorm, {.extent = {31, 17}},
                                      {.filter = Filter::linear, .normalized_coordinates = normalized});
        const Array array(device(), {Format::rgba8_unorm, extent});
        const Stream stream(device());
        warp_affine(stream, array.view(), texture, kTurned);
        stream.synchronize();
        EXPECT_TRUE(
            same_bytes(download(array.view()),
                       made([&](const Stream& s, const View& image) { warp_affine(s, image, texture, kTurned); },
                            Format::rgba8_unorm, extent)));
    }
}

TEST_P(WarpTest, EveryLayerIsWarpedToItsSlice) {
    const ArrayInfo info{.format = Format::r32_float, .extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = 3};
    std::vector<float> texels;
    for (std::size_t i = 0; i < 64 * info.layers; ++i) texels.push_back(static_cast<float>(i));
    const Texture texture(filled(info, bytes_of(texels)));
    // Rotated by 90 degrees: pixel (i, j) reads texel (j, 7 - i).
    const Affine turned{.xx = 0, .xy = 1, .x0 = 0, .yx = -1, .yy = 0, .y0 = 8};
    const Perspective same{{{0, 1, 0}, {-1, 0, 8}, {0, 0, 1}}};
    std::vector<float> expected;
    for (std::size_t i = 0; i < texels.size(); ++i)
        expected.push_back(texels[i / 64 * 64 + (7 - i % 8) * 8 + i / 8 % 8]);
    const auto by = [&](const std::function<void(const Stream&, const View&)>& enqueue) {
        return made(enqueue, Format::r32_float, {8, 8, 3});
    };
    EXPECT_TRUE(same_bytes(by([&](const Stream& s, const View& image) { warp_affine(s, image, texture, turned); }),
                           bytes_of(expected)));
    EXPECT_TRUE(same_bytes(by([&](const Stream& s, const View& image) { warp_perspective(s, image, texture, same); }),
                           bytes_of(expected)));
}

TEST_P(WarpTest, AnImageOfOneTexelIsWarpedToOnePixel) {
    const Texture texture(filled({Format::r32_float, {1, 1}}, bytes_of(std::vector<float>{5})));
    for (const Warp& warp : {affine({}), Warp([](auto&stream, auto&image, auto&texture, auto&options) {
                                 warp_polar(stream, image, texture, {}, options);
                             })})
        EXPECT_EQ(warped(warp, texture, {1, 1})[0], (Color{5, 0, 0, 0}));
}

TEST_P(WarpTest, AnAffineMapSelectsItsLevelByScale) {
    for (const float scale : {1.0F, 2.0F, 3.0F, 4.0F, 100.0F}) {
        const double level = std::min(6.0, std::log2(double{scale}));
        for (const Minification minification : {Minification::mip, Minification::anisotropic}) {
            for (const Color& pixel :
                 warped(affine({.xx = scale, .yy = 0.5F}), levels(), {3, 3}, {.minification = minification}))
                ASSERT_NEAR(pixel[0], level, minification == Minification::mip ? 0.01 : 0.1);
        }
    }
}

TEST_P(WarpTest, AnisotropicFetchesAreSharperThanMipFetches) {
    const Warp stretched = affine({.xx = 8, .yy = 1});
    EXPECT_NEAR(warped(stretched, levels(16), {3, 3}, {.minification = Minification::mip})[4][0], 3, 0.01);
    EXPECT_LT(warped(stretched, levels(16), {3, 3}, {.minification = Minification::anisotropic})[4][0], 0.5);
}

// --- perspective -----------------------------------------------------------------------------------------------------

constexpr Perspective kTilted{{{1.1F, 0.2F, 3}, {-0.1F, 1.4F, 5}, {0.01F, -0.03F, 0.503F}}};

std::optional<Point> tilted(double x, double y) {
    const double w = 0.01 * x - 0.03 * y + 0.503;
    if (w <= 0) return std::nullopt;
    return Point{(1.1 * x + 0.2 * y + 3) / w, (-0.1 * x + 1.4 * y + 5) / w};
}

TEST_P(WarpTest, APerspectiveMapGivesTheBorderColorBehindItsHorizon) {
    leads(perspective(kTilted), tilted, 0.001, 100);
    const std::vector<Color> pixels = warped(perspective(kTilted), positions(), kImage, {.border = {1, 2, 3, 4}});
    EXPECT_EQ(pixels[28 * kImage.width], (Color{1, 2, 3, 4}));
    EXPECT_NE(pixels[0], (Color{1, 2, 3, 4}));
}

TEST_P(WarpTest, APerspectiveMapSelectsCoarserLevelsTowardItsHorizon) {
    picks_levels(perspective(kTilted), [](double x, double y) {
        const double w = 0.01 * x - 0.03 * y + 0.503;
        return w < 0.001 ? std::nullopt : tilted(x, y);
    });
}

// --- map given by an image -------------------------------------------------------------------------------------------

TEST_P(WarpTest, AMapOfTheDestinationSizeIsFollowedExactly) {
    Random random(5);
    std::vector<std::array<float, 2>> texels;
    std::vector<FetchPoint> points;
    for (std::size_t i = 0; i < kImage.width * kImage.height; ++i) {
        texels.push_back({random.unit() * 80 - 8, random.unit() * 60 - 8});
        points.push_back({.x = texels.back()[0], .y = texels.back()[1]});
    }
    const Texture map(filled({Format::rg32_float, kImage}, bytes_of(texels)));
    const Texture texture = noise(Format::rgba8_unorm, {.extent = kSize}, {.filter = Filter::linear});
    std::vector<Texel> expected = sample(texture, points).texels;
    const Bytes pixels = made([&](const Stream& stream, const View& image) { warp_map(stream, image, texture, map); },
                              Format::rgba32_float, kImage);
    EXPECT_TRUE(same_bytes(pixels, bytes_of(expected)));
    for (std::size_t i = 0; i < texels.size(); ++i) {  // the same positions as offsets, rounded
        texels[i][0] -= static_cast<float>(i % kImage.width) + 0.5F;
        texels[i][1] -= static_cast<float>(i / kImage.width) + 0.5F;
        points[i].x = static_cast<float>(i % kImage.width) + 0.5F + texels[i][0];
        points[i].y = static_cast<float>(i / kImage.width) + 0.5F + texels[i][1];
    }
    const Texture offsets(filled({Format::rg32_float, kImage}, bytes_of(texels)));
    expected = sample(texture, points).texels;
    EXPECT_TRUE(
        same_bytes(made([&](const Stream& stream,
                            const View& image) { warp_map(stream, image, texture, offsets, MapCoordinates::offset); },
                        Format::rgba32_float, kImage),
                   bytes_of(expected)));
}

TEST_P(WarpTest, ACoarseMapIsInterpolatedToTheDestination) {
    // Texels of the map are 8 pixels wide; between their centers the map is linear.
    std::vector<std::array<float, 2>> texels;
    for (int j = 0; j < 5; ++j) {
        for (int i = 0; i < 6; ++i) texels.push_back({static_cast<float>(10 * i + j), static_cast<float>(9 * j)});
    }
    const Texture map(filled({Format::rg32_float, {6, 5}}, bytes_of(texels)),
                      {.filter = Filter::linear, .normalized_coordinates = true});
    const std::vector<Color> pixels = warped(by_map(map), positions(), {48, 40});
    for (std::size_t j = 4; j < 36; ++j) {
        for (std::size_t i = 4; i < 44; ++i) {
            const double x = (static_cast<double>(i) + 0.5) / 8 - 0.5;
            const double y = (static_cast<double>(j) + 0.5) / 8 - 0.5;
            // Errors: weights of 1/256 in the map, whose texels differ by 11, and then in the image.
            const double position_x = 10 * x + y;
            const double position_y = 9 * y;
            if (position_x >= 1 && position_x <= 63 && position_y >= 1 && position_y <= 47) {
                ASSERT_NEAR(pixels[j * 48 + i][0], position_x, 12.0 / 256);
                ASSERT_NEAR(pixels[j * 48 + i][1], position_y, 11.0 / 256);
            }
        }
    }
}

TEST_P(WarpTest, PixelsWithANanInTheMapGetTheBorderColor) {
    const std::vector<std::array<float, 2>> texels{{1, 1}, {kNan, 1}, {1, kNan}, {2, 2}};
    const Texture map(filled({Format::rg32_float, {4, 1}}, bytes_of(texels)));
    constexpr Color kBorder{1, 2, 3, 4};
    for (const MapCoordinates kind : {MapCoordinates::absolute, MapCoordinates::offset}) {
        const std::vector<Color> pixels = warped(by_map(map, kind), positions(), {4, 1}, {.border = kBorder});
        EXPECT_EQ(pixels[0][2], 7);
        EXPECT_EQ(pixels[1], kBorder);
        EXPECT_EQ(pixels[2], kBorder);
        EXPECT_EQ(pixels[3][2], 7);
    }
}

TEST_P(WarpTest, AMapSelectsLevelsByNeighboringPixels) {
    // Positions are 4 apart, then 2. The last pixel has no position.
    const std::vector<std::array<float, 2>> texels{{0, 1}, {4, 1}, {8, 1}, {10, 1}, {12, 1}, {kNan, kNan}};
    const Texture map(filled({Format::rg32_float, {6, 1}}, bytes_of(texels)));
    const double expected[] = {2, 2, std::log2(3), 1, 1};
    for (const Minification minification : {Minification::mip, Minification::anisotropic}) {
        const std::vector<Color> pixels =
            warped(by_map(map), levels(), {6, 1}, {.minification = minification, .border = {9, 9, 9, 9}});
        for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(pixels[i][0], expected[i], 0.1) << i;
        EXPECT_EQ(pixels[5][0], 9);
    }
}

TEST_P(WarpTest, LayersUseOneSharedMapOrTheirOwnMaps) {
    const ArrayInfo info{.format = Format::r32_float, .extent = {4, 1}, .kind = ArrayKind::layered_2d, .layers = 2};
    const Texture texture(filled(info, bytes_of(std::vector<float>{0, 1, 2, 3, 10, 11, 12, 13})));
    ArrayInfo layered = info;
    layered.format = Format::rg32_float;
    const auto texels_of = [](std::initializer_list<float> positions) {
        std::vector<std::array<float, 2>> texels;
        for (const float x : positions) texels.push_back({x + 0.5F, 0.5F});
        return bytes_of(texels);
    };
    const Texture one(filled({Format::rg32_float, {4, 1}}, texels_of({3, 2, 1, 0})));
    const Texture each(filled(layered, texels_of({3, 2, 1, 0, 1, 1, 3, 3})));
    const auto by = [&](const Texture& map) {
        return made([&](const Stream& stream, const View& image) { warp_map(stream, image, texture, map); },
                    Format::r32_float, {4, 1, 2});
    };
    EXPECT_TRUE(same_bytes(by(one), bytes_of(std::vector<float>{3, 2, 1, 0, 13, 12, 11, 10})));
    EXPECT_TRUE(same_bytes(by(each), bytes_of(std::vector<float>{3, 2, 1, 0, 11, 11, 13, 13})));
}

// --- by name ---------------------------------------------------------------------------------------------------------

TEST_P(WarpTest, NamedKernelsMatchTheFunctions) {
    struct Named {
        std::string name;
        std::map<std::string, ParameterValue> values;
        Warp same;
    };
    using Row = std::vector<double>;
    const std::vector<Named> all{
        {"warp_affine", {{"map", Row{1, 0.5, 2, -0.25, 1, 3}}}, affine({1, 0.5F, 2, -0.25F, 1, 3})},
        {"warp_perspective",
         {{"map", Row{1, 0, 2, 0, 1, 3, 0.125, -0.0625, 1}}, {"border", Row{1, 2, 3, 4}}},
         [](auto& stream, auto& image, auto& texture, auto&) {
             warp_perspective(stream, image, texture, {{{1, 0, 2}, {0, 1, 3}, {0.125F, -0.0625F, 1}}},
                              {.border = {1, 2, 3, 4}});
         }},
        {"undistort",
         {{"camera", Row{30, 28, 31, 25}}, {"k", Row{0.5, 0.25, 0.125, 0}}, {"p", Row{0.25, 0.5}}},
         undistorted({kCamera, BrownConrady{0.5F, 0.25F, 0.125F, 0.25F, 0.5F}})},
        {"distort",
         {{"model", std::string("fisheye")},
          {"camera", Row{22, 23, 18, 15}},
          {"straight", Row{30, 28, 31, 25}},
          {"k", Row{0.5, 0.25, 0.125, 0.0625}}},
         distorted({kStraight, Fisheye{0.5F, 0.25F, 0.125F, 0.0625F}, kCamera})},
        {"distort", {}, distorted({.camera = {.fx = 64, .fy = 64, .cx = 32, .cy = 24}})},
        {"warp_polar",
         {{"direction", std::string("from_polar")}, {"logarithmic", true}, {"circle", Row{20, 30, 2, 40}}},
         polar({PolarDirection::from_polar, true, 20, 30, 2, 40})},
    };
    const Texture texture = positions();
    for (const Named& named : all) {
        SCOPED_TRACE(named.name);
        const Kernel& kernel = kernel_named(named.name);
        const Arguments arguments(kernel.info, named.values);
        const ImageShape shape = shapes(kernel, arguments, {&texture, 1}).at(0);
        EXPECT_EQ(shape.extent, texture.extent());
        EXPECT_EQ(shape.format, Format::rgba32_float);
        const auto enqueue_named = [&](const Stream& stream, const View& image) {
            enqueue(kernel, stream, {&image, 1}, arguments, {&texture, 1});
        };
        EXPECT_EQ(colors_of(made(enqueue_named, shape.format, shape.extent)),
                  warped(named.same, texture, shape.extent));
    }
}

TEST_P(WarpTest, TheNamedMapKernelProposesTheSizeOfTheMap) {
    const Texture map(filled({Format::rg32_float, {2, 1}}, bytes_of(std::vector<float>{3.5F, 2.5F, 8.5F, 9.5F})));
    const std::vector<Texture> inputs{positions(), map};
    const Kernel& kernel = kernel_named("warp_map");
    const Arguments arguments(kernel.info);
    EXPECT_EQ(shapes(kernel, arguments, inputs).at(0).extent, (Extent{2, 1}));
    const std::vector<Color> pixels = colors_of(made(
        [&](const Stream& stream, const View& image) {
            enqueue(kernel, stream, {&image, 1}, arguments, inputs);
        },
        Format::rgba32_float, {2, 1}));
    EXPECT_EQ(pixels, (std::vector<Color>{{3.5F, 2.5F, 7, 1}, {8.5F, 9.5F, 7, 1}}));
}

// --- invalid requests ------------------------------------------------------------------------------------------------

class WarpRefusalTest : public WarpTest {
protected:
    void refused(const Warp& warp, const char* object, std::initializer_list<std::string_view> fragments,
                 const WarpOptions& options = {}, test::Caller where = test::Caller::here()) const {
        const Stream stream(device());
        const Linear memory(device(), 64);
        const Texture texture = noise(Format::rgba8_unorm, {.extent = {4, 4}});
        expect_error(
            [&] {
                warp(stream, memory.view(Format::rgba8_unorm, {4, 4}), texture, options);
            },
            ErrorCode::bad_argument, object, fragments, where);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, WarpRefusalTest, test::every_device(), test::device_label);

TEST_P(WarpRefusalTest, NonFiniteNumbersAreRefusedAndNamed) {
    refused(affine({.xy = kInfinity}), "texton::warp_affine", {"xy of the map", "inf"});
    refused(affine({.y0 = kNan}), "texton::warp_affine", {"y0 of the map", "nan"});
    refused(perspective({{{1, 0, 0}, {0, 1, 0}, {0, -kInfinity, 1}}}), "texton::warp_perspective",
            {"map[2][1]", "-inf"});
    refused(undistorted({kCamera, BrownConrady{.k3 = kNan}}), "texton::undistort", {"k3"});
    refused(distorted({kCamera, Fisheye{.k4 = kInfinity}}), "texton::distort", {"k4"});
    refused(polar({.center_y = kNan, .outer = 1}), "texton::warp_polar", {"center_y"});
}

TEST_P(WarpRefusalTest, NumbersOutOfRangeAreRefusedAndNamed) {
    refused(undistorted({{.fx = 0}, BrownConrady{}}), "texton::undistort", {"fx of a camera is 0"});
    refused(distorted({kCamera, Fisheye{}, Camera{.fy = -2}}), "texton::distort", {"fy of a camera is -2"});
    refused(polar({.outer = -3}), "texton::warp_polar", {"outer is -3"});
    refused(polar({.inner = -1, .outer = 3}), "texton::warp_polar", {"inner is -1"});
    refused(polar({.inner = 3, .outer = 3}), "texton::warp_polar", {"inner is 3", "outer is 3"});
    refused(polar({.logarithmic = true, .outer = 0.5F}), "texton::warp_polar", {"inner is 1", "outer is 0.5"});
}

TEST_P(WarpRefusalTest, MinificationNeedsMipLevels) {
    for (const Minification minification : {Minification::mip, Minification::anisotropic})
        refused(affine({}), "texton::warp_affine", {"texture", "1 level"}, {.minification = minification});
}

TEST_P(WarpRefusalTest, UnsupportedMapsAreRefusedAndNamed) {
    refused(by_map(noise(Format::r32_float, {.extent = {4, 4}})), "texton::warp_map", {"map", "one channel"});
    refused(by_map(noise(Format::rg16_sint, {.extent = {4, 4}})), "texton::warp_map", {"map", "rg16_sint"});
    refused(by_map(noise(Format::rg32_float, {.extent = {4, 4}, .kind = ArrayKind::layered_2d, .layers = 3})),
            "texton::warp_map", {"map", "3 layers", "1"});
    refused(by_map(noise(Format::rg32_float, {.extent = {4, 4, 2}, .kind = ArrayKind::array_3d})), "texton::warp_map",
            {"map", "array_3d"});
}

TEST_P(WarpRefusalTest, UnsupportedTexturesAndDestinationsAreRefusedAndNamed) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const Texture volume = noise(Format::r8_unorm, {.extent = {4, 4, 4}, .kind = ArrayKind::array_3d});
    const Texture flat = noise(Format::r8_unorm, {.extent = {4, 4}});
    const std::vector<std::pair<const char*, Warp>> all{
        {"texton::warp_affine", affine({})},
        {"texton::warp_perspective", perspective({{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}})},
        {"texton::warp_map", by_map(noise(Format::rg32_float, {.extent = {4, 4}}))},
        {"texton::undistort", undistorted({})},
        {"texton::distort", distorted({})},
        {"texton::warp_polar", polar({})}};
    for (const auto& [object, warp] : all) {
        expect_error(
            [&] {
                warp(stream, memory.view(Format::r8_unorm, {4, 4}), volume, {});
            },
            ErrorCode::bad_argument, object, {"array_3d"});
        expect_error(
            [&] {
                warp(stream, memory.view(Format::r8_unorm, {4, 4, 2}), flat, {});
            },
            ErrorCode::bad_argument, object, {"2 slices"});
    }
}

TEST_P(WarpRefusalTest, ADestinationInTheSourceMemoryIsRefusedByTheWarp) {
    const Stream stream(device());
    const Pitched2D memory(device(), Format::rgba8_unorm, {8, 8});
    const Texture texture(memory.view());
    expect_error([&] { warp_affine(stream, memory.view(), texture, {}); }, ErrorCode::overlap, "texton::warp_affine");
    expect_error([&] { undistort(stream, memory.view(), texture, {}); }, ErrorCode::overlap, "texton::undistort");
}

// --- comparison of devices -------------------------------------------------------------------------------------------

TEST(WarpParityTest, AllDevicesGiveTheSameImage) {
    test::expect_same_on_all_devices("affine", affine(kTurned));
    test::expect_same_on_all_devices("perspective", perspective(kTilted));
}

}  // namespace
}  // namespace texton
