// Compares percentiles with sorted values.
#include <texton/percentiles.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include <texton/kernel.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kShares[] = {0, 0.001, 0.25, 0.5, 0.75, 0.999, 1};

std::uint32_t bits(float value) {
    std::uint32_t out;
    std::memcpy(&out, &value, sizeof out);
    return out;
}

class PercentilesTest : public test::OnEveryDevice {
protected:
    Texture texture_of(const ArrayInfo& info, std::span<const std::byte> texels, const Sampler& sampler = {}) const {
        const Array array(device(), info);
        test::upload(array.view(), texels);
        return Texture(array, sampler);
    }
    Texture texture_of(Extent extent, const std::vector<float>& values) const {
        return texture_of({Format::r32_float, extent}, std::as_bytes(std::span(values)));
    }
    std::vector<std::array<float, 4>> found(const Texture& texture, std::span<const double> shares = kShares) const {
        return percentiles(Stream(device()), texture, shares);
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, PercentilesTest, test::every_device(), test::device_label);

// Returns the value of a share among sorted values.
float sorted_value(std::vector<float> values, double share) {
    std::ranges::sort(values,
                      [](float a, float b) { return a < b || (a == b && std::signbit(a) && !std::signbit(b)); });
    const auto count = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(count, 1) - 1];
}

// Images of at most 65,536 texels in at most 16 layers are sorted; in others, values are counted.

void expect_sorted_values(const std::function<std::vector<std::array<float, 4>>(const std::vector<float>&)>& found,
                          std::size_t texels) {
    test::Random random(3);
    std::vector<float> values(texels);
    for (float& value : values) {
        const auto word = static_cast<std::uint32_t>(random.bits());
        value = word % 7 == 0
                    ? (word & 8 ? 0.0f : -0.0f)
                    : std::ldexp(static_cast<float>(static_cast<std::int32_t>(word)), static_cast<int>(word % 90) - 70);
    }
    const auto all = found(values);
    for (std::size_t i = 0; i < std::size(kShares); ++i) {
        EXPECT_EQ(bits(all[i][0]), bits(sorted_value(values, kShares[i]))) << kShares[i];
        for (std::size_t c = 1; c < 4; ++c) EXPECT_TRUE(std::isnan(all[i][c]));
    }
}

TEST_P(PercentilesTest, EveryShareIsAValueOfTheSortedTexels) {
    for (const Extent extent : {Extent{173, 91}, Extent{256, 256}, Extent{317, 211}}) {
        SCOPED_TRACE(to_string(extent));
        expect_sorted_values([&](const std::vector<float>& values) { return found(texture_of(extent, values)); },
                             extent.width * extent.height);
    }
}

TEST_P(PercentilesTest, EachChannelAndLayerOfCodesCounts) {
    for (const std::size_t layers : {std::size_t{3}, std::size_t{17}}) {
        const ArrayInfo info{
            .format = Format::rgba8_unorm, .extent = {64, 5}, .kind = ArrayKind::layered_2d, .layers = layers};
        const test::Bytes texels = test::pattern(packed_bytes(info), 5);
        for (const bool normalized : {false, true}) {
            const auto all =
                found(texture_of(info, texels, {.filter = Filter::linear, .normalized_coordinates = normalized}));
            for (std::size_t c = 0; c < 4; ++c) {
                std::vector<float> values;
                for (std::size_t i = c; i < texels.size(); i += 4)
                    values.push_back(static_cast<float>(static_cast<int>(texels[i])) / 255.0f);
                for (std::size_t i = 0; i < std::size(kShares); ++i)
                    EXPECT_EQ(all[i][c], sorted_value(values, kShares[i])) << layers << ' ' << c << ' ' << kShares[i];
            }
        }
    }
}

// Returns the values again and again: as many as an image of 512 x 256 texels has.
template <class Value>
std::vector<Value> repeated(const std::vector<Value>& values) {
    std::vector<Value> out(512 * 256);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = values[i % values.size()];
    return out;
}

TEST_P(PercentilesTest, ValuesThatAreNotFiniteDoNotCount) {
    const double shares[] = {0, 0.5, 1};
    const std::vector<float> values{kNan, kInfinity, 2, -kInfinity, -3};
    for (const auto& some :
         {found(texture_of({5, 1}, values), shares), found(texture_of({512, 256}, repeated(values)), shares)}) {
        EXPECT_EQ(some[0][0], -3);
        EXPECT_EQ(some[2][0], 2);
    }
    EXPECT_EQ(found(texture_of({5, 1}, values), shares)[1][0], -3);
    const std::vector<float> none{kNan, kInfinity};
    EXPECT_TRUE(std::isnan(found(texture_of({2, 1}, none), shares)[1][0]));
    EXPECT_TRUE(std::isnan(found(texture_of({512, 256}, repeated(none)), shares)[1][0]));
    EXPECT_TRUE(found(texture_of({1, 1}, {1}), {}).empty());
}

TEST_P(PercentilesTest, IntegersAreConverted) {
    const double shares[] = {0, 0.5, 1};
    const std::vector<std::uint16_t> codes{7, 65535, 9, 8};
    const std::vector<std::uint16_t> many = repeated(codes);
    const auto of = [&](Format format, const std::vector<std::uint16_t>& texels, Extent extent) {
        return found(texture_of({.format = format, .extent = extent}, std::as_bytes(std::span(texels))), shares);
    };
    for (const auto& all : {of(Format::r16_uint, codes, {4}), of(Format::r16_uint, many, {512, 256})}) {
        EXPECT_EQ(all[0][0], 7);
        EXPECT_EQ(all[1][0], 8);
        EXPECT_EQ(all[2][0], 65535);
    }
    for (const auto& all : {of(Format::r16_sint, codes, {4}), of(Format::r16_sint, many, {512, 256})}) {
        EXPECT_EQ(all[0][0], -1);
        EXPECT_EQ(all[1][0], 7);
        EXPECT_EQ(all[2][0], 9);
    }
}

TEST_P(PercentilesTest, WrongArgumentsAreRefused) {
    const Texture texture = texture_of({2, 1}, {1, 2});
    for (const double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
        (void)test::expect_error([&] { (void)found(texture, std::span(&share, 1)); }, ErrorCode::bad_argument,
                                 "texton::percentiles", {"a share is", "0 to 1"});
    }
    const Texture volume = texture_of({.extent = {4, 4, 2}, .kind = ArrayKind::array_3d}, test::Bytes(128));
    (void)test::expect_error([&] { (void)found(volume); }, ErrorCode::bad_argument, "texton::percentiles",
                             {"array_3d"});
}

TEST(PercentilesParityTest, DevicesReturnTheSameBits) {
    for (const Extent extent : {Extent{301, 77}, Extent{301, 277}}) {
        std::vector<std::vector<std::array<float, 4>>> all;
        for (const Device& device : test::one_of_each_kind()) {
            const ArrayInfo info{.format = Format::rgba16_float, .extent = extent};
            const Array array(device, info);
            test::upload(array.view(), test::pattern(packed_bytes(info), 11));
            all.push_back(percentiles(Stream(device), Texture(array), kShares));
        }
        for (const auto& other : all) {
            for (std::size_t i = 0; i < std::size(kShares); ++i) {
                for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(bits(other[i][c]), bits(all.front()[i][c]));
            }
        }
    }
}

}  // namespace
}  // namespace texton
