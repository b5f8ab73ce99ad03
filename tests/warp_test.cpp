// Warps: where pixels read, how levels follow from it, and what is refused.
#include <texton/warp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
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

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::expect_error;
using test::Random;
using test::same_bytes;
using test::upload;

constexpr double kPi = 3.14159265358979323846;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Color = std::array<float, 4>;

template <class Value>
Bytes bytes_of(const std::vector<Value>& values) {
    Bytes bytes(values.size() * sizeof(Value));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::vector<Color> colors_of(const Bytes& bytes) {
    std::vector<Color> colors(bytes.size() / sizeof(Color));
    std::memcpy(colors.data(), bytes.data(), bytes.size());
    return colors;
}

/// Where a pixel must read, in double precision; nothing where it has no place.
struct Point {
    double x;
    double y;
};
using Reference = std::function<std::optional<Point>(double x, double y)>;

/// A fetch with the place and how it changes from pixel to pixel, by differences of places close by.
FetchPoint with_gradients(const Reference& reference, double x, double y, double side) {
    constexpr double kStep = 1e-5;
    const auto change = [&](double dx, double dy, float(&to)[3]) {
        const Point before = reference(x - dx, y - dy).value();
        const Point after = reference(x + dx, y + dy).value();
        to[0] = static_cast<float>((after.x - before.x) / (2 * kStep * side));
        to[1] = static_cast<float>((after.y - before.y) / (2 * kStep * side));
    };
    const Point place = reference(x, y).value();
    FetchPoint point{.x = static_cast<float>(place.x / side), .y = static_cast<float>(place.y / side)};
    change(kStep, 0, point.dx);
    change(0, kStep, point.dy);
    return point;
}

using Warp = std::function<void(const Stream&, const View&, const Texture&, const WarpOptions&)>;

class WarpTest : public test::OnEveryDevice {
protected:
    static constexpr Extent kSize{64, 48};     // of most textures
    static constexpr Extent kPicture{37, 29};  // and pictures

    Array filled(const ArrayInfo& info, std::span<const std::byte> texels) const {
        Array array(device(), info);
        upload(array.view(), texels);
        return array;
    }
    /// Reads as the place itself where it lies between the middles of texels, in steps of 1/256.
    Texture places(bool normalized = false) const {
        std::vector<Color> texels;
        for (std::size_t j = 0; j < kSize.height; ++j) {
            for (std::size_t i = 0; i < kSize.width; ++i)
                texels.push_back({static_cast<float>(i) + 0.5F, static_cast<float>(j) + 0.5F, 7, 1});
        }
        return Texture(filled({Format::rgba32_float, kSize}, bytes_of(texels)),
                       {.filter = Filter::linear, .normalized_coordinates = normalized});
    }
    /// Reads as the level of detail, from 0 to 6.
    Texture levels(std::uint8_t max_anisotropy = 1) const {
        const ArrayInfo info{.format = Format::r32_float, .extent = {64, 64}, .levels = 7};
        const Array array(device(), info);
        for (int level = 0; level < info.levels; ++level) {
            const Extent extent = level_extent(info, level);
            upload(array.view({.level = level}),
                   bytes_of(std::vector<float>(extent.width * extent.height, static_cast<float>(level))));
        }
        return Texture(array, {.filter = Filter::linear,
                               .mip_filter = Filter::linear,
                               .normalized_coordinates = true,
                               .trilinear_optimization = false,
                               .max_anisotropy = max_anisotropy});
    }
    Texture noise(Format format, const ArrayInfo& shape, const Sampler& sampler = {}) const {
        ArrayInfo info = shape;
        info.format = format;
        Random random(3);
        return Texture(filled(info, test::random_texels(random, format, packed_bytes(info))), sampler);
    }

    /// The pixels, packed.
    Bytes made(const std::function<void(const Stream&, const View&)>& enqueue, Format format, Extent extent) const {
        const Linear memory(device(), format, extent);
        const Stream stream(device());
        enqueue(stream, memory.view(format, extent));
        stream.synchronize();
        return download(memory.view(format, extent));
    }
    std::vector<Color> warped(const Warp& warp, const Texture& texture, Extent extent,
                              const WarpOptions& options = {}) const {
        return colors_of(
            made([&](const Stream& stream, const View& picture) { warp(stream, picture, texture, options); },
                 Format::rgba32_float, extent));
    }

    /// Every pixel whose place lies within the texture reads there, and those without a place are the border.
    void leads(const Warp& warp, const Reference& reference, double error = 0.001, std::size_t least = 300) const {
        constexpr Color kBorder{-9, 8, 7, 6};
        for (const bool normalized : {false, true}) {
            const std::vector<Color> pixels = warped(warp, places(normalized), kPicture, {.border = kBorder});
            std::size_t inside = 0;
            for (std::size_t i = 0; i < pixels.size(); ++i) {
                const double x = static_cast<double>(i % kPicture.width) + 0.5;
                const double y = static_cast<double>(i / kPicture.width) + 0.5;
                SCOPED_TRACE("pixel " + std::to_string(x) + ", " + std::to_string(y));
                const std::optional<Point> place = reference(x, y);
                if (!place) {
                    ASSERT_EQ(pixels[i], kBorder);
                    continue;
                }
                ASSERT_EQ(pixels[i][2], 7);
                if (place->x < 0.5 || place->x > 63.5 || place->y < 0.5 || place->y > 47.5) continue;
                ++inside;
                ASSERT_NEAR(pixels[i][0], place->x, error + 1.0 / 256);
                ASSERT_NEAR(pixels[i][1], place->y, error + 1.0 / 256);
            }
            EXPECT_GE(inside, least);
        }
    }
    /// With levels each pixel reads the one that the distance of places asks for, and what its gradients ask for.
    void picks_levels(const Warp& warp, const Reference& reference) const {
        const Texture texture = levels();
        std::vector<std::size_t> looked_at;
        std::vector<FetchPoint> points;
        for (std::size_t i = 0; i < kPicture.width * kPicture.height; ++i) {
            const double x = static_cast<double>(i % kPicture.width) + 0.5;
            const double y = static_cast<double>(i / kPicture.width) + 0.5;
            if (!reference(x, y)) continue;
            looked_at.push_back(i);
            points.push_back(with_gradients(reference, x, y, 64));
        }
        const std::vector<Color> mip = warped(warp, texture, kPicture, {.minification = Minification::mip});
        const std::vector<Color> by_gradients =
            warped(warp, texture, kPicture, {.minification = Minification::anisotropic});
        const std::vector<Texel> fetched = sample(texture, points, {.operation = FetchOperation::gradients}).texels;
        std::size_t between = 0;
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto length = [](const float(&change)[3]) { return std::hypot(64.0 * change[0], 64.0 * change[1]); };
            const double level = std::log2(std::max(length(points[i].dx), length(points[i].dy)));
            if (level > 0.1 && level < 5.9) ++between;
            SCOPED_TRACE("pixel " + std::to_string(looked_at[i]));
            ASSERT_NEAR(mip[looked_at[i]][0], std::clamp(level, 0.0, 6.0), 0.01);
            ASSERT_NEAR(by_gradients[looked_at[i]][0], fetched[i].as_float(0), 0.01);
        }
        EXPECT_GE(between, 300U);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, WarpTest, test::every_device(), test::device_label);

// --- affine ----------------------------------------------------------------------------------------------------------

Warp affine(const Affine& map) {
    return [map](const Stream& stream, const View& picture, const Texture& texture, const WarpOptions& options) {
        warp_affine(stream, picture, texture, map, options);
    };
}

constexpr Affine kTurned{.xx = 0.9F, .xy = -0.4F, .x0 = 17, .yx = 0.5F, .yy = 1.1F, .y0 = -3};

TEST_P(WarpTest, AnAffineMapLeadsToItsPlaces) {
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
        EXPECT_TRUE(same_bytes(
            made([&](const Stream& stream, const View& picture) { warp_affine(stream, picture, texture, {}); }, format,
                 extent),
            texels));
    }
}

TEST_P(WarpTest, AnAffineMapMakesTheSamePixelsInMemoryAndInArrays) {
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
                       made([&](const Stream& s, const View& picture) { warp_affine(s, picture, texture, kTurned); },
                            Format::rgba8_unorm, extent)));
    }
}

TEST_P(WarpTest, EveryLayerIsWarpedToItsSlice) {
    const ArrayInfo info{.format = Format::r32_float, .extent = {8, 8}, .kind = ArrayKind::layered_2d, .layers = 3};
    std::vector<float> texels;
    for (std::size_t i = 0; i < 64 * info.layers; ++i) texels.push_back(static_cast<float>(i));
    const Texture texture(filled(info, bytes_of(texels)));
    // Turned by a quarter: pixel (i, j) reads texel (j, 7 - i).
    const Affine turned{.xx = 0, .xy = 1, .x0 = 0, .yx = -1, .yy = 0, .y0 = 8};
    const Perspective same{{{0, 1, 0}, {-1, 0, 8}, {0, 0, 1}}};
    std::vector<float> expected;
    for (std::size_t i = 0; i < texels.size(); ++i)
        expected.push_back(texels[i / 64 * 64 + (7 - i % 8) * 8 + i / 8 % 8]);
    const auto by = [&](const std::function<void(const Stream&, const View&)>& enqueue) {
        return made(enqueue, Format::r32_float, {8, 8, 3});
    };
    EXPECT_TRUE(same_bytes(by([&](const Stream& s, const View& picture) { warp_affine(s, picture, texture, turned); }),
                           bytes_of(expected)));
    EXPECT_TRUE(
        same_bytes(by([&](const Stream& s, const View& picture) { warp_perspective(s, picture, texture, same); }),
                   bytes_of(expected)));
}

TEST_P(WarpTest, OnePixelAndOneTexelAreEnough) {
    const Texture texture(filled({Format::r32_float, {1, 1}}, bytes_of(std::vector<float>{5})));
    for (const Warp& warp : {affine({}), Warp([](auto&stream, auto&picture, auto&texture, auto&options) {
                                 warp_polar(stream, picture, texture, {}, options);
                             })})
        EXPECT_EQ(warped(warp, texture, {1, 1})[0], (Color{5, 0, 0, 0}));
}

TEST_P(WarpTest, AnAffineMapPicksItsLevel) {
    for (const float scale : {1.0F, 2.0F, 3.0F, 4.0F, 100.0F}) {
        const double level = std::min(6.0, std::log2(double{scale}));
        for (const Minification minification : {Minification::mip, Minification::anisotropic}) {
            for (const Color& pixel :
                 warped(affine({.xx = scale, .yy = 0.5F}), levels(), {3, 3}, {.minification = minification}))
                ASSERT_NEAR(pixel[0], level, minification == Minification::mip ? 0.01 : 0.1);
        }
    }
}

TEST_P(WarpTest, AnisotropicFetchesStaySharpWhereMipDoesNot) {
    const Warp stretched = affine({.xx = 8, .yy = 1});
    EXPECT_NEAR(warped(stretched, levels(16), {3, 3}, {.minification = Minification::mip})[4][0], 3, 0.01);
    EXPECT_LT(warped(stretched, levels(16), {3, 3}, {.minification = Minification::anisotropic})[4][0], 0.5);
}

// --- perspective -----------------------------------------------------------------------------------------------------

constexpr Perspective kTilted{{{1.1F, 0.2F, 3}, {-0.1F, 1.4F, 5}, {0.01F, -0.03F, 0.503F}}};

Warp perspective(const Perspective& map) {
    return [map](const Stream& stream, const View& picture, const Texture& texture, const WarpOptions& options) {
        warp_perspective(stream, picture, texture, map, options);
    };
}

std::optional<Point> tilted(double x, double y) {
    const double w = 0.01 * x - 0.03 * y + 0.503;
    if (w <= 0) return std::nullopt;
    return Point{(1.1 * x + 0.2 * y + 3) / w, (-0.1 * x + 1.4 * y + 5) / w};
}

TEST_P(WarpTest, APerspectiveMapLeadsToItsPlacesAndTheBorderLiesBehindItsHorizon) {
    leads(perspective(kTilted), tilted, 0.001, 100);
    const std::vector<Color> pixels = warped(perspective(kTilted), places(), kPicture, {.border = {1, 2, 3, 4}});
    EXPECT_EQ(pixels[28 * kPicture.width], (Color{1, 2, 3, 4}));
    EXPECT_NE(pixels[0], (Color{1, 2, 3, 4}));
}

TEST_P(WarpTest, APerspectiveMapPicksLevelsThatGrowTowardItsHorizon) {
    picks_levels(perspective(kTilted), [](double x, double y) {
        const double w = 0.01 * x - 0.03 * y + 0.503;
        return w < 0.001 ? std::nullopt : tilted(x, y);
    });
}

// --- by an image -----------------------------------------------------------------------------------------------------

Warp by_map(const Texture& map, MapPlaces places = MapPlaces::absolute) {
    return [map, places](const Stream& stream, const View& picture, const Texture& texture,
                         const WarpOptions& options) { warp_map(stream, picture, texture, map, places, options); };
}

TEST_P(WarpTest, AMapOfThePicturesSizeIsFollowedExactly) {
    Random random(5);
    std::vector<std::array<float, 2>> texels;
    std::vector<FetchPoint> points;
    for (std::size_t i = 0; i < kPicture.width * kPicture.height; ++i) {
        texels.push_back({random.unit() * 80 - 8, random.unit() * 60 - 8});
        points.push_back({.x = texels.back()[0], .y = texels.back()[1]});
    }
    const Texture map(filled({Format::rg32_float, kPicture}, bytes_of(texels)));
    const Texture texture = noise(Format::rgba8_unorm, {.extent = kSize}, {.filter = Filter::linear});
    std::vector<Texel> expected = sample(texture, points).texels;
    const Bytes pixels =
        made([&](const Stream& stream, const View& picture) { warp_map(stream, picture, texture, map); },
             Format::rgba32_float, kPicture);
    EXPECT_TRUE(same_bytes(pixels, bytes_of(expected)));
    for (std::size_t i = 0; i < texels.size(); ++i) {  // the same places as offsets, rounded
        texels[i][0] -= static_cast<float>(i % kPicture.width) + 0.5F;
        texels[i][1] -= static_cast<float>(i / kPicture.width) + 0.5F;
        points[i].x = static_cast<float>(i % kPicture.width) + 0.5F + texels[i][0];
        points[i].y = static_cast<float>(i / kPicture.width) + 0.5F + texels[i][1];
    }
    const Texture offsets(filled({Format::rg32_float, kPicture}, bytes_of(texels)));
    expected = sample(texture, points).texels;
    EXPECT_TRUE(
        same_bytes(made([&](const Stream& stream,
                            const View& picture) { warp_map(stream, picture, texture, offsets, MapPlaces::offset); },
                        Format::rgba32_float, kPicture),
                   bytes_of(expected)));
}

TEST_P(WarpTest, ACoarseMapIsStretchedToThePicture) {
    // Texels of the map are 8 pixels wide: between their middles it is the line through them.
    std::vector<std::array<float, 2>> texels;
    for (int j = 0; j < 5; ++j) {
        for (int i = 0; i < 6; ++i) texels.push_back({static_cast<float>(10 * i + j), static_cast<float>(9 * j)});
    }
    const Texture map(filled({Format::rg32_float, {6, 5}}, bytes_of(texels)),
                      {.filter = Filter::linear, .normalized_coordinates = true});
    const std::vector<Color> pixels = warped(by_map(map), places(), {48, 40});
    for (std::size_t j = 4; j < 36; ++j) {
        for (std::size_t i = 4; i < 44; ++i) {
            const double x = (static_cast<double>(i) + 0.5) / 8 - 0.5;
            const double y = (static_cast<double>(j) + 0.5) / 8 - 0.5;
            // Weights of 1/256 in the map, of texels 11 apart, and then in the picture.
            const double place_x = 10 * x + y;
            const double place_y = 9 * y;
            if (place_x >= 1 && place_x <= 63 && place_y >= 1 && place_y <= 47) {
                ASSERT_NEAR(pixels[j * 48 + i][0], place_x, 12.0 / 256);
                ASSERT_NEAR(pixels[j * 48 + i][1], place_y, 11.0 / 256);
            }
        }
    }
}

TEST_P(WarpTest, PixelsWhereTheMapIsNoNumberHaveTheBorder) {
    const std::vector<std::array<float, 2>> texels{{1, 1}, {kNan, 1}, {1, kNan}, {2, 2}};
    const Texture map(filled({Format::rg32_float, {4, 1}}, bytes_of(texels)));
    constexpr Color kBorder{1, 2, 3, 4};
    for (const MapPlaces kind : {MapPlaces::absolute, MapPlaces::offset}) {
        const std::vector<Color> pixels = warped(by_map(map, kind), places(), {4, 1}, {.border = kBorder});
        EXPECT_EQ(pixels[0][2], 7);
        EXPECT_EQ(pixels[1], kBorder);
        EXPECT_EQ(pixels[2], kBorder);
        EXPECT_EQ(pixels[3][2], 7);
    }
}

TEST_P(WarpTest, AMapPicksLevelsByTheNeighboursOfAPixel) {
    // Places 4 apart, then 2; the last pixel has none.
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

TEST_P(WarpTest, LayersHaveOneMapOrEachItsOwn) {
    const ArrayInfo info{.format = Format::r32_float, .extent = {4, 1}, .kind = ArrayKind::layered_2d, .layers = 2};
    const Texture texture(filled(info, bytes_of(std::vector<float>{0, 1, 2, 3, 10, 11, 12, 13})));
    ArrayInfo layered = info;
    layered.format = Format::rg32_float;
    const auto texels_of = [](std::initializer_list<float> places) {
        std::vector<std::array<float, 2>> texels;
        for (const float x : places) texels.push_back({x + 0.5F, 0.5F});
        return bytes_of(texels);
    };
    const Texture one(filled({Format::rg32_float, {4, 1}}, texels_of({3, 2, 1, 0})));
    const Texture each(filled(layered, texels_of({3, 2, 1, 0, 1, 1, 3, 3})));
    const auto by = [&](const Texture& map) {
        return made([&](const Stream& stream, const View& picture) { warp_map(stream, picture, texture, map); },
                    Format::r32_float, {4, 1, 2});
    };
    EXPECT_TRUE(same_bytes(by(one), bytes_of(std::vector<float>{3, 2, 1, 0, 13, 12, 11, 10})));
    EXPECT_TRUE(same_bytes(by(each), bytes_of(std::vector<float>{3, 2, 1, 0, 11, 11, 13, 13})));
}

// --- lenses ----------------------------------------------------------------------------------------------------------

const Camera kCamera{.fx = 30, .fy = 28, .cx = 31, .cy = 25};
const Camera kStraight{.fx = 22, .fy = 23, .cx = 18, .cy = 15};
const BrownConrady kBrown{.k1 = -0.12F, .k2 = 0.03F, .k3 = -0.004F, .p1 = 0.01F, .p2 = -0.02F};
const Fisheye kFisheye{.k1 = 0.05F, .k2 = -0.01F, .k3 = 0.004F, .k4 = -0.0007F};

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

/// The ray that the lens bends to `target`: found by halving the step from ray to ray, not by derivatives.
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

Warp undistorted(const Lens& lens) {
    return [lens](const Stream& stream, const View& picture, const Texture& texture, const WarpOptions& options) {
        undistort(stream, picture, texture, lens, options);
    };
}
Warp distorted(const Lens& lens) {
    return [lens](const Stream& stream, const View& picture, const Texture& texture, const WarpOptions& options) {
        distort(stream, picture, texture, lens, options);
    };
}

template <class Distortion>
Reference undistorted_place(const Distortion& lens) {
    return [lens](double x, double y) { return to_texels(kCamera, bent(lens, to_ray(kStraight, {x, y}))); };
}
/// For pictures that the lens with the camera kStraight makes of straight ones with kCamera.
template <class Distortion>
Reference distorted_place(const Distortion& lens) {
    return [lens](double x, double y) { return to_texels(kCamera, straightened(lens, to_ray(kStraight, {x, y}))); };
}

TEST_P(WarpTest, UndistortingReadsWhereTheLensHasBentTheRay) {
    leads(undistorted({kCamera, kBrown, kStraight}), undistorted_place(kBrown));
    leads(undistorted({kCamera, kFisheye, kStraight}), undistorted_place(kFisheye));
}

TEST_P(WarpTest, DistortingReadsWhereTheRayWasBefore) {
    leads(distorted({kStraight, kBrown, kCamera}), distorted_place(kBrown));
    leads(distorted({kStraight, kFisheye, kCamera}), distorted_place(kFisheye));
}

TEST_P(WarpTest, LensesPickLevelsByTheirDerivatives) {
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

TEST_P(WarpTest, ALensWithoutDistortionIsAPinhole) {
    leads(undistorted({kCamera, BrownConrady{}, kStraight}), undistorted_place(BrownConrady{}));
    leads(distorted({kStraight, BrownConrady{}, kCamera}), distorted_place(BrownConrady{}));
    const Texture texture = noise(Format::r32_float, {.extent = kPicture});
    const Lens same{.camera = {.fx = 32, .fy = 32, .cx = 16, .cy = 16}};
    EXPECT_EQ(warped(undistorted(same), texture, kPicture), warped(affine({}), texture, kPicture));
}

TEST_P(WarpTest, WhatALensDoesNotSeeIsTheBorder) {
    constexpr Color kBorder{1, 2, 3, 4};
    // Equidistant: a focal length of 10 puts 90 degrees at 15.7 pixels from the middle.
    const Camera wide{.fx = 10, .fy = 10, .cx = 20, .cy = 0.5F};
    const std::vector<Color> fisheye =
        warped(distorted({wide, Fisheye{}, kCamera}), places(), {40, 1}, {.border = kBorder});
    for (std::size_t i = 0; i < 40; ++i) {
        const bool seen = std::abs(static_cast<double>(i) + 0.5 - 20) < 5 * kPi;
        EXPECT_EQ(fisheye[i] != kBorder, seen) << i;
    }
    // x - x^3 / 3 turns back at 1, where it is 2/3.
    const BrownConrady barrel{.k1 = -1.0F / 3};
    const std::vector<Color> brown = warped(distorted({wide, barrel, kCamera}), places(), {40, 1}, {.border = kBorder});
    for (std::size_t i = 0; i < 40; ++i) {
        const double bent_x = std::abs(static_cast<double>(i) + 0.5 - 20) / 10;
        EXPECT_EQ(brown[i] != kBorder, bent_x < 2.0 / 3) << i;
    }
}

// --- polar -----------------------------------------------------------------------------------------------------------

Warp polar(const Polar& map) {
    return [map](const Stream& stream, const View& picture, const Texture& texture, const WarpOptions& options) {
        warp_polar(stream, picture, texture, map, options);
    };
}

double radius_at(const Polar& polar, double share) {
    const double inner = polar.inner;
    const double outer = polar.outer;
    return polar.logarithmic ? inner * std::pow(outer / inner, share) : inner + (outer - inner) * share;
}

Reference to_polar_place(const Polar& polar, Extent picture) {
    return [=](double x, double y) {
        const double angle = 2 * kPi * x / static_cast<double>(picture.width);
        const double radius = radius_at(polar, y / static_cast<double>(picture.height));
        return Point{double{polar.middle_x} + radius * std::cos(angle),
                     double{polar.middle_y} + radius * std::sin(angle)};
    };
}

Reference from_polar_place(const Polar& polar, Extent texture) {
    return [=](double x, double y) {
        const double dx = x - double{polar.middle_x};
        const double dy = y - double{polar.middle_y};
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

constexpr Polar kRing{.middle_x = 30.2F, .middle_y = 22.7F, .inner = 3, .outer = 21};
constexpr Polar kSpiral{.logarithmic = true, .middle_x = 30.2F, .middle_y = 22.7F, .inner = 2, .outer = 20};
constexpr Polar kFromRing{
    .direction = PolarDirection::from_polar, .middle_x = 18.3F, .middle_y = 14.2F, .inner = 0, .outer = 20};
constexpr Polar kFromSpiral{.direction = PolarDirection::from_polar,
                            .logarithmic = true,
                            .middle_x = 18.3F,
                            .middle_y = 14.2F,
                            .inner = 1,
                            .outer = 22};

TEST_P(WarpTest, APolarPictureReadsAroundTheMiddle) {
    leads(polar(kRing), to_polar_place(kRing, kPicture));
    leads(polar(kSpiral), to_polar_place(kSpiral, kPicture));
}

TEST_P(WarpTest, APictureIsMadeOfAPolarOne) {
    leads(polar(kFromRing), from_polar_place(kFromRing, kSize));
    leads(polar(kFromSpiral), from_polar_place(kFromSpiral, kSize));
}

TEST_P(WarpTest, PolarWarpsPickLevelsByTheirDerivatives) {
    const auto outside = [](const Reference& reference) {  // the pixel in the middle sees more than one angle
        return
            [=](double x, double y) { return std::hypot(x - 18.3, y - 14.2) < 0.5 ? std::nullopt : reference(x, y); };
    };
    const Polar wide{.middle_x = 32, .middle_y = 32, .inner = 10, .outer = 300};
    const Polar wide_spiral{.logarithmic = true, .middle_x = 32, .middle_y = 32, .inner = 5, .outer = 300};
    picks_levels(polar(wide), to_polar_place(wide, kPicture));
    picks_levels(polar(wide_spiral), to_polar_place(wide_spiral, kPicture));
    picks_levels(polar(kFromRing), outside(from_polar_place(kFromRing, {64, 64})));
    picks_levels(polar(kFromSpiral), outside(from_polar_place(kFromSpiral, {64, 64})));
}

TEST_P(WarpTest, WithoutARadiusAPolarWarpReachesFromTheMiddleToTheNearestEdge) {
    const Polar to{.middle_x = 32, .middle_y = 24, .inner = 0, .outer = 24};
    EXPECT_EQ(warped(polar({}), places(), kPicture), warped(polar(to), places(), kPicture));
    Polar from{.direction = PolarDirection::from_polar, .logarithmic = true};
    const std::vector<Color> pixels = warped(polar(from), places(), kPicture);
    from.middle_x = 18.5F;
    from.middle_y = 14.5F;
    from.inner = 1;
    from.outer = 14.5F;
    EXPECT_EQ(pixels, warped(polar(from), places(), kPicture));
}

TEST_P(WarpTest, TheMiddleHasNoPlaceInALogarithmicPicture) {
    const Polar from{.direction = PolarDirection::from_polar, .logarithmic = true};
    const std::vector<Color> pixels = warped(polar(from), places(), kPicture, {.border = {1, 2, 3, 4}});
    for (std::size_t i = 0; i < pixels.size(); ++i)
        EXPECT_EQ(pixels[i] == (Color{1, 2, 3, 4}), i == 14 * kPicture.width + 18) << i;
}

// --- by name ---------------------------------------------------------------------------------------------------------

TEST_P(WarpTest, WarpsHaveNames) {
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
         [](auto& stream, auto& picture, auto& texture, auto&) {
             warp_perspective(stream, picture, texture, {{{1, 0, 2}, {0, 1, 3}, {0.125F, -0.0625F, 1}}},
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
    const Texture texture = places();
    for (const Named& named : all) {
        SCOPED_TRACE(named.name);
        const Kernel& kernel = kernel_named(named.name);
        const Arguments arguments(kernel.info, named.values);
        const PictureShape shape = shapes(kernel, arguments, {&texture, 1}).at(0);
        EXPECT_EQ(shape.extent, texture.extent());
        EXPECT_EQ(shape.format, Format::rgba32_float);
        const auto enqueue_named = [&](const Stream& stream, const View& picture) {
            enqueue(kernel, stream, {&picture, 1}, arguments, {&texture, 1});
        };
        EXPECT_EQ(colors_of(made(enqueue_named, shape.format, shape.extent)),
                  warped(named.same, texture, shape.extent));
    }
}

TEST_P(WarpTest, TheNamedMapMakesAPictureOfTheMapsSize) {
    const Texture map(filled({Format::rg32_float, {2, 1}}, bytes_of(std::vector<float>{3.5F, 2.5F, 8.5F, 9.5F})));
    const std::vector<Texture> inputs{places(), map};
    const Kernel& kernel = kernel_named("warp_map");
    const Arguments arguments(kernel.info);
    EXPECT_EQ(shapes(kernel, arguments, inputs).at(0).extent, (Extent{2, 1}));
    const std::vector<Color> pixels = colors_of(made(
        [&](const Stream& stream, const View& picture) {
            enqueue(kernel, stream, {&picture, 1}, arguments, inputs);
        },
        Format::rgba32_float, {2, 1}));
    EXPECT_EQ(pixels, (std::vector<Color>{{3.5F, 2.5F, 7, 1}, {8.5F, 9.5F, 7, 1}}));
}

// --- what is refused -------------------------------------------------------------------------------------------------

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

TEST_P(WarpRefusalTest, NumbersThatAreNotFiniteAreNamed) {
    refused(affine({.xy = kInfinity}), "texton::warp_affine", {"xy of the map", "inf"});
    refused(affine({.y0 = kNan}), "texton::warp_affine", {"y0 of the map", "nan"});
    refused(perspective({{{1, 0, 0}, {0, 1, 0}, {0, -kInfinity, 1}}}), "texton::warp_perspective",
            {"map[2][1]", "-inf"});
    refused(undistorted({kCamera, BrownConrady{.k3 = kNan}}), "texton::undistort", {"k3"});
    refused(distorted({kCamera, Fisheye{.k4 = kInfinity}}), "texton::distort", {"k4"});
    refused(polar({.middle_y = kNan, .outer = 1}), "texton::warp_polar", {"middle_y"});
}

TEST_P(WarpRefusalTest, NumbersOutOfTheirRangeAreNamed) {
    refused(undistorted({{.fx = 0}, BrownConrady{}}), "texton::undistort", {"fx of a camera is 0"});
    refused(distorted({kCamera, Fisheye{}, Camera{.fy = -2}}), "texton::distort", {"fy of a camera is -2"});
    refused(polar({.outer = -3}), "texton::warp_polar", {"outer is -3"});
    refused(polar({.inner = -1, .outer = 3}), "texton::warp_polar", {"inner is -1"});
    refused(polar({.inner = 3, .outer = 3}), "texton::warp_polar", {"inner is 3", "outer 3"});
    refused(polar({.logarithmic = true, .outer = 0.5F}), "texton::warp_polar", {"inner is 1", "outer 0.5"});
}

TEST_P(WarpRefusalTest, MinificationNeedsLevels) {
    for (const Minification minification : {Minification::mip, Minification::anisotropic})
        refused(affine({}), "texton::warp_affine", {"texture", "1 level"}, {.minification = minification});
}

TEST_P(WarpRefusalTest, MapsOfOneChannelOfIntegersOrOfOtherLayersAreNamed) {
    refused(by_map(noise(Format::r32_float, {.extent = {4, 4}})), "texton::warp_map", {"map", "one channel"});
    refused(by_map(noise(Format::rg16_sint, {.extent = {4, 4}})), "texton::warp_map", {"map", "rg16_sint"});
    refused(by_map(noise(Format::rg32_float, {.extent = {4, 4}, .kind = ArrayKind::layered_2d, .layers = 3})),
            "texton::warp_map", {"map", "3 layers", "1"});
    refused(by_map(noise(Format::rg32_float, {.extent = {4, 4, 2}, .kind = ArrayKind::array_3d})), "texton::warp_map",
            {"map", "array_3d"});
}

TEST_P(WarpRefusalTest, TexturesOfOtherKindsAndPicturesOfOtherSlicesAreNamed) {
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

TEST_P(WarpRefusalTest, APictureInTheTexturesMemoryIsRefusedInTheWarpsName) {
    const Stream stream(device());
    const Pitched2D memory(device(), Format::rgba8_unorm, {8, 8});
    const Texture texture(memory.view());
    expect_error([&] { warp_affine(stream, memory.view(), texture, {}); }, ErrorCode::overlap, "texton::warp_affine");
    expect_error([&] { undistort(stream, memory.view(), texture, {}); }, ErrorCode::overlap, "texton::undistort");
}

// --- on both devices -------------------------------------------------------------------------------------------------

TEST(WarpParityTest, AllDevicesMakeTheSamePicture) {
    const std::vector<Device> devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    constexpr Extent kExtent{67, 41};
    const std::vector<std::pair<std::string, Warp>> all{
        {"affine", affine(kTurned)},
        {"perspective", perspective(kTilted)},
        {"undistort, Brown", undistorted({kCamera, kBrown, kStraight})},
        {"undistort, fisheye", undistorted({kCamera, kFisheye, kStraight})},
        {"distort, Brown", distorted({kStraight, kBrown, kCamera})},
        {"distort, fisheye", distorted({kStraight, kFisheye, kCamera})},
        {"to polar", polar(kRing)},
        {"to logarithmic", polar(kSpiral)},
        {"from polar", polar(kFromRing)},
        {"from logarithmic", polar(kFromSpiral)}};
    const ArrayInfo info{.format = Format::rgba16_float, .extent = {64, 48}, .levels = 7};
    for (const auto& [label, warp] : all) {
        for (const Minification minification : {Minification::none, Minification::mip, Minification::anisotropic}) {
            SCOPED_TRACE(label + ", " + std::to_string(static_cast<int>(minification)));
            std::vector<Bytes> pictures;
            for (const Device& device : devices) {
                const Array array(device, info);
                Random random(8);
                for (int level = 0; level < info.levels; ++level) {
                    const View view = array.view({.level = level});
                    const std::size_t bytes = packed_bytes({info.format, level_extent(info, level)});
                    upload(view, test::random_texels(random, info.format, bytes));
                }
                const Texture texture(array, {.address = {AddressMode::mirror, AddressMode::wrap},
                                              .filter = Filter::linear,
                                              .mip_filter = Filter::linear,
                                              .normalized_coordinates = true,
                                              .max_anisotropy = 8});
                const Linear memory(device, Format::rgba32_float, kExtent);
                const View picture = memory.view(Format::rgba32_float, kExtent);
                const Stream stream(device);
                warp(stream, picture, texture, {.minification = minification, .border = {1, 2, 3, 4}});
                stream.synchronize();
                pictures.push_back(download(picture));
            }
            EXPECT_TRUE(same_bytes(pictures[1], pictures[0]));
        }
    }
}

}  // namespace
}  // namespace texton
