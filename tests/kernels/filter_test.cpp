// Compares filters with loops over texels in double precision.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <texton/filter.h>
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

constexpr double kRounding = 0x1p-24;  // relative rounding error of a float

using Color = std::array<double, 4>;

/// The texels of a layer and those up to `margin` texels around it, as point fetches return them.
class FetchedTexels {
public:
    FetchedTexels(const Texture& texture, std::size_t layer, int margin)
        : margin_(margin), width_(static_cast<int>(texture.extent().width) + 2 * margin) {
        const Extent extent = texture.extent();
        const bool fractions = texture.sampler().normalized_coordinates;
        const float x_unit = fractions ? 1.0F / static_cast<float>(extent.width) : 1.0F;
        const float y_unit = fractions ? 1.0F / static_cast<float>(extent.height) : 1.0F;
        std::vector<FetchPoint> points;
        for (int y = -margin; y < static_cast<int>(extent.height) + margin; ++y) {
            for (int x = -margin; x < static_cast<int>(extent.width) + margin; ++x) {
                points.push_back({.x = (static_cast<float>(x) + 0.5F) * x_unit,
                                  .y = (static_cast<float>(y) + 0.5F) * y_unit,
                                  .layer = static_cast<std::int32_t>(layer)});
            }
        }
        texels_ = sample(texture, points).texels;
        kind_ = info(texture.format()).kind;
    }

    Color operator()(int x, int y) const {
        const Texel& texel = texels_[static_cast<std::size_t>((y + margin_) * width_ + x + margin_)];
        Color color{};
        for (int c = 0; c < 4; ++c) {
            const bool integers = kind_ == FormatKind::uint || kind_ == FormatKind::sint;
            const double value = integers ? static_cast<double>(texel.channel[c]) : texel.as_float(c);
            color[static_cast<std::size_t>(c)] = value;
        }
        return color;
    }

private:
    int margin_;
    int width_;
    std::vector<Texel> texels_;
    FormatKind kind_;
};

/// An rgba32_float image.
struct Floats {
    Extent extent;
    std::vector<float> values;

    float at(int x, int y, std::size_t c, std::size_t z = 0) const {
        const std::size_t row = z * extent.height + static_cast<std::size_t>(y);
        return values[(row * extent.width + static_cast<std::size_t>(x)) * 4 + c];
    }
};

Extent image_extent(const Texture& texture) {
    Extent extent = texture.extent();
    extent.depth = texture.layers();
    return extent;
}

Floats floats_of(const View& image) {
    const Bytes bytes = download(image);
    Floats floats{image.extent(), std::vector<float>(bytes.size() / 4)};
    std::memcpy(floats.values.data(), bytes.data(), bytes.size());
    return floats;
}

/// Returns the image that `enqueue` writes, with the size of the texture.
template <class Enqueue>
Floats filtered(const Texture& texture, const Enqueue& enqueue) {
    const Extent extent = image_extent(texture);
    const Stream stream(texture.device());
    const Linear memory(texture.device(), Format::rgba32_float, extent);
    enqueue(stream, memory.view(Format::rgba32_float, extent));
    stream.synchronize();
    return floats_of(memory.view(Format::rgba32_float, extent));
}

Texture texture_of(const Device& device, const ArrayInfo& info, const Sampler& sampler, std::uint64_t seed) {
    const Array array(device, info);
    Random random(seed);
    upload(array.view(), test::random_texels(random, info.format, packed_bytes(info)));
    return Texture(array, sampler);
}

/// Creates a texture of the given floats.
Texture texture_of(const Device& device, Extent extent, const std::vector<float>& values) {
    const Array array(device, {Format::r32_float, extent});
    upload(array.view(), std::as_bytes(std::span(values)));
    return Texture(array);
}

std::vector<float> random_floats(Random& random, std::size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = 2 * random.unit() - 1;
    return values;
}

/// Returns textures that differ in format, size, sampler and kind, with values from -1 to 1.
std::vector<Texture> example_textures(const Device& device) {
    const Sampler mirrored{.address = {AddressMode::mirror, AddressMode::mirror}, .normalized_coordinates = true};
    const Sampler wrapped{.address = {AddressMode::wrap, AddressMode::mirror}, .normalized_coordinates = true};
    const Sampler border{.address = {AddressMode::border, AddressMode::clamp}, .border = {0.5F, 0.25F, 1, 0}};
    const Sampler blended{.filter = Filter::linear};
    std::vector<Texture> textures;
    textures.push_back(texture_of(device, {Format::rgba8_unorm, {13, 9}}, {}, 1));
    textures.push_back(texture_of(device, {Format::rgba8_srgb, {7, 5}}, mirrored, 2));
    textures.push_back(texture_of(device, {Format::r16_unorm, {1, 1}}, wrapped, 3));
    textures.push_back(texture_of(device, {Format::rg8_snorm, {1, 11}}, border, 4));
    textures.push_back(texture_of(device, {Format::rgba16_unorm, {17, 1}}, blended, 5));
    textures.push_back(texture_of(device, {Format::rgb10a2_unorm, {6, 4}}, wrapped, 6));
    textures.push_back(texture_of(
        device, {.format = Format::rgba8_unorm, .extent = {5, 6}, .kind = ArrayKind::layered_2d, .layers = 3}, border,
        7));
    Random random(8);
    textures.push_back(texture_of(device, {12, 8}, random_floats(random, 96)));
    return textures;
}

class FilterTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, FilterTest, test::every_device(), test::device_label);

// --- convolve --------------------------------------------------------------------------------------------------------

TEST_P(FilterTest, AConvolutionIsTheWeightedSumOfTexels) {
    Random random(1);
    for (const Texture& texture : example_textures(device())) {
        SCOPED_TRACE(std::string(name(texture.format())) + " " + to_string(texture.extent()));
        const std::vector<float> across = random_floats(random, 2 * random.below(4) + 1);
        const std::vector<float> down = random_floats(random, 2 * random.below(4) + 1);
        const Floats image = filtered(
            texture, [&](const Stream& stream, const View& view) { convolve(stream, view, texture, across, down); });
        const auto left = static_cast<int>(across.size() / 2);
        const auto above = static_cast<int>(down.size() / 2);
        for (std::size_t z = 0; z < texture.layers(); ++z) {
            const FetchedTexels texels(texture, z, 3);
            for (int y = 0; y < static_cast<int>(texture.extent().height); ++y) {
                for (int x = 0; x < static_cast<int>(texture.extent().width); ++x) {
                    Color sum{};
                    Color size{};
                    for (std::size_t j = 0; j < down.size(); ++j) {
                        for (std::size_t i = 0; i < across.size(); ++i) {
                            const Color color = texels(x + static_cast<int>(i) - left, y + static_cast<int>(j) - above);
                            for (std::size_t c = 0; c < 4; ++c) {
                                const double part = static_cast<double>(across[i]) * down[j] * color[c];
                                sum[c] += part;
                                size[c] += std::abs(part);
                            }
                        }
                    }
                    // For each weight a product and a sum are rounded.
                    const double steps = static_cast<double>(2 * (across.size() + down.size()));
                    for (std::size_t c = 0; c < 4; ++c)
                        ASSERT_NEAR(image.at(x, y, c, z), sum[c], steps * kRounding * size[c] + 1e-37)
                            << x << ", " << y << ", " << z << ", channel " << c;
                }
            }
        }
    }
}

TEST_P(FilterTest, ASingleUnitWeightKeepsOrShiftsTheTexels) {
    const Texture texture = texture_of(device(), {Format::rgba8_unorm, {40, 2}}, {}, 3);
    const FetchedTexels texels(texture, 0, 127);
    std::vector<float> first(255);
    first.front() = 1;
    std::vector<float> last(255);
    last.back() = 1;
    const std::vector<float> one{1};
    const auto expect_moved = [&](const std::vector<float>& across, const std::vector<float>& down, int by_x,
                                  int by_y) {
        const Floats image = filtered(
            texture, [&](const Stream& stream, const View& view) { convolve(stream, view, texture, across, down); });
        for (int y = 0; y < 2; ++y) {
            for (int x = 0; x < 40; ++x) {
                for (std::size_t c = 0; c < 4; ++c)
                    ASSERT_EQ(image.at(x, y, c), texels(x + by_x, y + by_y)[c]) << x << ", " << y;
            }
        }
    };
    expect_moved(one, one, 0, 0);
    expect_moved(first, one, -127, 0);
    expect_moved(one, last, 0, 127);
    expect_moved(last, first, 127, -127);
}

TEST_P(FilterTest, EveryLayerIsFilteredSeparately) {
    const ArrayInfo info{.format = Format::rgba16_unorm, .extent = {9, 7}, .kind = ArrayKind::layered_2d, .layers = 3};
    const Array array(device(), info);
    upload(array.view(), test::pattern(packed_bytes(info), 4));
    const Texture texture(array);
    const auto blurred = [](const Texture& of) {
        return filtered(of, [&](const Stream& stream, const View& view) { gaussian(stream, view, of); });
    };
    const Floats all = blurred(texture);
    for (std::size_t layer = 0; layer < 3; ++layer) {
        const Texture one(array, {}, {.first_layer = layer, .layers = 1});
        const Floats alone = blurred(one);
        const std::size_t count = alone.values.size();
        const auto begin = all.values.begin() + static_cast<std::ptrdiff_t>(layer * count);
        EXPECT_EQ(std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(count)), alone.values) << layer;
    }
}

TEST_P(FilterTest, AConvolutionCanWriteToItsSource) {
    Random random(5);
    const Extent extent{33, 17};
    const Pitched2D memory(device(), Format::r32_float, extent);
    const std::vector<float> values = random_floats(random, 33 * 17);
    upload(memory.view(), std::as_bytes(std::span(values)));
    const Texture texture(memory.view());
    const Stream stream(device());
    const Linear apart(device(), Format::r32_float, extent);
    gaussian(stream, apart.view(Format::r32_float, extent), texture, {.sigma = 2});
    gaussian(stream, memory.view(), texture, {.sigma = 2});
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(memory.view()), download(apart.view(Format::r32_float, extent))));
}

TEST_P(FilterTest, AFilterCanWriteToALevelOfAnArray) {
    const Texture texture = texture_of(device(), {Format::rgba8_unorm, {8, 6}}, {}, 9);
    const Array array(device(),
                      {.format = Format::rgba16_float, .extent = {16, 12}, .levels = 2, .usage = {.surface = true}});
    const View level = array.view({.level = 1});
    const Linear memory(device(), Format::rgba16_float, {8, 6});
    const Stream stream(device());
    gaussian(stream, level, texture);
    gaussian(stream, memory.view(Format::rgba16_float, {8, 6}), texture);
    stream.synchronize();
    EXPECT_TRUE(same_bytes(download(level), download(memory.view(Format::rgba16_float, {8, 6}))));
}

// --- gaussian and unsharp --------------------------------------------------------------------------------------------

TEST(GaussianWeightsTest, GaussianWeightsFollowTheNormalCurveAndSumToOne) {
    for (const float sigma : {0.01F, 0.5F, 1.0F, 3.3F, 42.0F}) {
        const std::vector<float> weights = gaussian_weights(sigma);
        const auto radius = static_cast<int>(weights.size() / 2);
        EXPECT_EQ(radius, static_cast<int>(std::ceil(3 * sigma)));
        double sum = 0;
        for (int i = -radius; i <= radius; ++i) {
            const double weight = weights[static_cast<std::size_t>(radius + i)];
            const double ratio = std::exp(-0.5 * i * i / (static_cast<double>(sigma) * sigma));
            EXPECT_NEAR(weight, ratio * weights[static_cast<std::size_t>(radius)], 2 * kRounding * weight);
            EXPECT_EQ(weight, weights[static_cast<std::size_t>(radius - i)]);
            sum += weight;
        }
        EXPECT_NEAR(sum, 1, kRounding * 2);
    }
    EXPECT_EQ(gaussian_weights(100, 127).size(), 255U);
}

TEST_P(FilterTest, AGaussianFilterMatchesTheConvolutionWithItsWeights) {
    const Texture texture = example_textures(device())[6];
    const std::vector<float> weights = gaussian_weights(1.5F, 4);
    const Floats image = filtered(texture, [&](const Stream& stream, const View& view) {
        gaussian(stream, view, texture, {.sigma = 1.5F, .radius = 4});
    });
    const Floats expected = filtered(
        texture, [&](const Stream& stream, const View& view) { convolve(stream, view, texture, weights, weights); });
    EXPECT_EQ(image.values, expected.values);
}

TEST_P(FilterTest, UnsharpAddsTheBlurDifferenceAboveTheThreshold) {
    const UnsharpOptions options{.amount = 1.5F, .sigma = 0.8F, .threshold = 0.05F};
    for (const Texture& texture : example_textures(device())) {
        SCOPED_TRACE(std::string(name(texture.format())) + " " + to_string(texture.extent()));
        const auto blur = [&](const Stream& stream, const View& view) {
            gaussian(stream, view, texture, {.sigma = options.sigma});
        };
        const Floats blurred = filtered(texture, blur);
        const Floats image =
            filtered(texture, [&](const Stream& stream, const View& view) { unsharp(stream, view, texture, options); });
        for (std::size_t z = 0; z < texture.layers(); ++z) {
            const FetchedTexels texels(texture, z, 0);
            for (int y = 0; y < static_cast<int>(texture.extent().height); ++y) {
                for (int x = 0; x < static_cast<int>(texture.extent().width); ++x) {
                    for (std::size_t c = 0; c < 4; ++c) {
                        const auto value = static_cast<float>(texels(x, y)[c]);
                        const float detail = value - blurred.at(x, y, c, z);
                        const float added = detail * options.amount;
                        const bool stays = std::abs(detail) < options.threshold;
                        ASSERT_EQ(image.at(x, y, c, z), stays ? value : value + added) << x << ", " << y;
                    }
                }
            }
        }
    }
}

// --- bilateral -------------------------------------------------------------------------------------------------------

TEST_P(FilterTest, ABilateralFilterWeightsTexelsByDistanceAndDifference) {
    const BilateralOptions options{.sigma_space = 1.2F, .sigma_range = 0.3F};
    constexpr int kRadius = 3;  // two sigmas, rounded up
    for (const Texture& texture : example_textures(device())) {
        SCOPED_TRACE(std::string(name(texture.format())) + " " + to_string(texture.extent()));
        const Floats image = filtered(
            texture, [&](const Stream& stream, const View& view) { bilateral(stream, view, texture, options); });
        for (std::size_t z = 0; z < texture.layers(); ++z) {
            const FetchedTexels texels(texture, z, kRadius);
            for (int y = 0; y < static_cast<int>(texture.extent().height); ++y) {
                for (int x = 0; x < static_cast<int>(texture.extent().width); ++x) {
                    const Color center = texels(x, y);
                    Color sum{};
                    double total = 0;
                    for (int j = -kRadius; j <= kRadius; ++j) {
                        for (int i = -kRadius; i <= kRadius; ++i) {
                            const Color color = texels(x + i, y + j);
                            double apart = 0;
                            for (std::size_t c = 0; c < 4; ++c) apart += std::pow(color[c] - center[c], 2);
                            const double space = options.sigma_space;
                            const double range = options.sigma_range;
                            const double weight =
                                std::exp(-0.5 * (i * i + j * j) / (space * space) - 0.5 * apart / (range * range));
                            for (std::size_t c = 0; c < 4; ++c) sum[c] += color[c] * weight;
                            total += weight;
                        }
                    }
                    // An exponent of up to 100 is rounded several times, and the weights have the same relative error.
                    // Values are at most 1.
                    for (std::size_t c = 0; c < 4; ++c)
                        ASSERT_NEAR(image.at(x, y, c, z), sum[c] / total, 800 * kRounding)
                            << x << ", " << y << ", channel " << c;
                }
            }
        }
    }
}

TEST_P(FilterTest, ABilateralFilterIgnoresNonFiniteTexels) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const Texture texture = texture_of(device(), {3, 3}, {2, 2, 2, kInfinity, 2, 2, 2, 2, kNan});
    const Floats image = filtered(
        texture, [&](const Stream& stream, const View& view) { bilateral(stream, view, texture, {.radius = 1}); });
    EXPECT_NEAR(image.at(1, 1, 0), 2, 4 * kRounding);
    EXPECT_NEAR(image.at(0, 0, 0), 2, 4 * kRounding);
    EXPECT_TRUE(std::isnan(image.at(2, 2, 0)));
    EXPECT_TRUE(std::isnan(image.at(0, 1, 0)));
}

TEST_P(FilterTest, ABilateralFilterWithASmallRangeKeepsAStep) {
    std::vector<float> values;
    for (int i = 0; i < 64; ++i) values.push_back(i % 8 < 4 ? 0.25F : 0.75F);
    const Texture texture = texture_of(device(), {8, 8}, values);
    const Floats image = filtered(texture, [&](const Stream& stream, const View& view) {
        bilateral(stream, view, texture, {.sigma_range = 1e-30F});
    });
    for (int i = 0; i < 64; ++i)
        EXPECT_NEAR(image.at(i % 8, i / 8, 0), values[static_cast<std::size_t>(i)], 32 * kRounding) << i;
}

// --- median ----------------------------------------------------------------------------------------------------------

void expect_medians(const Texture& texture, MedianSize size, int side) {
    const Floats image =
        filtered(texture, [&](const Stream& stream, const View& view) { median(stream, view, texture, size); });
    for (std::size_t z = 0; z < texture.layers(); ++z) {
        const FetchedTexels texels(texture, z, side / 2);
        for (int y = 0; y < static_cast<int>(texture.extent().height); ++y) {
            for (int x = 0; x < static_cast<int>(texture.extent().width); ++x) {
                for (std::size_t c = 0; c < 4; ++c) {
                    std::vector<double> values;
                    for (int j = -side / 2; j <= side / 2; ++j) {
                        for (int i = -side / 2; i <= side / 2; ++i) values.push_back(texels(x + i, y + j)[c]);
                    }
                    std::ranges::sort(values);
                    ASSERT_EQ(image.at(x, y, c, z), values[values.size() / 2]) << x << ", " << y << ", " << z;
                }
            }
        }
    }
}

TEST_P(FilterTest, TheMedianIsComputedForEachChannel) {
    std::vector<Texture> textures = example_textures(device());
    textures.push_back(texture_of(device(), {Format::rgba16_float, {8, 5}}, {}, 20));
    textures.push_back(texture_of(device(), {Format::r16_uint, {6, 7}}, {}, 21));
    for (const Texture& texture : textures) {
        SCOPED_TRACE(std::string(name(texture.format())) + " " + to_string(texture.extent()));
        expect_medians(texture, MedianSize::three, 3);
        expect_medians(texture, MedianSize::five, 5);
    }
}

TEST_P(FilterTest, TheMedianIsCorrectForEveryOrderOfZerosAndOnes) {
    // By the 0-1 principle, a comparison network that is correct for zeros and ones is correct for all values.
    const Extent extent{3, 3 * 512};
    std::vector<float> values;
    for (std::size_t i = 0; i < 512; ++i) {
        for (std::size_t bit = 0; bit < 9; ++bit) values.push_back((i >> bit & 1U) != 0 ? 1.0F : 0.0F);
    }
    const Texture texture = texture_of(device(), extent, values);
    const Floats image =
        filtered(texture, [&](const Stream& stream, const View& view) { median(stream, view, texture); });
    for (std::size_t i = 0; i < 512; ++i)
        ASSERT_EQ(image.at(1, static_cast<int>(3 * i + 1), 0), std::popcount(i) > 4 ? 1.0F : 0.0F) << i;
}

TEST_P(FilterTest, TheMedianOfValuesWithNansIsOneOfTheValues) {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const Texture texture = texture_of(device(), {3, 3}, {1, kNan, 2, 3, kNan, 4, 5, kNan, 6});
    const Floats image =
        filtered(texture, [&](const Stream& stream, const View& view) { median(stream, view, texture); });
    const float value = image.at(1, 1, 0);
    EXPECT_TRUE(std::isnan(value) || (value >= 1 && value <= 6 && value == std::floor(value))) << value;
}

TEST_P(FilterTest, ScratchMemoryComesFromTheGivenPool) {
    constexpr Extent kExtent{40, 30};
    const Stream stream(device());
    const Pool pool(device());
    const auto blurred = [&](const GaussianOptions& options) {
        const Pitched2D texels(device(), Format::rgba8_unorm, kExtent);
        test::upload(texels.view(), test::pattern(4 * kExtent.width * kExtent.height, 3));
        gaussian(stream, texels.view(), Texture(texels.view()), options);
        stream.synchronize();
        return test::download(texels.view());
    };
    const test::Bytes expected = blurred({.sigma = 2});
    EXPECT_EQ(pool.usage().used_high, 0U);
    EXPECT_TRUE(test::same_bytes(blurred({.sigma = 2, .scratch = pool}), expected));
    EXPECT_GE(pool.usage().used_high, 16 * kExtent.width * kExtent.height);
    EXPECT_EQ(pool.usage().used, 0U);
}

// --- by name, on both devices ----------------------------------------------------------------------------------------

TEST_P(FilterTest, NamedKernelsMatchTheFunctions) {
    const Texture texture = example_textures(device())[0];
    const auto expect_same = [&](const char* name, const std::map<std::string, ParameterValue>& values,
                                 const auto& function) {
        SCOPED_TRACE(name);
        const Kernel& kernel = kernel_named(name);
        const Arguments arguments(kernel.info, values);
        const std::vector<ImageShape> proposed = shapes(kernel, arguments, std::span(&texture, 1));
        ASSERT_EQ(proposed.size(), 1U);
        EXPECT_EQ(proposed[0].extent, image_extent(texture));
        EXPECT_EQ(proposed[0].format, texture.format());
        const Floats image = filtered(texture, [&](const Stream& stream, const View& view) {
            enqueue(kernel, stream, std::span(&view, 1), arguments, std::span(&texture, 1));
        });
        EXPECT_EQ(image.values, filtered(texture, function).values);
    };
    expect_same("convolve", {{"across", std::vector<double>{1, -2, 1}}}, [&](const Stream& stream, const View& view) {
        convolve(stream, view, texture, std::array{1.0F, -2.0F, 1.0F}, std::array{0.25F, 0.5F, 0.25F});
    });
    expect_same("gaussian", {{"sigma", 2.0}, {"radius", 3.0}}, [&](const Stream& stream, const View& view) {
        gaussian(stream, view, texture, {2, 3});
    });
    expect_same("unsharp", {{"amount", 2.0}, {"threshold", 0.125}}, [&](const Stream& stream, const View& view) {
        unsharp(stream, view, texture, {.amount = 2, .threshold = 0.125F});
    });
    expect_same("bilateral", {{"sigma_space", 1.0}},
                [&](const Stream& stream, const View& view) { bilateral(stream, view, texture, {.sigma_space = 1}); });
    expect_same("median", {{"window", std::string("5")}},
                [&](const Stream& stream, const View& view) { median(stream, view, texture, MedianSize::five); });
}

TEST(FilterParityTest, AllDevicesGiveTheSameImages) {
    const std::vector<Device> devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    const std::vector<Texture> here = example_textures(devices[0]);
    const std::vector<Texture> there = example_textures(devices[1]);
    for (std::size_t i = 0; i < here.size(); ++i) {
        for (const char* kernel_name : {"convolve", "gaussian", "unsharp", "bilateral", "median"}) {
            SCOPED_TRACE(std::string(kernel_name) + " of " + std::string(name(here[i].format())));
            const Kernel& kernel = kernel_named(kernel_name);
            const auto made = [&](const Texture& texture) {
                const Floats image = filtered(texture, [&](const Stream& stream, const View& view) {
                    enqueue(kernel, stream, std::span(&view, 1), Arguments(kernel.info), std::span(&texture, 1));
                });
                const auto bytes = std::as_bytes(std::span(image.values));
                return Bytes(bytes.begin(), bytes.end());
            };
            EXPECT_TRUE(same_bytes(made(there[i]), made(here[i])));
        }
    }
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(FilterTest, InvalidArgumentsAreRefusedAndNamed) {
    const Texture texture = texture_of(device(), {Format::rgba8_unorm, {8, 4}}, {}, 1);
    const Texture integers = texture_of(device(), {Format::rgba8_uint, {8, 4}}, {}, 1);
    const Texture volume =
        texture_of(device(), {.format = Format::r8_unorm, .extent = {8, 4, 2}, .kind = ArrayKind::array_3d}, {}, 1);
    const Texture layers = texture_of(
        device(), {.format = Format::r8_unorm, .extent = {8, 4}, .kind = ArrayKind::layered_2d, .layers = 2}, {}, 1);
    const Linear memory(device(), 4096);
    const View image = memory.view(Format::rgba8_unorm, {8, 4});
    const Stream stream(device());
    const std::vector<float> one{1};
    const auto refused = [&](const char* object, std::initializer_list<std::string_view> fragments, const auto& call,
                             test::Caller where = test::Caller::here()) {
        expect_error(call, ErrorCode::bad_argument, object, fragments, where);
    };
    const auto refused_weights = [&](const std::vector<float>& weights, std::initializer_list<std::string_view> across,
                                     std::initializer_list<std::string_view> down) {
        refused("texton::convolve", across, [&] { convolve(stream, image, texture, weights, one); });
        refused("texton::convolve", down, [&] { convolve(stream, image, texture, one, weights); });
    };
    refused_weights({}, {"across", "0 weights"}, {"down", "0 weights"});
    refused_weights({1, 1}, {"across", "2 weights"}, {"down", "2 weights"});
    refused_weights(std::vector<float>(257), {"across", "257", "255"}, {"down", "257", "255"});
    refused_weights({1, 1, std::numeric_limits<float>::infinity()}, {"across[2]", "inf"}, {"down[2]", "inf"});
    for (const float sigma : {0.0F, -1.0F, std::numeric_limits<float>::quiet_NaN()}) {
        refused("texton::gaussian", {"sigma"}, [&] { gaussian(stream, image, texture, {.sigma = sigma}); });
        refused("texton::unsharp", {"sigma"}, [&] { unsharp(stream, image, texture, {.sigma = sigma}); });
        refused("texton::bilateral", {"sigma_space"},
                [&] { bilateral(stream, image, texture, {.sigma_space = sigma}); });
        refused("texton::bilateral", {"sigma_range"},
                [&] { bilateral(stream, image, texture, {.sigma_range = sigma}); });
    }
    refused("texton::gaussian", {"sigma", "43"}, [&] { gaussian(stream, image, texture, {.sigma = 43}); });
    refused("texton::gaussian", {"radius", "128", "127"}, [&] { gaussian(stream, image, texture, {.radius = 128}); });
    refused("texton::unsharp", {"amount", "inf"},
            [&] { unsharp(stream, image, texture, {.amount = std::numeric_limits<float>::infinity()}); });
    refused("texton::unsharp", {"threshold", "-1"}, [&] { unsharp(stream, image, texture, {.threshold = -1}); });
    refused("texton::bilateral", {"radius", "65", "64"}, [&] { bilateral(stream, image, texture, {.radius = 65}); });
    refused("texton::bilateral", {"sigma_space", "33"},
            [&] { bilateral(stream, image, texture, {.sigma_space = 33}); });
    refused("texton::gaussian", {"texture", "array_3d"}, [&] { gaussian(stream, image, volume); });
    refused("texton::gaussian", {"rgba8_uint", "integers"}, [&] { gaussian(stream, image, integers); });
    refused("texton::bilateral", {"rgba8_uint", "integers"}, [&] { bilateral(stream, image, integers); });
    refused("texton::median", {"1 slices", "2 layers"}, [&] { median(stream, image, layers); });
    refused("texton::median", {"4 x 4", "8 x 4"}, [&] {
        median(stream, memory.view(Format::rgba8_unorm, {4, 4}), texture);
    });
    refused("texton::unsharp", {"0 x 1 pixels"}, [&] { unsharp(stream, View(), texture); });
}

}  // namespace
}  // namespace texton
