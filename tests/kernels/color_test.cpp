// Compares color kernels with double-precision results, pixel by pixel.
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/color.h>
#include <texton/kernel.h>
#include <texton/pitched.h>

#include "arrays/texture_state.h"
#include "tests/support/colors.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::Colors;
using test::colors_of;
using test::download;
using test::expect_error;
using test::fetched_colors;
using test::made_colors;
using test::near_colors;
using test::Random;
using test::upload;

using Enqueue = std::function<void(const Stream&, const View&)>;
using Change = std::function<double(double)>;

Extent image_extent(const Texture& texture) {
    Extent extent = texture.extent();
    if (is_layered(texture.kind())) extent.depth = texture.layers();
    return extent;
}

/// Applies the function to red, green and blue; alpha is unchanged.
Colors changed(const Colors& colors, const Change& change) {
    Colors all;
    for (const Float4& color : colors) {
        all.push_back({static_cast<float>(change(color.x)), static_cast<float>(change(color.y)),
                       static_cast<float>(change(color.z)), color.w});
    }
    return all;
}

double linear_of(double value) {
    const double size = std::abs(value);
    return std::copysign(size <= 0.04045 ? size / 12.92 : std::pow((size + 0.055) / 1.055, 2.4), value);
}

double srgb_of(double value) {
    const double size = std::abs(value);
    return std::copysign(size <= 0.0031308 ? size * 12.92 : 1.055 * std::pow(size, 1 / 2.4) - 0.055, value);
}

double reinhard(double value, double white) {
    const double x = std::max(value, 0.0);
    return x * (1 + x / (white * white)) / (1 + x);
}

double hable(double x) {
    const double a = 0.15, b = 0.5, c = 0.1, d = 0.2, e = 0.02, f = 0.3;
    return (x * (a * x + c * b) + d * e) / (x * (a * x + b) + d * f) - e / f;
}

double aces(double value) {
    const double x = std::max(value, 0.0);
    return std::min(1.0, x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14));
}

class ColorTest : public test::OnEveryDevice {
protected:
    Texture texture_of(const ArrayInfo& info, const Sampler& sampler = {}) const {
        Random random(3);
        const Array array(device(), info);
        upload(array.view(), test::random_texels(random, info.format, packed_bytes(info)));
        return Texture(array, sampler);
    }
    Texture texture_of(const Colors& colors, Extent extent) const {
        return Texture(test::color_array(device(), extent, colors));
    }
    /// Creates a row of values from `low` to `high`.
    Texture ramp(float low, float high, std::size_t count = 801) const {
        Colors colors;
        for (std::size_t i = 0; i < count; ++i) {
            const float value = low + (high - low) * static_cast<float>(i) / static_cast<float>(count - 1);
            colors.push_back({value, value * 0.75f, -value, 0.5f});
        }
        return texture_of(colors, {count});
    }
    Colors made(const Texture& texture, const Enqueue& enqueue) const {
        return made_colors(device(), image_extent(texture), enqueue);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, ColorTest, test::every_device(), test::device_label);

constexpr ColorMatrix kTwisted{{{0.5f, -0.25f, 2, 0.125f}, {0, 1, 0.5f, -1}, {3, 0, 0, 0.0625f}}};

Colors twisted(const Colors& colors) {
    Colors all;
    for (const Float4& color : colors) {
        float sums[3];
        for (int i = 0; i < 3; ++i) {
            const float* row = kTwisted.row[i];
            sums[i] = static_cast<float>(static_cast<double>(row[0]) * color.x + static_cast<double>(row[1]) * color.y +
                                         static_cast<double>(row[2]) * color.z + row[3]);
        }
        all.push_back({sums[0], sums[1], sums[2], color.w});
    }
    return all;
}

// --- results ---------------------------------------------------------------------------------------------------------

TEST_P(ColorTest, AColorMatrixAppliesToEveryFormatKindAndSize) {
    for (const Format format : {Format::rgba8_unorm, Format::rgba32_float, Format::r32_float, Format::rgba16_float,
                                Format::rgba8_srgb, Format::rg16_unorm, Format::rgba8_snorm}) {
        for (const Extent& extent : {Extent{1, 1}, Extent{7, 5}, Extent{131, 3}}) {
            for (const bool layered : {false, true}) {
                const ArrayKind kind = layered ? ArrayKind::layered_2d : ArrayKind::array_2d;
                const ArrayInfo info{.format = format, .extent = extent, .kind = kind, .layers = layered ? 3U : 1U};
                SCOPED_TRACE(test::describe(info));
                const Sampler smooth{.filter = Filter::linear, .normalized_coordinates = true};
                const Texture texture = texture_of(info, layered ? smooth : Sampler{});
                const Colors from = fetched_colors(detail::by_points(texture));
                const Colors is = made(texture, [&](const Stream& stream, const View& image) {
                    color_matrix(stream, image, texture, kTwisted);
                });
                const Colors expected = twisted(from);
                for (std::size_t i = 0; i < is.size();
                     ++i) {  // rounded seven times, each time relative to the largest term
                    const float maximum =
                        std::max({std::abs(from[i].x), std::abs(from[i].y), std::abs(from[i].z), 1.0f});
                    const double bound = 16 * std::ldexp(static_cast<double>(maximum), -24);
                    EXPECT_NEAR(is[i].x, expected[i].x, bound);
                    EXPECT_NEAR(is[i].y, expected[i].y, bound);
                    EXPECT_NEAR(is[i].z, expected[i].z, bound);
                    EXPECT_EQ(is[i].w, from[i].w);
                }
            }
        }
    }
}

TEST_P(ColorTest, TheDefaultMatrixChangesNothing) {
    const Texture texture = ramp(-3, 3);
    const Colors is =
        made(texture, [&](const Stream& stream, const View& image) { color_matrix(stream, image, texture, {}); });
    EXPECT_EQ(is, fetched_colors(texture));
}

TEST_P(ColorTest, TransferFollowsTheSrgbCurveAndMirrorsItBelowZero) {
    const Texture texture = ramp(-4, 4, 2001);
    const Colors linear = made(texture, [&](const Stream& stream, const View& image) {
        transfer(stream, image, texture, Transfer::to_linear);
    });
    EXPECT_TRUE(near_colors(linear, changed(fetched_colors(texture), linear_of), 2e-6));
    const Colors encoded = made(
        texture, [&](const Stream& stream, const View& image) { transfer(stream, image, texture, Transfer::to_srgb); });
    EXPECT_TRUE(near_colors(encoded, changed(fetched_colors(texture), srgb_of), 1e-6));
}

TEST_P(ColorTest, All8BitCodesRoundTripThroughLinearLight) {
    test::Bytes codes(1024);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i / 4);
    const Array array(device(), {Format::rgba8_unorm, {256}});
    upload(array.view(), codes);
    const Linear linear(device(), Format::rgba32_float, {256, 2});  // textures of pitched memory need at least two rows
    const View light = linear.view(Format::rgba32_float, {256, 2});
    const Linear encoded(device(), Format::rgba8_unorm, {256, 2});
    const Stream stream(device());
    transfer(stream, light.region({{}, {256, 1}}), Texture(array), Transfer::to_linear);
    transfer(stream, light.region({{0, 1}, {256, 1}}), Texture(array), Transfer::to_linear);
    transfer(stream, encoded.view(Format::rgba8_unorm, {256, 2}), Texture(light), Transfer::to_srgb);
    stream.synchronize();
    const test::Bytes is = download(encoded.view(Format::rgba8_unorm, {256, 1}));
    EXPECT_TRUE(test::same_bytes(is, codes));
}

TEST_P(ColorTest, TransferToLinearMatchesAnSrgbTexture) {
    const ArrayInfo info{Format::rgba8_unorm, {16, 16}};
    const Array array(device(), info);
    test::Bytes codes(1024);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::byte>(i / 4);
    upload(array.view(), codes);
    const Texture stored(array);
    const Texture light(array, {}, {.format = Format::rgba8_srgb});
    const Colors is = made(
        stored, [&](const Stream& stream, const View& image) { transfer(stream, image, stored, Transfer::to_linear); });
    // The table of the hardware uses a slightly different curve: the difference is at most half the distance of two
    // bright codes.
    EXPECT_TRUE(near_colors(is, fetched_colors(light), 1.0 / 256));
}

TEST_P(ColorTest, ExposureDoublesTheColorPerStop) {
    const Texture texture = ramp(-1, 5);
    for (const float stops : {0.0f, 1.0f, -3.0f, 64.0f, -64.0f}) {
        const Colors is =
            made(texture, [&](const Stream& stream, const View& image) { exposure(stream, image, texture, stops); });
        EXPECT_EQ(is, changed(fetched_colors(texture),
                              [&](double value) { return std::ldexp(value, static_cast<int>(stops)); }));
    }
    const Colors half =
        made(texture, [&](const Stream& stream, const View& image) { exposure(stream, image, texture, 0.5f); });
    EXPECT_TRUE(near_colors(half, changed(fetched_colors(texture), [](double x) { return x * std::sqrt(2.0); }), 5e-7));
}

TEST_P(ColorTest, GradingAppliesContrastBeforeSaturation) {
    Random random(5);
    const Texture texture = texture_of(test::random_colors(random, 21, -1, 3), {7, 3});
    for (const Grade& by : {Grade{}, Grade{.contrast = 1.5f, .saturation = 0.25f}, Grade{0, 2, 0.5f}, Grade{2, 0, 1}}) {
        const Colors is =
            made(texture, [&](const Stream& stream, const View& image) { grade(stream, image, texture, by); });
        Colors expected;
        for (const Float4& color : fetched_colors(texture)) {
            const double channels[] = {color.x, color.y, color.z};
            double sized[3];
            for (int i = 0; i < 3; ++i) sized[i] = by.gray + (channels[i] - by.gray) * by.contrast;
            const double luminance = 0.2126 * sized[0] + 0.7152 * sized[1] + 0.0722 * sized[2];
            for (double& value : sized) value = luminance + (value - luminance) * by.saturation;
            expected.push_back(
                {static_cast<float>(sized[0]), static_cast<float>(sized[1]), static_cast<float>(sized[2]), color.w});
        }
        EXPECT_TRUE(near_colors(is, expected, 4e-6));
    }
}

TEST_P(ColorTest, ToneCurvesMatchTheirDefinitions) {
    const Texture texture = ramp(-2, 30);
    const float white = 8;
    const auto mapped = [&](ToneCurve curve) {
        return made(texture,
                    [&](const Stream& stream, const View& image) { tone_curve(stream, image, texture, curve, white); });
    };
    const Colors from = fetched_colors(texture);
    EXPECT_TRUE(
        near_colors(mapped(ToneCurve::reinhard), changed(from, [&](double x) { return reinhard(x, white); }), 1e-6));
    EXPECT_TRUE(near_colors(mapped(ToneCurve::filmic),
                            changed(from, [&](double x) { return hable(std::max(x, 0.0)) / hable(white); }), 2e-6));
    EXPECT_TRUE(near_colors(mapped(ToneCurve::aces), changed(from, aces), 1e-6));
}

TEST_P(ColorTest, ToneCurvesMapBlackToZeroAndWhiteToOne) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Texture texture = texture_of({{0, 4, -1, 0.25f}, {kInfinity, 0, -kInfinity, 2}}, {2});
    for (const ToneCurve curve : {ToneCurve::reinhard, ToneCurve::filmic, ToneCurve::aces}) {
        const Colors is = made(
            texture, [&](const Stream& stream, const View& image) { tone_curve(stream, image, texture, curve, 4); });
        EXPECT_EQ(is[0].x, 0);
        EXPECT_EQ(is[0].z, 0);
        EXPECT_EQ(is[0].w, 0.25f);
        EXPECT_TRUE(std::isfinite(is[1].x));
        EXPECT_GE(is[1].x, 1);
        EXPECT_EQ(is[1].z, 0);
        if (curve != ToneCurve::aces) {
            EXPECT_NEAR(is[0].y, 1, 2e-7);
        }
    }
}

TEST_P(ColorTest, PremultiplyingAndUnpremultiplyingAlphaRoundTrips) {
    Random random(7);
    Colors colors = test::random_colors(random, 15, 0.25f, 1);
    colors[3].w = 0;
    const Texture texture = texture_of(colors, {5, 3});
    const Colors multiplied = made(texture, [&](const Stream& stream, const View& image) {
        change_alpha(stream, image, texture, AlphaChange::premultiply);
    });
    for (std::size_t i = 0; i < colors.size(); ++i) {
        const Float4& from = colors[i];
        EXPECT_EQ(multiplied[i], (Float4{from.x * from.w, from.y * from.w, from.z * from.w, from.w}));
    }
    const Texture product = texture_of(multiplied, {5, 3});
    const Colors divided = made(product, [&](const Stream& stream, const View& image) {
        change_alpha(stream, image, product, AlphaChange::unpremultiply);
    });
    colors[3] = {};
    EXPECT_TRUE(near_colors(divided, colors, 2e-7));
}

TEST_P(ColorTest, AFormatWithoutAlphaIsOpaque) {
    const Texture texture = texture_of({.format = Format::rg8_unorm, .extent = {9, 2}});
    Colors expected = fetched_colors(texture);
    for (Float4& color : expected) color.w = 1;
    for (const AlphaChange change : {AlphaChange::premultiply, AlphaChange::unpremultiply}) {
        EXPECT_EQ(made(texture,
                       [&](const Stream& stream, const View& image) { change_alpha(stream, image, texture, change); }),
                  expected);
    }
}

TEST_P(ColorTest, SwizzleLettersSelectTheChannels) {
    const Texture texture = texture_of({{2, 3, 4, 5}}, {1});
    const auto swizzled = [&](std::string_view channels) {
        return made(texture,
                    [&](const Stream& stream, const View& image) { swizzle(stream, image, texture, channels); })[0];
    };
    EXPECT_EQ(swizzled("rgba"), (Float4{2, 3, 4, 5}));
    EXPECT_EQ(swizzled("bgra"), (Float4{4, 3, 2, 5}));
    EXPECT_EQ(swizzled("a10g"), (Float4{5, 1, 0, 3}));
}

// --- destinations ----------------------------------------------------------------------------------------------------

TEST_P(ColorTest, TheDestinationCanBeTheSource) {
    const Extent extent{37, 21};
    Random random(9);
    const Colors colors = test::random_colors(random, 37 * 21);
    const Pitched2D memory(device(), Format::rgba32_float, extent);
    const Array array = test::color_array(device(), extent, colors);
    upload(memory.view(), std::as_bytes(std::span(colors)));
    const Stream stream(device());
    swizzle(stream, memory.view(), Texture(memory.view()), "gbar");
    swizzle(stream, array.view(), Texture(array), "gbar");
    stream.synchronize();
    Colors expected;
    for (const Float4& color : colors) expected.push_back({color.y, color.z, color.w, color.x});
    EXPECT_EQ(colors_of(memory.view()), expected);
    EXPECT_EQ(colors_of(array.view()), expected);
}

TEST_P(ColorTest, LayersOfATextureBecomeSlicesOfTheDestination) {
    Random random(10);
    const Colors colors = test::random_colors(random, 60);
    const Array from = test::color_array(device(), {5, 4}, colors, ArrayKind::layered_2d, 3);
    const Array to(device(), from.info());
    const Stream stream(device());
    exposure(stream, to.view(), Texture(from), 1);
    stream.synchronize();
    EXPECT_EQ(colors_of(to.view()), changed(colors, [](double x) { return 2 * x; }));
}

// --- by name ---------------------------------------------------------------------------------------------------------

TEST_P(ColorTest, NamedKernelsMatchTheFunctions) {
    Random random(11);
    const Texture texture = texture_of(test::random_colors(random, 35), {7, 5});
    const Texture inputs[] = {texture};
    using Values = std::map<std::string, ParameterValue>;
    const auto by_name = [&](const char* name, const Values& values) {
        const Kernel& kernel = kernel_named(name);
        const Arguments arguments(kernel.info, values);
        const std::vector<ImageShape> made_shapes = shapes(kernel, arguments, inputs);
        EXPECT_EQ(made_shapes.size(), 1U);
        EXPECT_EQ(made_shapes[0].extent, texture.extent());
        EXPECT_EQ(made_shapes[0].format, Format::rgba32_float);
        return made(texture, [&](const Stream& stream, const View& image) {
            const View images[] = {image};
            enqueue(kernel, stream, images, arguments, inputs);
        });
    };
    const auto directly = [&](const Enqueue& enqueue) { return made(texture, enqueue); };
    std::vector<double> numbers;
    for (const auto& row : kTwisted.row) numbers.insert(numbers.end(), std::begin(row), std::end(row));
    EXPECT_EQ(by_name("color_matrix", {{"matrix", numbers}}), directly([&](const Stream& stream, const View& image) {
                  color_matrix(stream, image, texture, kTwisted);
              }));
    EXPECT_EQ(by_name("transfer", {{"direction", std::string("to_srgb")}}),
              directly([&](const Stream& stream, const View& image) {
                  transfer(stream, image, texture, Transfer::to_srgb);
              }));
    EXPECT_EQ(by_name("exposure", {{"stops", 1.5}}),
              directly([&](const Stream& stream, const View& image) { exposure(stream, image, texture, 1.5f); }));
    EXPECT_EQ(by_name("grade", {{"contrast", 2.0}}), directly([&](const Stream& stream, const View& image) {
                  grade(stream, image, texture, {.contrast = 2});
              }));
    EXPECT_EQ(by_name("tone_curve", {{"curve", std::string("filmic")}}),
              directly([&](const Stream& stream, const View& image) {
                  tone_curve(stream, image, texture, ToneCurve::filmic);
              }));
    EXPECT_EQ(by_name("change_alpha", {}), directly([&](const Stream& stream, const View& image) {
                  change_alpha(stream, image, texture, AlphaChange::premultiply);
              }));
    EXPECT_EQ(by_name("swizzle", {{"order", std::string("bgr1")}}),
              directly([&](const Stream& stream, const View& image) { swizzle(stream, image, texture, "bgr1"); }));
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(ColorTest, InvalidNumbersAndSwizzleLettersAreRefusedAndNamed) {
    const Texture texture = ramp(0, 1, 4);
    const Linear memory(device(), Format::rgba32_float, {4});
    const View image = memory.view(Format::rgba32_float, {4});
    const Stream stream(device());
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const auto refused = [](const char* object, std::initializer_list<std::string_view> fragments,
                            const std::function<void()>& action) {
        expect_error(action, ErrorCode::bad_argument, object, fragments);
    };
    ColorMatrix broken;
    broken.row[1][2] = kNan;
    refused("texton::color_matrix", {"matrix", "nan"}, [&] { color_matrix(stream, image, texture, broken); });
    refused("texton::exposure", {"stops", "65", "-64 to 64"}, [&] { exposure(stream, image, texture, 65); });
    refused("texton::grade", {"contrast", "inf"}, [&] { grade(stream, image, texture, {.contrast = kInfinity}); });
    refused("texton::grade", {"saturation"}, [&] { grade(stream, image, texture, {.saturation = kNan}); });
    refused("texton::grade", {"gray"}, [&] { grade(stream, image, texture, {.gray = kNan}); });
    refused("texton::tone_curve", {"white", "0"}, [&] { tone_curve(stream, image, texture, ToneCurve::aces, 0); });
    refused("texton::swizzle", {"channels", "rgb"}, [&] { swizzle(stream, image, texture, "rgb"); });
    refused("texton::swizzle", {"channels", "rgbx"}, [&] { swizzle(stream, image, texture, "rgbx"); });
}

TEST_P(ColorTest, UnsupportedTexturesAreRefusedAndNamed) {
    const Linear memory(device(), 4096);
    const View image = memory.view(Format::rgba8_unorm, {4, 4});
    const Stream stream(device());
    const auto refused = [&](const ArrayInfo& info, std::initializer_list<std::string_view> fragments) {
        const Texture texture(Array(device(), info), {.normalized_coordinates = true});
        expect_error([&] { exposure(stream, image, texture, 0); }, ErrorCode::bad_argument, "texton::exposure",
                     fragments);
    };
    refused({Format::rgba8_unorm, {5, 4}}, {"4 x 4", "5 x 4"});
    refused({Format::rgba8_uint, {4, 4}}, {"rgba8_uint", "integers"});
    refused({.format = Format::rgba8_unorm, .extent = {4, 4, 4}, .kind = ArrayKind::array_3d}, {"array_3d"});
    refused({.format = Format::rgba8_unorm, .extent = {4, 4}, .kind = ArrayKind::layered_2d, .layers = 2},
            {"1 slices", "2 layers"});
}

}  // namespace
}  // namespace texton
