// Warps on the CPU device return the bits of their functor.
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/linear.h>

#include "kernels/functors/warp_functors.h"
#include "tests/support/arrays.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using detail::WarpPosition;
using detail::WarpSlopes;
using test::Bytes;

constexpr Extent kTexels{45, 31};
constexpr Extent kPixels{300, 5};  // more than one part of a row
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Coordinates inside and outside of the texture, some of which are NaN, infinite or do not exist.
struct Odd {
    TEXTON_HD WarpPosition position(PixelPosition at) const {
        const float x = at.center_x() * 0.37f - 20, y = at.center_y() * 7.3f - at.center_x() * 0.01f;
        if (at.x % 31 == 3) return {kNan, y};
        if (at.x % 37 == 4) return {x, 1e30f};
        return {x, y, at.x % 29 != 5};
    }
    TEXTON_HD WarpSlopes slopes(PixelPosition) const { return {1, 0, 0, 1}; }
};

struct Mapped {
    float x_scale;
    float y_scale;
    bool layered;

    template <class Source>
    TEXTON_HD WarpPosition position(PixelPosition at, const Source& map) const {
        const float x = at.center_x() * x_scale, y = at.center_y() * y_scale;
        const Float4 there = layered ? map.layer_at_texel(at.z, x, y) : map.at_texel(x, y);
        return {there.x * 50 - 3, there.y * 40 - 4, there.x > 0.1f};
    }
    template <class Source>
    TEXTON_HD WarpSlopes slopes(PixelPosition, const Source&) const {
        return {1, 0, 0, 1};
    }
};

class CpuWarpTest : public testing::Test {
protected:
    Array filled(Format format, Extent extent, ArrayKind kind, unsigned seed) const {
        test::Random random(seed);
        const Array array(device_, {.format = format, .extent = extent, .kind = kind, .layers = layers_of(kind)});
        test::upload(array.view(), test::random_texels(random, format, packed_bytes(array.info())));
        return array;
    }
    template <class Map, class... Sources>
    void expect_same(Format format, const Map& map, const Texture& texture, const Sources&... sources) const {
        const bool layered = texture.kind() == ArrayKind::layered_2d;
        Extent extent = kPixels;
        extent.depth = layered ? 2 : 1;
        const WarpOptions options{.border = {0.5f, 0.25f, 1, 0.75f}};
        const Linear made(device_, format, extent), expected(device_, format, extent);
        const Stream stream(device_);
        detail::enqueue_warp("warp", stream, made.view(format, extent), map, options, texture, sources...);
        const Texture textures[] = {texture, sources...};
        detail::Launch launch("functor", stream, expected.view(format, extent), textures, detail::Overlap::refused);
        detail::run<1 + sizeof...(sources)>(
            launch, detail::Warped<Map, Minification::none>{map, {0.5f, 0.25f, 1, 0.75f}, layered});
        stream.synchronize();
        EXPECT_TRUE(
            test::same_bytes(test::download(made.view(format, extent)), test::download(expected.view(format, extent))));
    }

    static std::size_t layers_of(ArrayKind kind) { return kind == ArrayKind::layered_2d ? 2 : 1; }
    const Device device_ = Device::cpu();
};

std::vector<Sampler> samplers(Format format) {
    constexpr AddressMode kBorder = AddressMode::border, kWrap = AddressMode::wrap;
    const bool integers = info(format).kind == FormatKind::uint || info(format).kind == FormatKind::sint;
    std::vector<Sampler> all{{}, {.address = {kBorder, kBorder}, .border = {1, 0.5f, 0.25f, 1}}};
    if (!integers) {
        all.push_back({.filter = Filter::linear});
        all.push_back({.address = {kWrap, kWrap}, .filter = Filter::linear, .normalized_coordinates = true});
    }
    return all;
}

TEST_F(CpuWarpTest, PixelsOfAllFormatsMatchTheFunctor) {
    for (const Format format : {Format::rgba8_unorm, Format::r8_unorm, Format::rg8_snorm, Format::rgba8_srgb,
                                Format::r16_unorm, Format::rgba16_float, Format::r32_float, Format::rgba32_float,
                                Format::rgba8_uint, Format::r32_sint, Format::rgb10a2_unorm}) {
        for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::layered_2d}) {
            const Array array = filled(format, kTexels, kind, 1);
            for (const Sampler& sampler : samplers(format)) {
                SCOPED_TRACE(std::string(name(format)) + " " + std::string(name(kind)));
                expect_same(format, Odd{}, Texture(array, sampler));
                expect_same(Format::rgba32_float, Odd{}, Texture(array, sampler));
            }
        }
    }
}

TEST_F(CpuWarpTest, CoordinatesFromAnImageMatchTheFunctor) {
    const Array texels = filled(Format::rgba8_unorm, kTexels, ArrayKind::array_2d, 2);
    const Array layers = filled(Format::rgba8_unorm, kTexels, ArrayKind::layered_2d, 3);
    for (const Extent extent : {Extent{300, 5}, Extent{31, 9}}) {
        const Array map = filled(Format::rg16_unorm, extent, ArrayKind::array_2d, 4);
        const Array maps = filled(Format::rg16_unorm, extent, ArrayKind::layered_2d, 5);
        const float x = static_cast<float>(extent.width) / 300, y = static_cast<float>(extent.height) / 5;
        for (const Sampler& sampler : samplers(Format::rg16_unorm)) {
            const Sampler smooth{.filter = Filter::linear};
            expect_same(Format::rgba8_unorm, Mapped{x, y, false}, Texture(texels, smooth), Texture(map, sampler));
            expect_same(Format::rgba8_unorm, Mapped{x, y, true}, Texture(layers, smooth), Texture(maps, sampler));
            expect_same(Format::rgba8_unorm, Mapped{x, y, false}, Texture(layers, smooth), Texture(map, sampler));
        }
    }
}

}  // namespace
}  // namespace texton
