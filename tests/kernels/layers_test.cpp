// Compares blending of textures and of the layers of a texture with double-precision results.
#include <array>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/kernel.h>
#include <texton/layers.h>
#include <texton/pitched.h>

#include "tests/support/colors.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::Colors;
using test::colors_of;
using test::expect_error;
using test::fetched_colors;
using test::made_colors;
using test::near_colors;
using test::Random;
using test::upload;

constexpr BlendMode kModes[] = {BlendMode::over,   BlendMode::add,        BlendMode::multiply,
                                BlendMode::screen, BlendMode::difference, BlendMode::lerp};

/// The formulas of W3C Compositing and Blending Level 1, for premultiplied colors: where both inputs cover, the result
/// is the blend function of both; where one covers, it is that input.
double blended(BlendMode mode, double bottom, double bottom_alpha, double top, double top_alpha) {
    const double b = bottom_alpha == 0 ? 0 : bottom / bottom_alpha;
    const double t = top_alpha == 0 ? 0 : top / top_alpha;
    double both = 0;
    switch (mode) {
        case BlendMode::over: both = t; break;
        case BlendMode::add: return bottom + top;
        case BlendMode::multiply: both = b * t; break;
        case BlendMode::screen: both = b + t - b * t; break;
        case BlendMode::difference: both = std::abs(b - t); break;
        case BlendMode::lerp: return 0;
    }
    return bottom_alpha * top_alpha * both + (1 - top_alpha) * bottom + (1 - bottom_alpha) * top;
}

Float4 blended(BlendMode mode, const Float4& bottom, const Float4& top, double opacity) {
    const double below[] = {bottom.x, bottom.y, bottom.z, bottom.w};
    const double above[] = {top.x, top.y, top.z, top.w};
    float is[4];
    for (int i = 0; i < 4; ++i) {
        const double union_alpha = below[3] + above[3] * opacity - below[3] * above[3] * opacity;
        const double value = mode == BlendMode::lerp ? below[i] + (above[i] - below[i]) * opacity
                             : i == 3 && mode != BlendMode::add
                                 ? union_alpha
                                 : blended(mode, below[i], below[3], above[i] * opacity, above[3] * opacity);
        is[i] = static_cast<float>(value);
    }
    return {is[0], is[1], is[2], is[3]};
}

/// Returns colors from 0 to 1, premultiplied by alpha.
Colors premultiplied(Random& random, std::size_t count) {
    Colors colors = test::random_colors(random, count);
    for (std::size_t i = 0; i < count; ++i) {
        const float alpha = i % 5 == 0 ? 0.0f : i % 5 == 1 ? 1.0f : colors[i].w;
        colors[i] = {colors[i].x * alpha, colors[i].y * alpha, colors[i].z * alpha, alpha};
    }
    return colors;
}

class LayersTest : public test::OnEveryDevice {
protected:
    Texture texture_of(const Colors& colors, Extent extent) const {
        return Texture(test::color_array(device(), extent, colors));
    }
    Texture layered(const Colors& colors, Extent extent, std::size_t layers) const {
        return Texture(test::color_array(device(), extent, colors, ArrayKind::layered_2d, layers));
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, LayersTest, test::every_device(), test::device_label);

// --- blend -----------------------------------------------------------------------------------------------------------

TEST_P(LayersTest, BlendModesMatchTheirDefinitionWithOpacity) {
    Random random(1);
    for (const Extent& extent : {Extent{1, 1}, Extent{17, 3}, Extent{5, 40}}) {
        const std::size_t count = extent.width * extent.height;
        const Texture bottom = texture_of(premultiplied(random, count), extent);
        Colors above = premultiplied(random, count);
        std::reverse(above.begin(), above.end());
        const Texture top = texture_of(above, extent);
        for (const BlendMode mode : kModes) {
            for (const float opacity : {1.0f, 0.0f, 0.375f}) {
                const Colors is = made_colors(device(), extent, [&](const Stream& stream, const View& image) {
                    blend(stream, image, bottom, top, {mode, opacity});
                });
                Colors expected = fetched_colors(bottom);
                for (std::size_t i = 0; i < count; ++i) expected[i] = blended(mode, expected[i], above[i], opacity);
                EXPECT_TRUE(near_colors(is, expected, 1e-6)) << static_cast<int>(mode) << ' ' << opacity;
            }
        }
    }
}

TEST_P(LayersTest, AMaskScalesTheTopLayer) {
    Random random(2);
    const Extent extent{6, 5};
    const Colors below = premultiplied(random, 30);
    const Colors above = premultiplied(random, 30);
    const Array shares(device(), {Format::r8_unorm, extent});
    upload(shares.view(), test::pattern(30, 3));
    const Texture mask(shares);
    const Colors red = fetched_colors(mask);
    for (const BlendMode mode : kModes) {
        const Colors is = made_colors(device(), extent, [&](const Stream& stream, const View& image) {
            blend(stream, image, texture_of(below, extent), texture_of(above, extent), mask, {mode, 0.75f});
        });
        Colors expected;
        for (std::size_t i = 0; i < 30; ++i) expected.push_back(blended(mode, below[i], above[i], red[i].x * 0.75));
        EXPECT_TRUE(near_colors(is, expected, 1e-6)) << static_cast<int>(mode);
    }
}

TEST_P(LayersTest, AFormatWithoutAlphaIsOpaque) {
    const Array below(device(), {Format::rg8_unorm, {4, 4}});
    const Array above(device(), {Format::rg8_unorm, {4, 4}});
    const Array image(device(), {Format::rg8_unorm, {4, 4}});
    upload(below.view(), test::pattern(32, 1));
    upload(above.view(), test::pattern(32, 2));
    const Stream stream(device());
    blend(stream, image.view(), Texture(below), Texture(above));
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(test::download(image.view()), test::pattern(32, 2)));
}

TEST_P(LayersTest, TheDestinationCanBeTheBottomLayer) {
    Random random(3);
    const Colors below = premultiplied(random, 24);
    const Colors above = premultiplied(random, 24);
    const Array image = test::color_array(device(), {4, 3}, below, ArrayKind::layered_2d, 2);
    const Stream stream(device());
    blend(stream, image.view(), Texture(image), layered(above, {4, 3}, 2));
    stream.synchronize();
    Colors expected;
    for (std::size_t i = 0; i < 24; ++i) expected.push_back(blended(BlendMode::over, below[i], above[i], 1));
    EXPECT_TRUE(near_colors(colors_of(image.view()), expected, 1e-6));
}

// --- layers ----------------------------------------------------------------------------------------------------------

TEST_P(LayersTest, ALayerIsExtractedUnchanged) {
    Random random(4);
    for (const Format format : {Format::rgba8_unorm, Format::r16_uint, Format::rg16_sint, Format::rgba16_float}) {
        const ArrayInfo info{.format = format, .extent = {5, 3}, .kind = ArrayKind::layered_2d, .layers = 4};
        const Array from(device(), info);
        const test::Bytes texels = test::random_texels(random, format, packed_bytes(info));
        upload(from.view(), texels);
        const std::size_t bytes = texels.size() / 4;
        for (const std::size_t index : {0, 1, 3}) {
            const Array to(device(), {format, {5, 3}});
            const Stream stream(device());
            layer(stream, to.view(), Texture(from), static_cast<float>(index));
            stream.synchronize();
            EXPECT_TRUE(test::same_bytes(test::download(to.view()), std::span(texels).subspan(index * bytes, bytes)));
        }
    }
}

TEST_P(LayersTest, FractionalLayersInterpolateTwoLayers) {
    Random random(5);
    const Colors colors = test::random_colors(random, 45);
    const Texture texture = layered(colors, {5, 3}, 3);
    const Colors is = made_colors(
        device(), {5, 3}, [&](const Stream& stream, const View& image) { layer(stream, image, texture, 1.25f); });
    Colors expected;
    for (std::size_t i = 0; i < 15; ++i) expected.push_back(colors[15 + i] * 0.75f + colors[30 + i] * 0.25f);
    EXPECT_TRUE(near_colors(is, expected, 1e-6));
}

TEST_P(LayersTest, LayersAreSummedByTheirWeights) {
    Random random(6);
    for (const std::size_t layers : {std::size_t{1}, std::size_t{3}, std::size_t{100}, kMaxSummedLayers}) {
        const Extent extent{3, 2};
        const Colors colors = test::random_colors(random, layers * 6, -1, 1);
        const Texture texture = layered(colors, extent, layers);
        std::vector<float> weights;
        for (std::size_t i = 0; i < layers; ++i) weights.push_back(random.unit() * 4 - 2);
        for (const bool mean : {false, true}) {
            const Colors is = made_colors(device(), extent, [&](const Stream& stream, const View& image) {
                if (mean) return layer_sum(stream, image, texture);
                layer_sum(stream, image, texture, weights);
            });
            Colors expected;
            for (std::size_t i = 0; i < 6; ++i) {
                double sum[4] = {0, 0, 0, 0};
                for (std::size_t k = 0; k < layers; ++k) {
                    const double weight = mean ? 1.0 / static_cast<double>(layers) : weights[k];
                    for (std::size_t c = 0; c < 4; ++c) sum[c] += weight * (&colors[k * 6 + i].x)[c];
                }
                expected.push_back({static_cast<float>(sum[0]), static_cast<float>(sum[1]), static_cast<float>(sum[2]),
                                    static_cast<float>(sum[3])});
            }
            // Each product and each sum is rounded. With random signs the sums stay below 64.
            const double bound = std::ldexp(static_cast<double>(2 * layers), -19) + 1e-6;
            EXPECT_TRUE(near_colors(is, expected, bound)) << layers;
        }
    }
}

// --- by name, and invalid requests -----------------------------------------------------------------------------------

TEST_P(LayersTest, NamedKernelsMatchTheFunctions) {
    Random random(7);
    const Extent extent{3, 2};
    const Texture bottom = texture_of(premultiplied(random, 6), extent);
    const Texture top = texture_of(premultiplied(random, 6), extent);
    const Texture mask = texture_of(premultiplied(random, 6), extent);
    const Texture layers = layered(test::random_colors(random, 18), extent, 3);
    const auto by_name = [&](const char* name, std::vector<Texture> inputs,
                             const std::map<std::string, ParameterValue>& values) {
        const Kernel& kernel = kernel_named(name);
        const Arguments arguments(kernel.info, values);
        EXPECT_EQ(shapes(kernel, arguments, inputs).at(0).extent, extent);
        return made_colors(device(), extent, [&](const Stream& stream, const View& image) {
            const View images[] = {image};
            enqueue(kernel, stream, images, arguments, inputs);
        });
    };
    const auto directly = [&](const std::function<void(const Stream&, const View&)>& enqueue) {
        return made_colors(device(), extent, enqueue);
    };
    EXPECT_EQ(by_name("blend", {bottom, top}, {{"mode", std::string("screen")}, {"opacity", 0.5}}),
              directly([&](const Stream& stream, const View& image) {
                  blend(stream, image, bottom, top, {BlendMode::screen, 0.5f});
              }));
    EXPECT_EQ(by_name("blend_masked", {bottom, top, mask}, {{"mode", std::string("lerp")}}),
              directly([&](const Stream& stream, const View& image) {
                  blend(stream, image, bottom, top, mask, {BlendMode::lerp});
              }));
    EXPECT_EQ(by_name("layer", {layers}, {{"layer", 0.5}}),
              directly([&](const Stream& stream, const View& image) { layer(stream, image, layers, 0.5f); }));
    EXPECT_EQ(by_name("layer_sum", {layers}, {{"weights", std::vector<double>{1, -2, 3}}}),
              directly([&](const Stream& stream, const View& image) {
                  layer_sum(stream, image, layers, std::array{1.0f, -2.0f, 3.0f});
              }));
    EXPECT_EQ(by_name("layer_sum", {layers}, {}),
              directly([&](const Stream& stream, const View& image) { layer_sum(stream, image, layers); }));
}

TEST_P(LayersTest, InvalidTexturesAndNumbersAreRefusedAndNamed) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    Random random(8);
    const Texture small = texture_of(test::random_colors(random, 4), {2, 2});
    const Texture wide = texture_of(test::random_colors(random, 6), {3, 2});
    const Texture layers = layered(test::random_colors(random, 12), {2, 2}, 3);
    const Texture integers(
        Array(device(), {.format = Format::r8_uint, .extent = {2, 2}, .kind = ArrayKind::layered_2d, .layers = 2}));
    const Texture many = layered(Colors(4 * (kMaxSummedLayers + 1)), {2, 2}, kMaxSummedLayers + 1);
    const Linear memory(device(), Format::rgba32_float, {2, 2});
    const View image = memory.view(Format::rgba32_float, {2, 2});
    const Stream stream(device());
    const auto refused = [](const char* object, std::initializer_list<std::string_view> fragments,
                            const std::function<void()>& action) {
        expect_error(action, ErrorCode::bad_argument, object, fragments);
    };
    refused("texton::blend", {"top", "3 x 2"}, [&] { blend(stream, image, small, wide); });
    refused("texton::blend", {"bottom", "3 x 2"}, [&] { blend(stream, image, wide, small); });
    refused("texton::blend", {"mask", "3 x 2"}, [&] { blend(stream, image, small, small, wide); });
    refused("texton::blend", {"3 layers"}, [&] { blend(stream, image, layers, small); });
    refused("texton::blend", {"opacity", "1.5", "0 to 1"},
            [&] { blend(stream, image, small, small, {.opacity = 1.5f}); });
    refused("texton::layer", {"array_2d", "layered_2d"}, [&] { layer(stream, image, small, 0); });
    refused("texton::layer", {"layer", "3", "0 to 2"}, [&] { layer(stream, image, layers, 3); });
    refused("texton::layer", {"layer", "-0.5"}, [&] { layer(stream, image, layers, -0.5f); });
    refused("texton::layer", {"layer", "nan"}, [&] { layer(stream, image, layers, kNan); });
    refused("texton::layer", {"r8_uint", "integers"}, [&] { layer(stream, image, integers, 0.5f); });
    refused("texton::layer_sum", {"r8_uint"}, [&] { layer_sum(stream, image, integers); });
    refused("texton::layer_sum", {"layers", "513"}, [&] { layer_sum(stream, image, many); });
    refused("texton::layer_sum", {"2 weights", "3 layers", "one weight per layer"}, [&] {
        layer_sum(stream, image, layers, std::array{1.0f, 2.0f});
    });
    refused("texton::layer_sum", {"weight", "nan"}, [&] {
        layer_sum(stream, image, layers, std::array{1.0f, kNan, 0.0f});
    });
}

}  // namespace
}  // namespace texton
