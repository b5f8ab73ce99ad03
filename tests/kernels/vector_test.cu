// Float4 and Float3: the functions on the host, and the same bits in functors on each device.
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/array.h>
#include <texton/copy.h>
#include <texton/float3.h>
#include <texton/launch.h>
#include <texton/linear.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

constexpr int kFunctions = 16;

// Every function of Float4 and Float3, by number.
TEXTON_HD Float4 result_of(int function, const Float4& a, const Float4& b) {
    const Float3 p = rgb_of(a), q = rgb_of(b);
    Float4 changed = a;
    switch (function) {
        case 0: return a / b;
        case 1: return -a;
        case 2: return a / b.x;
        case 3: return changed -= b;
        case 4: return changed *= b;
        case 5: return changed *= b.x;
        case 6: return changed /= b;
        case 7: return changed /= b.x;
        case 8: return Float4::all(dot(a, b));
        case 9: return saturate(a);
        case 10: return with_alpha(cross(p, q), dot(p, q));
        case 11: return with_alpha(normalize(p), length(q));
        case 12: return with_alpha((p + q) / (p - q), 1);
        case 13: return with_alpha(-p * q / 3.0f, 1);
        case 14: return with_alpha(2.0f * p * 0.5f + Float3::all(b.w), 1);
        default: return mix(a, b, 0.25f);
    }
}

struct EachFunction {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return result_of(at.y, source.at_texel(at.center_x(), 0.5f), source.at_texel(at.center_x(), 1.5f));
    }
};

TEST(VectorTest, OperatorsWorkOnEachChannel) {
    const Float4 a{1, 2, 3, 4}, b{2, 4, 8, 16};
    EXPECT_EQ(a / b, (Float4{0.5f, 0.5f, 0.375f, 0.25f}));
    EXPECT_EQ(-a, (Float4{-1, -2, -3, -4}));
    EXPECT_EQ(b / 2, (Float4{1, 2, 4, 8}));
    EXPECT_EQ(dot(a, b), 98.0f);
    EXPECT_EQ(Float4::all(3), (Float4{3, 3, 3, 3}));
    Float4 changed = b;
    changed -= a;
    changed *= a;
    changed *= 2;
    changed /= a;
    changed /= 2;
    EXPECT_EQ(changed, b - a);
}

TEST(VectorTest, SaturateClampsToTheRangeFromZeroToOne) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(saturate({-1, 0.25f, 2, none}), (Float4{0, 0.25f, 1, 0}));
}

TEST(VectorTest, CrossProductsArePerpendicularAndNormalizedVectorsHaveLengthOne) {
    const Float3 a{3, 0, 4}, b{0, 5, 0};
    EXPECT_EQ(cross(a, b), (Float3{-20, 0, 15}));
    EXPECT_EQ(dot(cross(a, b), a), 0.0f);
    EXPECT_EQ(length(a), 5.0f);
    EXPECT_EQ(normalize(a), (Float3{0.6f, 0, 0.8f}));
    EXPECT_EQ(normalize(Float3{}), Float3{});
    Float3 changed = a;
    changed += b;
    changed -= a;
    changed *= 0.5f;
    EXPECT_EQ(changed, (Float3{0, 2.5f, 0}));
}

class VectorDeviceTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, VectorDeviceTest, test::every_device(), test::device_label);

TEST_P(VectorDeviceTest, FunctorsComputeTheBitsOfTheHost) {
    constexpr std::size_t kColumns = 64;
    test::Random random(1);
    std::vector<Float4> texels(2 * kColumns);
    for (Float4& texel : texels) {
        for (float* channel : {&texel.x, &texel.y, &texel.z, &texel.w}) *channel = 4 * random.unit() - 2;
    }
    const Array array(device(), {.format = Format::rgba32_float, .extent = {kColumns, 2}});
    copy(array.view(), host_view(texels.data(), Format::rgba32_float, {kColumns, 2}));
    const Extent extent{kColumns, kFunctions};
    const Linear pixels(device(), Format::rgba32_float, extent);
    const Stream stream(device());
    launch(stream, pixels.view(Format::rgba32_float, extent), EachFunction{}, Texture(array));
    std::vector<Float4> results(kColumns * kFunctions);
    copy(host_view(results.data(), Format::rgba32_float, extent), pixels.view(Format::rgba32_float, extent), stream);
    stream.synchronize();
    for (std::size_t i = 0; i < results.size(); ++i) {
        const std::size_t column = i % kColumns;
        const Float4 expected = result_of(static_cast<int>(i / kColumns), texels[column], texels[kColumns + column]);
        EXPECT_EQ(std::memcmp(&results[i], &expected, sizeof(expected)), 0) << "function " << i / kColumns;
    }
}

struct HighWords {
    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Integers texel = source.integers_at_texel(at.center_x(), at.center_y());
        // The lowest byte, which a float of this size does not have.
        return {static_cast<float>(texel.x & 0xff), static_cast<float>(texel.y & 0xff), texel.x < 0 ? 1.0f : 0.0f, 0};
    }
};

TEST_P(VectorDeviceTest, IntegersOfThirtyTwoBitsAreReadExactly) {
    for (const Format format : {Format::rg32_uint, Format::rg32_sint}) {
        SCOPED_TRACE(name(format));
        const std::uint32_t texel[2] = {0xfffffff1u, 0x7ffffff3u};
        const Array array(device(), {.format = format, .extent = {1, 1}});
        copy(array.view(), host_view(texel, format, {1, 1}));
        const Linear pixel(device(), Format::rgba32_float, {1, 1});
        const Stream stream(device());
        launch(stream, pixel.view(Format::rgba32_float, {1, 1}), HighWords{}, Texture(array));
        Float4 result;
        copy(host_view(&result, Format::rgba32_float, {1, 1}), pixel.view(Format::rgba32_float, {1, 1}), stream);
        stream.synchronize();
        EXPECT_EQ(result, (Float4{0xf1, 0xf3, format == Format::rg32_sint ? 1.0f : 0.0f, 0}));
    }
}

TEST_P(VectorDeviceTest, IntegersOfAFloatTextureAreZero) {
    const Float4 texel{1, 2, 3, 4};
    const Array array(device(), {.format = Format::rgba32_float, .extent = {1, 1}});
    copy(array.view(), host_view(&texel, Format::rgba32_float, {1, 1}));
    const Linear pixel(device(), Format::rgba32_float, {1, 1});
    const Stream stream(device());
    launch(stream, pixel.view(Format::rgba32_float, {1, 1}), HighWords{}, Texture(array));
    Float4 result{9, 9, 9, 9};
    copy(host_view(&result, Format::rgba32_float, {1, 1}), pixel.view(Format::rgba32_float, {1, 1}), stream);
    stream.synchronize();
    EXPECT_EQ(result, Float4{});
}

}  // namespace
}  // namespace texton
