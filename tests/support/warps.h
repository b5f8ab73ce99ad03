#pragma once
// Support for tests of warps: a function for each warp, textures whose texels encode their position or level, and
// lenses.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/linear.h>
#include <texton/sample.h>
#include <texton/warp.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton::test {

using Warp = std::function<void(const Stream&, const View&, const Texture&, const WarpOptions&)>;

inline Warp affine(const Affine& map) {
    return [map](const Stream& stream, const View& image, const Texture& texture, const WarpOptions& options) {
        warp_affine(stream, image, texture, map, options);
    };
}

inline Warp perspective(const Perspective& map) {
    return [map](const Stream& stream, const View& image, const Texture& texture, const WarpOptions& options) {
        warp_perspective(stream, image, texture, map, options);
    };
}

inline Warp by_map(const Texture& map, MapCoordinates positions = MapCoordinates::absolute) {
    return [map, positions](const Stream& stream, const View& image, const Texture& texture,
                            const WarpOptions& options) { warp_map(stream, image, texture, map, positions, options); };
}

inline Warp undistorted(const Lens& lens) {
    return [lens](const Stream& stream, const View& image, const Texture& texture, const WarpOptions& options) {
        undistort(stream, image, texture, lens, options);
    };
}

inline Warp distorted(const Lens& lens) {
    return [lens](const Stream& stream, const View& image, const Texture& texture, const WarpOptions& options) {
        distort(stream, image, texture, lens, options);
    };
}

inline Warp polar(const Polar& map) {
    return [map](const Stream& stream, const View& image, const Texture& texture, const WarpOptions& options) {
        warp_polar(stream, image, texture, map, options);
    };
}

inline const Camera kCamera{.fx = 30, .fy = 28, .cx = 31, .cy = 25};
inline const Camera kStraight{.fx = 22, .fy = 23, .cx = 18, .cy = 15};
inline const BrownConrady kBrown{.k1 = -0.12F, .k2 = 0.03F, .k3 = -0.004F, .p1 = 0.01F, .p2 = -0.02F};
inline const Fisheye kFisheye{.k1 = 0.05F, .k2 = -0.01F, .k3 = 0.004F, .k4 = -0.0007F};

inline constexpr double kPi = 3.14159265358979323846;

using Color = std::array<float, 4>;

template <class Value>
Bytes bytes_of(const std::vector<Value>& values) {
    Bytes bytes(values.size() * sizeof(Value));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

inline std::vector<Color> colors_of(const Bytes& bytes) {
    std::vector<Color> colors(bytes.size() / sizeof(Color));
    std::memcpy(colors.data(), bytes.data(), bytes.size());
    return colors;
}

/// Position that a pixel must read, in double precision; no value if the pixel has no position in the texture.
struct Point {
    double x;
    double y;
};
using Reference = std::function<std::optional<Point>(double x, double y)>;

/// Returns a fetch at the position of a pixel, with gradients computed from differences of close positions.
inline FetchPoint with_gradients(const Reference& reference, double x, double y, double side) {
    constexpr double kStep = 1e-5;
    const auto change = [&](double dx, double dy, float(&to)[3]) {
        const Point before = reference(x - dx, y - dy).value();
        const Point after = reference(x + dx, y + dy).value();
        to[0] = static_cast<float>((after.x - before.x) / (2 * kStep * side));
        to[1] = static_cast<float>((after.y - before.y) / (2 * kStep * side));
    };
    const Point position = reference(x, y).value();
    FetchPoint point{.x = static_cast<float>(position.x / side), .y = static_cast<float>(position.y / side)};
    change(kStep, 0, point.dx);
    change(0, kStep, point.dy);
    return point;
}

class WarpFixture : public OnEveryDevice {
protected:
    static constexpr Extent kSize{64, 48};   // extent of most textures
    static constexpr Extent kImage{37, 29};  // extent of the destination images

    Array filled(const ArrayInfo& info, std::span<const std::byte> texels) const {
        Array array(device(), info);
        upload(array.view(), texels);
        return array;
    }
    /// Creates a texture whose value between the texel centers is the position itself, in steps of 1/256.
    Texture positions(bool normalized = false) const {
        std::vector<Color> texels;
        for (std::size_t j = 0; j < kSize.height; ++j) {
            for (std::size_t i = 0; i < kSize.width; ++i)
                texels.push_back({static_cast<float>(i) + 0.5F, static_cast<float>(j) + 0.5F, 7, 1});
        }
        return Texture(filled({Format::rgba32_float, kSize}, bytes_of(texels)),
                       {.filter = Filter::linear, .normalized_coordinates = normalized});
    }
    /// Creates a texture whose value is the level of detail, from 0 to 6.
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
        return Texture(filled(info, random_texels(random, format, packed_bytes(info))), sampler);
    }

    /// Returns the packed pixels of an image that `enqueue` writes.
    Bytes made(const std::function<void(const Stream&, const View&)>& enqueue, Format format, Extent extent) const {
        const Linear memory(device(), format, extent);
        const Stream stream(device());
        enqueue(stream, memory.view(format, extent));
        stream.synchronize();
        return download(memory.view(format, extent));
    }
    std::vector<Color> warped(const Warp& warp, const Texture& texture, Extent extent,
                              const WarpOptions& options = {}) const {
        return colors_of(made([&](const Stream& stream, const View& image) { warp(stream, image, texture, options); },
                              Format::rgba32_float, extent));
    }

    /// Checks that every pixel whose position lies inside the texture reads there, and that pixels without a position
    /// get the border.
    void leads(const Warp& warp, const Reference& reference, double error = 0.001, std::size_t minimum = 300) const {
        constexpr Color kBorder{-9, 8, 7, 6};
        for (const bool normalized : {false, true}) {
            const std::vector<Color> pixels = warped(warp, positions(normalized), kImage, {.border = kBorder});
            std::size_t inside = 0;
            for (std::size_t i = 0; i < pixels.size(); ++i) {
                const double x = static_cast<double>(i % kImage.width) + 0.5;
                const double y = static_cast<double>(i / kImage.width) + 0.5;
                SCOPED_TRACE("pixel " + std::to_string(x) + ", " + std::to_string(y));
                const std::optional<Point> position = reference(x, y);
                if (!position) {
                    ASSERT_EQ(pixels[i], kBorder);
                    continue;
                }
                ASSERT_EQ(pixels[i][2], 7);
                if (position->x < 0.5 || position->x > 63.5 || position->y < 0.5 || position->y > 47.5) continue;
                ++inside;
                ASSERT_NEAR(pixels[i][0], position->x, error + 1.0 / 256);
                ASSERT_NEAR(pixels[i][1], position->y, error + 1.0 / 256);
            }
            EXPECT_GE(inside, minimum);
        }
    }
    /// Checks the level that each pixel reads: with Minification::mip the level that the spacing of positions requires,
    /// with Minification::anisotropic the result of a fetch with the same gradients.
    void picks_levels(const Warp& warp, const Reference& reference) const {
        const Texture texture = levels();
        std::vector<std::size_t> looked_at;
        std::vector<FetchPoint> points;
        for (std::size_t i = 0; i < kImage.width * kImage.height; ++i) {
            const double x = static_cast<double>(i % kImage.width) + 0.5;
            const double y = static_cast<double>(i / kImage.width) + 0.5;
            if (!reference(x, y)) continue;
            looked_at.push_back(i);
            points.push_back(with_gradients(reference, x, y, 64));
        }
        const std::vector<Color> mip = warped(warp, texture, kImage, {.minification = Minification::mip});
        const std::vector<Color> by_gradients =
            warped(warp, texture, kImage, {.minification = Minification::anisotropic});
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

/// Warps a noise texture with levels on every device, with every minification, and compares the results.
inline void expect_same_on_all_devices(const std::string& label, const Warp& warp) {
    const std::vector<Device> devices = one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    constexpr Extent kExtent{67, 41};
    const ArrayInfo info{.format = Format::rgba16_float, .extent = {64, 48}, .levels = 7};
    for (const Minification minification : {Minification::none, Minification::mip, Minification::anisotropic}) {
        SCOPED_TRACE(label + ", " + std::to_string(static_cast<int>(minification)));
        std::vector<Bytes> images;
        for (const Device& device : devices) {
            const Array array(device, info);
            Random random(8);
            for (int level = 0; level < info.levels; ++level) {
                const View view = array.view({.level = level});
                const std::size_t bytes = packed_bytes({info.format, level_extent(info, level)});
                upload(view, random_texels(random, info.format, bytes));
            }
            const Texture texture(array, {.address = {AddressMode::mirror, AddressMode::wrap},
                                          .filter = Filter::linear,
                                          .mip_filter = Filter::linear,
                                          .normalized_coordinates = true,
                                          .max_anisotropy = 8});
            const Linear memory(device, Format::rgba32_float, kExtent);
            const View image = memory.view(Format::rgba32_float, kExtent);
            const Stream stream(device);
            warp(stream, image, texture, {.minification = minification, .border = {1, 2, 3, 4}});
            stream.synchronize();
            images.push_back(download(image));
        }
        EXPECT_TRUE(same_bytes(images[1], images[0]));
    }
}

}  // namespace texton::test
