// launch() of functors that fetch the texels of their own pixel only. Devices may read these texels in blocks.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/fill.h>
#include <texton/launch.h>
#include <texton/linear.h>
#include <texton/pitched.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::Bytes;
using test::download;
using test::Random;
using test::same_bytes;
using test::upload;

/// Looks up the color in a table and adds a part of the color itself. `own` sets kPointwiseWithTables, which tells
/// launch() that the functor reads its own texel only.
template <bool own>
struct Looked {
    static constexpr bool kPointwiseWithTables = own;
    bool layered;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Source& table) const {
        const Float4 color = layered ? source.layer_at_texel(at.z, at.center_x(), at.center_y())
                                     : source.at_texel(at.center_x(), at.center_y());
        const Float4 entry = table.at_texel(color.x * 4 + 0.5f, color.y * 4 + 0.5f, color.z * 4 + 0.5f);
        return entry + color * 0.25f + Float4{static_cast<float>(at.x), static_cast<float>(at.y), 0, 0} * 0x1p-12f;
    }
};

template <bool own>
struct Mixed {
    static constexpr bool kPointwiseWithTables = own;
    bool layered;

    template <class Source>
    TEXTON_HD Float4 texel(PixelPosition at, const Source& source) const {
        return layered ? source.layer_at_texel(at.z, at.center_x(), at.center_y())
                       : source.at_texel(at.center_x(), at.center_y());
    }
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& a, const Source& b) const {
        const Float4 first = texel(at, a);
        return first + (texel(at, b) - first) * 0.375f;
    }
};

/// Returns the texel of the pixel.
template <bool own>
struct Copied : Mixed<own> {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& a, const Source&) const {
        return this->texel(at, a);
    }
};

template <bool own>
struct CopiedAlone : Mixed<own> {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return this->texel(at, source);
    }
};

/// Looks up each channel in a table of its own. `promised` sets kByChannel.
template <bool promised>
struct Curves {
    static constexpr bool kPointwiseWithTables = true;
    static constexpr bool kByChannel = promised;
    bool layered;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Source& table) const {
        const Float4 color = layered ? source.layer_at_texel(at.z, at.center_x(), at.center_y())
                                     : source.at_texel(at.center_x(), at.center_y());
        return {table.at_texel(color.x * 60 + 0.5f).x, table.at_texel(color.y * 60 + 0.5f).y, 1.25f - color.z * 1.5f,
                color.w * color.w};
    }
};

/// Mixes the channels of the texel and an entry of a table. `promised` sets kByTexel.
template <bool promised>
struct Blended {
    static constexpr bool kPointwiseWithTables = true;
    static constexpr bool kByTexel = promised;
    bool layered;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source, const Source& table) const {
        const Float4 color = layered ? source.layer_at_texel(at.z, at.center_x(), at.center_y())
                                     : source.at_texel(at.center_x(), at.center_y());
        const float mixed = color.x * 0.5f + color.y * 0.25f - color.z * 0.375f + color.w * 0.125f;
        const float entry = table.at_texel(color.x * 60 + 0.5f).x;
        return {0.875f - mixed, entry + color.y, mixed * entry, color.x};
    }
};

/// Applies one function to all channels of a color. `promised` sets kSameForColors.
template <bool promised>
struct OneCurve {
    static constexpr bool kPointwise = true;
    static constexpr bool kByChannel = true;
    static constexpr bool kSameForColors = promised;

    TEXTON_HD static float of(float value) { return value < 0.25f ? value * 3 : 1.0f - value * value; }
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 color = source.at_texel(at.center_x(), at.center_y());
        return {of(color.x), of(color.y), of(color.z), color.w};
    }
};

/// An rgba8_unorm texture with its memory.
struct Source {
    Texture texture;
    Array array{};
    Pitched2D memory{};
};

class PointwiseTest : public test::OnEveryDevice {
protected:
    Bytes bytes(std::size_t count) {
        Bytes made(count);
        for (std::byte& value : made) value = std::byte(random_.below(256));
        return made;
    }
    Source of_array(const Extent& extent, std::size_t layers, const Sampler& sampler) {
        Array array(device(), {.format = Format::rgba8_unorm,
                               .extent = extent,
                               .kind = layers != 0 ? ArrayKind::layered_2d : ArrayKind::array_2d,
                               .layers = std::max<std::size_t>(layers, 1)});
        upload(array.view(), bytes(4 * extent.width * extent.height * (layers != 0 ? layers : 1)));
        const Texture texture(array, sampler);
        return {texture, std::move(array)};
    }
    Source of_memory(const Extent& extent, const Sampler& sampler) {
        Pitched2D memory(device(), Format::rgba8_unorm, extent);
        upload(memory.view(), bytes(4 * extent.width * extent.height));
        const Texture texture(memory.view(), sampler);
        return {texture, {}, std::move(memory)};
    }
    /// Writes to a region of memory that starts at column `left`. The bytes around the region must not change.
    template <class Functor>
    Bytes made(const Functor& functor, const Extent& extent, std::size_t left, const Texture& a, const Texture& b) {
        const Pitched3D memory(device(), Format::rgba8_unorm, {extent.width + 8, extent.height + 2, extent.depth});
        fill(memory.view(), std::uint8_t{0xA5});
        const Stream stream(device());
        launch(stream, memory.view().region({{left, 1, 0}, extent}), functor, a, b);
        stream.synchronize();
        return download(memory.view());
    }

private:
    Random random_{5};
};
INSTANTIATE_TEST_SUITE_P(Devices, PointwiseTest, test::every_device(), test::device_label);

constexpr Extent kExtents[] = {{4, 2}, {8, 3}, {124, 9}, {130, 5}, {132, 17}, {516, 2}};
constexpr std::size_t kColumns[] = {0, 1, 4};

TEST_P(PointwiseTest, OwnTexelReadsMatchGeneralFetches) {
    Array table(device(), {.format = Format::rgba8_unorm, .extent = {5, 5, 5}, .kind = ArrayKind::array_3d});
    upload(table.view(), bytes(4 * 125));
    const Texture entries(table, {.filter = Filter::linear});
    const Sampler linear{.filter = Filter::linear};
    const Sampler along{.filter = Filter::linear, .normalized_coordinates = true};
    for (const Extent& extent : kExtents) {
        std::vector<Source> sources;
        for (const Sampler& sampler : {Sampler{}, linear, along}) {
            sources.push_back(of_array(extent, 0, sampler));
            sources.push_back(of_memory(extent, sampler));
        }
        for (const Source& source : sources) {
            for (const std::size_t left : kColumns) {
                EXPECT_TRUE(same_bytes(made(Looked<true>{false}, extent, left, source.texture, entries),
                                       made(Looked<false>{false}, extent, left, source.texture, entries)))
                    << to_string(extent) << " from column " << left;
            }
        }
        const Source layers = of_array(extent, 3, {});
        const Extent slices{extent.width, extent.height, 3};
        for (const std::size_t left : kColumns) {
            EXPECT_TRUE(same_bytes(made(Looked<true>{true}, slices, left, layers.texture, entries),
                                   made(Looked<false>{true}, slices, left, layers.texture, entries)))
                << to_string(slices) << " from column " << left;
        }
    }
}

TEST_P(PointwiseTest, TexturesOfArraysAndMemoryCanBeMixed) {
    for (const Extent& extent : kExtents) {
        const Source array = of_array(extent, 0, {});
        const Source memory = of_memory(extent, {});
        const Source wider = of_memory({extent.width + 4, extent.height}, {});
        const Texture textures[] = {array.texture, memory.texture, wider.texture};
        for (const Texture& a : textures) {
            for (const Texture& b : textures)
                EXPECT_TRUE(
                    same_bytes(made(Mixed<true>{false}, extent, 4, a, b), made(Mixed<false>{false}, extent, 4, a, b)))
                    << to_string(extent);
        }
        const Source layers = of_array(extent, 2, {});
        const Source more = of_array(extent, 4, {});
        const Extent slices{extent.width, extent.height, 2};
        EXPECT_TRUE(same_bytes(made(Mixed<true>{true}, slices, 0, layers.texture, more.texture),
                               made(Mixed<false>{true}, slices, 0, layers.texture, more.texture)))
            << to_string(slices);
    }
}

TEST_P(PointwiseTest, FunctorsWithPromisesGiveTheSameResults) {
    struct Formats {
        Format texels;
        Format pixels;
    };
    constexpr Formats kFormats[] = {
        {Format::rgba8_unorm, Format::rgba8_unorm},  {Format::rg8_unorm, Format::rg8_unorm},
        {Format::r8_unorm, Format::r8_unorm},        {Format::rgba8_unorm, Format::rgba8_srgb},
        {Format::r8_unorm, Format::r8_snorm},        {Format::rg8_unorm, Format::rg8_uint},
        {Format::rgba8_unorm, Format::rgba16_float}, {Format::rgba8_snorm, Format::rgba8_unorm},
        {Format::rgba8_srgb, Format::rgba8_srgb},    {Format::rgba8_srgb, Format::rgba8_unorm},
        {Format::rg8_srgb, Format::rg8_unorm},       {Format::r8_srgb, Format::r8_unorm}};
    const Array table(device(), {.format = Format::rgba8_unorm, .extent = {61}, .kind = ArrayKind::array_1d});
    upload(table.view(), bytes(4 * 61));
    const Texture entries(table, {.filter = Filter::linear});
    for (const Extent& extent : {Extent{256, 130}, Extent{1031, 33}, Extent{40, 1000}, Extent{12, 5}}) {
        for (const Formats& formats : kFormats) {
            const std::size_t layers = extent.width % 2 == 0 ? 2 : 1;
            const Array array(device(), {.format = formats.texels,
                                         .extent = extent,
                                         .kind = layers > 1 ? ArrayKind::layered_2d : ArrayKind::array_2d,
                                         .layers = layers});
            upload(array.view(), bytes(packed_bytes(formats.texels, extent) * layers));
            const Pitched2D memory(device(), formats.texels, extent);
            upload(memory.view(), bytes(packed_bytes(formats.texels, extent)));
            const Texture of_array(array, {}), of_memory(memory.view(), {});
            for (const Texture& texture : {of_array, of_memory}) {
                const Extent slices{extent.width, extent.height, texture.layers()};
                const Pitched3D pitched(device(), formats.pixels, slices);
                const Linear packed(device(), formats.pixels, slices);
                const bool layered = texture.kind() == ArrayKind::layered_2d;
                for (const View& image : {pitched.view(), packed.view(formats.pixels, slices)}) {
                    const auto results = [&](const auto& functor) {
                        fill(image, std::uint8_t{0xA5});
                        const Stream stream(device());
                        launch(stream, image, functor, texture, entries);
                        stream.synchronize();
                        return download(image);
                    };
                    EXPECT_TRUE(same_bytes(results(Curves<true>{layered}), results(Curves<false>{layered})))
                        << name(formats.texels) << " to " << name(formats.pixels) << ", " << to_string(extent);
                    EXPECT_TRUE(same_bytes(results(Blended<true>{layered}), results(Blended<false>{layered})))
                        << name(formats.texels) << " to " << name(formats.pixels) << ", " << to_string(extent);
                }
            }
        }
    }
}

TEST_P(PointwiseTest, TexelsOfNarrowAndOfSrgbFormatsMatchGeneralFetches) {
    constexpr Format kOne[] = {Format::r8_unorm, Format::r16_unorm, Format::r16_float, Format::r32_float};
    constexpr Format kTwo[] = {Format::rg8_unorm, Format::rg16_unorm, Format::rg16_float};
    constexpr Format kFour[] = {Format::rgba8_unorm, Format::rgba8_srgb};
    const auto same = [&](Format texels, Format pixels, const Extent& extent, std::size_t layers) {
        const Array array(device(), {.format = texels,
                                     .extent = extent,
                                     .kind = layers > 1 ? ArrayKind::layered_2d : ArrayKind::array_2d,
                                     .layers = layers});
        upload(array.view(), bytes(packed_bytes(texels, extent) * layers));
        const Pitched2D memory(device(), texels, extent);
        upload(memory.view(), bytes(packed_bytes(texels, extent)));
        const Texture own(array), other(memory.view());
        const Extent slices{extent.width, extent.height, layers};
        const bool layered = layers > 1;
        const Pitched3D around(device(), pixels, {extent.width + 8, extent.height + 2, layers});
        for (const std::size_t left : kColumns) {
            const auto results = [&](const auto& functor, const Texture& a, const Texture& b) {
                fill(around.view(), std::uint8_t{0xA5});
                const Stream stream(device());
                launch(stream, around.view().region({{left, 1, 0}, slices}), functor, a, b);
                stream.synchronize();
                return download(around.view());
            };
            EXPECT_TRUE(same_bytes(results(Copied<true>{layered}, own, own), results(Copied<false>{layered}, own, own)))
                << name(texels) << " to " << name(pixels) << ", " << to_string(slices) << " from column " << left;
            const auto alone = [&](const auto& functor, const Texture& texture) {
                fill(around.view(), std::uint8_t{0xA5});
                const Stream stream(device());
                launch(stream, around.view().region({{left, 1, 0}, slices}), functor, texture);
                stream.synchronize();
                return download(around.view());
            };
            EXPECT_TRUE(same_bytes(alone(CopiedAlone<true>{layered}, own), alone(CopiedAlone<false>{layered}, own)))
                << name(texels) << " to " << name(pixels) << ", " << to_string(slices) << " from column " << left;
            if (layered) continue;
            EXPECT_TRUE(same_bytes(results(Mixed<true>{false}, other, own), results(Mixed<false>{false}, other, own)))
                << name(texels) << " to " << name(pixels) << ", " << to_string(slices) << " from column " << left;
            const Texture four = of_array(extent, 0, {}).texture;
            EXPECT_TRUE(same_bytes(results(Mixed<true>{false}, own, four), results(Mixed<false>{false}, own, four)))
                << name(texels) << " and rgba8_unorm to " << name(pixels);
        }
    };
    for (const Extent& extent : {Extent{4, 2}, Extent{130, 37}, Extent{257, 3}}) {
        for (const Format texels : kOne)
            for (const Format pixels : kOne) same(texels, pixels, extent, 1);
        for (const Format texels : kTwo)
            for (const Format pixels : kTwo) same(texels, pixels, extent, 1);
        for (const Format texels : kFour)
            for (const Format pixels : kFour) same(texels, pixels, extent, 1);
        same(Format::r8_unorm, Format::r16_float, extent, 3);
        same(Format::rg16_float, Format::rg8_unorm, extent, 2);
        same(Format::rgba8_srgb, Format::rgba8_srgb, extent, 2);
    }
    // GPUs encode larger images with a table. Their last tiles have fewer rows and columns.
    const Extent large{257, 131};
    for (const Format texels : {Format::rgba8_srgb, Format::rgba8_unorm, Format::rgba16_float, Format::rgba8_uint})
        same(texels, Format::rgba8_srgb, large, 1);
    same(Format::rgba8_srgb, Format::rgba8_unorm, large, 1);
    same(Format::rgba8_srgb, Format::rgba8_srgb, large, 2);
}

// The image is large enough for tables of all 65,536 codes, also on devices without clusters of blocks. Its rows do not
// end with a whole piece of 16 bytes.
TEST_P(PointwiseTest, ColorsThatArePromisedToHaveOneFunctionGiveTheSameResults) {
    for (const Format format : {Format::r16_unorm, Format::r16_float, Format::rg16_unorm, Format::rg16_float,
                                Format::rgba16_unorm, Format::rgba16_float}) {
        const std::size_t channels = info(format).channels;
        const Extent extent{4100 / channels, (std::size_t{3} << 23) / 4096};
        const Array array(device(), {.format = format, .extent = extent});
        const Pitched2D memory(device(), format, extent);
        const Bytes texels = bytes(packed_bytes(format, extent));
        upload(array.view(), texels);
        upload(memory.view(), texels);
        const Pitched2D image(device(), format, extent);
        const auto made = [&](const auto& functor, const Texture& texture) {
            const Stream stream(device());
            launch(stream, image.view(), functor, texture);
            stream.synchronize();
            return download(image.view());
        };
        const Texture of_array(array), of_memory(memory.view());
        const Bytes expected = made(OneCurve<false>{}, of_array);
        EXPECT_TRUE(same_bytes(made(OneCurve<true>{}, of_array), expected)) << name(format);
        EXPECT_TRUE(same_bytes(made(OneCurve<true>{}, of_memory), expected)) << name(format) << " in memory";
    }
}

}  // namespace
}  // namespace texton
