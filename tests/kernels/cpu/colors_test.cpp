// Compares the CPU device's specialized color kernels with functors that implement the same in a plain form. Results
// must be bit-identical.
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/color.h>
#include <texton/float_math.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/lut.h>
#include <texton/pitched.h>

#include "tests/support/scenes.h"

namespace texton {
namespace {

using test::any_bits;
using test::Bytes;
using test::center_at;
using test::download;
using test::expect_same;
using test::kFormats;
using test::made;
using test::on_every_scene;
using test::Random;
using test::same_bytes;
using test::Scene;
using test::upload;

// --- plain implementations -------------------------------------------------------------------------------------------

struct Swapped {
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = center_at(source, layered, at, at.x, at.y);
        return {texel.z, texel.y, 1, texel.x};
    }
};

struct Turned {
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = center_at(source, layered, at, at.x, at.y);
        return {texel.z, texel.x, 1, texel.w};
    }
};

struct Filled {
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        return {0, center_at(source, layered, at, at.x, at.y).w, 1, 0};
    }
};

struct Exchanged {
    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = center_at(source, false, at, at.x, at.y);
        return {texel.y, texel.x, texel.w, texel.z};
    }
};

/// A 1D table of `entries` entries over the domain [low, high].
struct LookedUp {
    Lut1dOptions options;
    float entries;
    bool layered;

    template <class Table>
    Float4 entry(const Table& table, int channel, float value) const {
        const float low = options.domain.low[channel], high = options.domain.high[channel], last = entries - 1;
        const float inside = value > low ? (value < high ? value : high) : low;
        const float position = (inside - low) * (last / (high - low));
        if (options.filter == LutFilter::hardware) return table.at_texel(position + 0.5f);
        const float first = std::floor(position);
        const float second = first < last ? first + 1 : last;
        const Float4 a = table.at_texel(first + 0.5f), b = table.at_texel(second + 0.5f);
        return a + (b - a) * (position - first);
    }
    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source, const Source& table) const {
        const Float4 texel = center_at(source, layered, at, at.x, at.y);
        const Float4 green = entry(table, 1, texel.y), blue = entry(table, 2, texel.z);
        const bool shared = options.channels == LutChannels::shared;
        return {entry(table, 0, texel.x).x, shared ? green.x : green.y, shared ? blue.x : blue.z, texel.w};
    }
};

struct ByMatrix {
    ColorMatrix matrix;
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = center_at(source, layered, at, at.x, at.y);
        const auto channel = [&](const float(&row)[4]) {
            return ((row[0] * texel.x + row[1] * texel.y) + row[2] * texel.z) + row[3];
        };
        return {channel(matrix.row[0]), channel(matrix.row[1]), channel(matrix.row[2]), texel.w};
    }
};

struct Exposed {
    float by;
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 texel = center_at(source, layered, at, at.x, at.y);
        return {texel.x * by, texel.y * by, texel.z * by, texel.w};
    }
};

/// A functor of two textures with sums, quotients and a choice. `in_place` tells launch() whether it reads only the
/// texels of its own pixel.
template <bool in_place>
struct Mixed {
    static constexpr bool kPointwise = in_place;
    float share;
    bool layered;

    template <class Source>
    Float4 operator()(PixelPosition at, const Source& a, const Source& b) const {
        const Float4 first = center_at(a, layered, at, at.x, at.y);
        const Float4 second = center_at(b, layered, at, at.x, at.y);
        const float maximum = first.x > second.w ? first.x : second.w;
        return {first.x * share + second.y, maximum == 0 ? 0.25f : first.y / maximum,
                std::fabs(second.z - first.z) - share, static_cast<float>(at.x + 2 * at.y) * share};
    }
};

// --- tests -----------------------------------------------------------------------------------------------------------

TEST(CpuColorTest, SwizzlesMatchTheFunctor) {
    for (const Filter filter : {Filter::point, Filter::linear}) {
        on_every_scene(filter, [&](const Scene& scene) {
            expect_same(
                scene, scene.extent,
                [&](const Stream& stream, const View& image) { swizzle(stream, image, scene.texture, "bg1r"); },
                [&](const Stream& stream, const View& image) {
                    launch(stream, image, Swapped{scene.layered()}, scene.texels());
                });
            expect_same(
                scene, scene.extent,
                [&](const Stream& stream, const View& image) { swizzle(stream, image, scene.texture, "br1a"); },
                [&](const Stream& stream, const View& image) {
                    launch(stream, image, Turned{scene.layered()}, scene.texels());
                });
            expect_same(
                scene, scene.extent,
                [&](const Stream& stream, const View& image) { swizzle(stream, image, scene.texture, "0a10"); },
                [&](const Stream& stream, const View& image) {
                    launch(stream, image, Filled{scene.layered()}, scene.texels());
                });
        });
    }
}

TEST(CpuColorTest, SwizzlesOfOneAndTwoChannelsMatchTheFunctor) {
    constexpr Extent kExtent{301, 9};
    Random random(5);
    for (const Format format : {Format::r8_srgb, Format::rg8_srgb, Format::r16_unorm, Format::rg16_unorm,
                                Format::r16_float, Format::rg16_float}) {
        const Pitched2D source(Device::cpu(), format, kExtent);
        const Pitched2D memory(Device::cpu(), format, {kExtent.width + 5, kExtent.height + 3});
        upload(source.view(), any_bits(random, test::box_bytes(format, kExtent)));
        const Texture texture(source.view());
        const auto expect_swizzle = [&](std::string_view channels, const auto& functor) {
            expect_same(
                memory.view(), kExtent,
                [&](const Stream& stream, const View& image) { swizzle(stream, image, texture, channels); },
                [&](const Stream& stream, const View& image) { launch(stream, image, functor, texture); });
        };
        expect_swizzle("bg1r", Swapped{false});
        expect_swizzle("br1a", Turned{false});
        expect_swizzle("0a10", Filled{false});
        expect_swizzle("grab", Exchanged{});
    }
}

TEST(CpuColorTest, LookupsMatchTheFunctor) {
    constexpr Extent kEntries{19};
    constexpr LutDomain kDomain{{-0.25f, 0, 0.125f}, {1.5f, 0.75f, 1}};
    Random random(6);
    const Array entries(Device::cpu(),
                        {.format = Format::rgba32_float, .extent = kEntries, .kind = ArrayKind::array_1d});
    upload(entries.view(),
           test::random_texels(random, Format::rgba32_float, test::box_bytes(Format::rgba32_float, kEntries)));
    for (const bool normalized : {false, true}) {
        const Texture table(entries, {.filter = Filter::linear, .normalized_coordinates = normalized});
        for (const Lut1dOptions& options :
             {Lut1dOptions{kDomain}, Lut1dOptions{kDomain, LutFilter::exact, LutChannels::shared}}) {
            on_every_scene(Filter::point, [&](const Scene& scene) {
                expect_same(
                    scene, scene.extent,
                    [&](const Stream& stream, const View& image) {
                        lut_1d(stream, image, scene.texture, table, options);
                    },
                    [&](const Stream& stream, const View& image) {
                        launch(stream, image, LookedUp{options, kEntries.width, scene.layered()}, scene.texels(),
                               table);
                    });
            });
        }
    }
}

TEST(CpuColorTest, FunctorsOfOwnTexelsMatchGeneralFunctors) {
    on_every_scene(Filter::point, [&](const Scene& scene) {
        const auto make = [&](const auto& functor) {
            return [&scene, functor](const Stream& stream, const View& image) {
                launch(stream, image, functor, scene.texels(), scene.texels());
            };
        };
        expect_same(scene, scene.extent, make(Mixed<true>{0.3f, scene.layered()}),
                    make(Mixed<false>{0.3f, scene.layered()}));
    });
}

/// Rows of several parts, with lengths that are not multiples of a vector.
TEST(CpuColorTest, MatricesAndExposuresMatchTheFunctors) {
    constexpr ColorMatrix kMatrix{{{0.6f, 0.3f, -0.1f, 0.02f}, {0.2f, 0.7f, 0.1f, -0.3f}, {1e-39f, 0, 3e38f, 0}}};
    constexpr float kStops = 1.3f;
    Random random(8);
    for (const Format format : kFormats) {
        for (const Extent extent : {Extent{1043, 3}, Extent{7, 40}}) {
            for (const Sampler& sampler : {Sampler{}, Sampler{.filter = Filter::linear}}) {
                const bool layered = random.coin();
                const ArrayInfo info{.format = format,
                                     .extent = extent,
                                     .kind = layered ? ArrayKind::layered_2d : ArrayKind::array_2d,
                                     .layers = layered ? std::size_t{2} : 1};
                const Array array(Device::cpu(), info);
                upload(array.view(), any_bits(random, test::box_bytes(format, test::level_box(info, 0))));
                const Scene scene{Texture(array, sampler), extent, info.layers, format};
                SCOPED_TRACE(test::describe(info));
                expect_same(
                    scene, extent,
                    [&](const Stream& stream, const View& image) {
                        color_matrix(stream, image, scene.texture, kMatrix);
                    },
                    [&](const Stream& stream, const View& image) {
                        launch(stream, image, ByMatrix{kMatrix, layered}, scene.texels());
                    });
                expect_same(
                    scene, extent,
                    [&](const Stream& stream, const View& image) { exposure(stream, image, scene.texture, kStops); },
                    [&](const Stream& stream, const View& image) {
                        launch(stream, image, Exposed{exp2_of(kStops), layered}, scene.texels());
                    });
            }
        }
    }
}

/// Every fourth row begins at a cache line.
TEST(CpuColorTest, ImagesLargerThanTheCacheMatchTheFunctors) {
    constexpr Extent kExtent{1501, 1500};  // more than twice 64 MiB
    constexpr Extent kAround{1503, 1502};
    constexpr Format kFormat = Format::rgba32_float;
    constexpr ColorMatrix kMatrix{{{0.6f, 0.3f, -0.1f, 0.02f}, {0.2f, 0.7f, 0.1f, -0.3f}, {0, 0.5f, 0.5f, 0}}};
    constexpr float kStops = 0.7f;
    Random random(23);
    const Array array(Device::cpu(), {.format = kFormat, .extent = kExtent});
    const Bytes texels = any_bits(random, test::box_bytes(kFormat, kExtent));
    upload(array.view(), texels);
    const Texture texture(array);
    const Linear memory(Device::cpu(), kFormat, kAround);
    const auto by_matrix = [&](const Stream& stream, const View& image) {
        launch(stream, image, ByMatrix{kMatrix, false}, texture);
    };
    expect_same(
        memory.view(kFormat, kAround), kExtent,
        [&](const Stream& stream, const View& image) { color_matrix(stream, image, texture, kMatrix); }, by_matrix);
    expect_same(
        memory.view(kFormat, kAround), kExtent,
        [&](const Stream& stream, const View& image) { exposure(stream, image, texture, kStops); },
        [&](const Stream& stream, const View& image) {
            launch(stream, image, Exposed{exp2_of(kStops), false}, texture);
        });
    expect_same(
        memory.view(kFormat, kAround), kExtent,
        [&](const Stream& stream, const View& image) { swizzle(stream, image, texture, "bg1r"); },
        [&](const Stream& stream, const View& image) { launch(stream, image, Swapped{false}, texture); });

    const Pitched2D in_place(Device::cpu(), kFormat, kExtent);
    const Pitched2D other(Device::cpu(), kFormat, kExtent);
    upload(in_place.view(), texels);
    const Texture own(in_place.view());
    const Stream stream(Device::cpu());
    color_matrix(stream, in_place.view(), own, kMatrix);
    by_matrix(stream, other.view());
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(in_place.view()), download(other.view())));
}

TEST(CpuColorTest, InPlaceMatricesMatchASeparateDestination) {
    constexpr Extent kExtent{1001, 70};
    constexpr ColorMatrix kMatrix{{{0.6f, 0.3f, -0.1f, 0.02f}, {0.2f, 0.7f, 0.1f, -0.3f}, {0, 0.5f, 0.5f, 0}}};
    Random random(2);
    for (const Format format : {Format::rgba8_unorm, Format::rgba32_float}) {
        const Pitched2D source(Device::cpu(), format, kExtent);
        const Pitched2D other(Device::cpu(), format, kExtent);
        upload(source.view(), test::random_texels(random, format, test::box_bytes(format, kExtent)));
        const Texture texture(source.view());
        const Stream stream(Device::cpu());
        color_matrix(stream, other.view(), texture, kMatrix);
        color_matrix(stream, source.view(), texture, kMatrix);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(download(source.view()), download(other.view()))) << name(format);
    }
}

/// Floats are processed by the functor itself, so they are the reference for codes.
TEST(CpuColorTest, TransfersOfCodesMatchTransfersOfTheirValues) {
    constexpr Extent kExtent{256, 5};
    Bytes codes;
    for (std::size_t i = 0; i < 4 * kExtent.width * kExtent.height; ++i)
        codes.push_back(static_cast<std::byte>((i / 4 + i * i % 4 * 64) % 256));
    for (const Format stored : {Format::rgba8_unorm, Format::rgba8_srgb}) {
        const Array of_codes(Device::cpu(), {.format = stored, .extent = kExtent});
        const Array of_floats(Device::cpu(), {.format = Format::rgba32_float, .extent = kExtent});
        upload(of_codes.view(), codes);
        const Stream stream(Device::cpu());
        swizzle(stream, of_floats.view(), Texture(of_codes), "rgba");
        stream.synchronize();
        for (const Transfer direction : {Transfer::to_linear, Transfer::to_srgb}) {
            for (const Format format : {Format::rgba32_float, Format::rgba8_unorm, Format::rgba8_srgb}) {
                const Linear memory(Device::cpu(), format, kExtent);
                const View image = memory.view(format, kExtent);
                const auto transferred = [&](const Texture& texture) {
                    return made(image, image,
                                [&](const Stream& to, const View& view) { transfer(to, view, texture, direction); });
                };
                EXPECT_TRUE(same_bytes(transferred(Texture(of_codes)), transferred(Texture(of_floats))))
                    << name(stored) << " to " << name(format);
            }
        }
    }
}

TEST(CpuColorTest, InPlaceSwizzlesMatchASeparateDestination) {
    constexpr Extent kExtent{1001, 150};
    Random random(2);
    for (const Format format : {Format::rgba8_unorm, Format::rgba32_float, Format::rgba8_srgb}) {
        const Bytes texels = test::random_texels(random, format, test::box_bytes(format, kExtent));
        const Pitched2D source(Device::cpu(), format, kExtent);
        const Pitched2D other(Device::cpu(), format, kExtent);
        upload(source.view(), texels);
        const Texture texture(source.view());
        const Stream stream(Device::cpu());
        swizzle(stream, other.view(), texture, "gba0");
        swizzle(stream, source.view(), texture, "gba0");
        stream.synchronize();
        EXPECT_TRUE(same_bytes(download(source.view()), download(other.view()))) << name(format);
    }
}

}  // namespace
}  // namespace texton
