// Compares the kernels that use gathers with loops over texels.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <texton/fill.h>
#include <texton/gather.h>
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
using test::upload;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Texture texture_of(const Device& device, Format format, Extent extent, std::span<const std::byte> texels,
                   const Sampler& sampler = {}) {
    const Array array(device, {.format = format, .extent = extent, .usage = {.gather = true}});
    upload(array.view(), texels);
    return Texture(array, sampler);
}

Texture texture_of(const Device& device, Extent extent, const std::vector<float>& values, const Sampler& sampler = {}) {
    return texture_of(device, Format::r32_float, extent, std::as_bytes(std::span(values)), sampler);
}

/// Returns one channel of the texture, read with point fetches.
std::vector<float> values_of(const Texture& texture, int channel) {
    const Extent extent = texture.extent();
    const bool integers = info(texture.format()).kind == FormatKind::uint;
    const bool fractions = texture.sampler().normalized_coordinates;
    std::vector<FetchPoint> points;
    for (std::size_t y = 0; y < extent.height; ++y) {
        for (std::size_t x = 0; x < extent.width; ++x) {
            const float at_x = static_cast<float>(x) + 0.5F;
            const float at_y = static_cast<float>(y) + 0.5F;
            points.push_back({.x = fractions ? at_x / static_cast<float>(extent.width) : at_x,
                              .y = fractions ? at_y / static_cast<float>(extent.height) : at_y});
        }
    }
    std::vector<float> values;
    for (const Texel& texel : sample(texture, points).texels)
        values.push_back(integers ? static_cast<float>(texel.channel[channel]) : texel.as_float(channel));
    return values;
}

std::vector<float> floats_of(const View& view) {
    const Bytes bytes = download(view);
    std::vector<float> floats(bytes.size() / 4);
    std::memcpy(floats.data(), bytes.data(), bytes.size());
    return floats;
}

class GatherKernelTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, GatherKernelTest, test::every_device(), test::device_label);

// --- the pyramid -----------------------------------------------------------------------------------------------------

struct Pyramid {
    std::vector<Linear> memory;
    std::vector<View> levels;

    Pyramid(const Device& device, const std::vector<Extent>& extents, Format format) {
        for (const Extent& extent : extents) {
            memory.emplace_back(device, format, extent);
            levels.push_back(memory.back().view(format, extent));
        }
    }
};

/// Returns the end of the texels that a pixel covers. The last pixel also covers the remaining texel of an odd
/// dimension.
std::size_t end_of(std::size_t pixel, std::size_t pixels, std::size_t texels) {
    return pixel + 1 == pixels ? texels : 2 * pixel + 2;
}

/// Returns minimum and maximum of each level.
std::vector<std::vector<float>> expected_levels(const Texture& texture, int channel) {
    Extent below = texture.extent();
    std::vector<float> lowest = values_of(texture, channel);
    std::vector<float> highest = lowest;
    std::vector<std::vector<float>> levels;
    do {
        const Extent extent{std::max<std::size_t>(1, below.width / 2), std::max<std::size_t>(1, below.height / 2)};
        std::vector<float> low;
        std::vector<float> high;
        std::vector<float>& level = levels.emplace_back();
        for (std::size_t y = 0; y < extent.height; ++y) {
            for (std::size_t x = 0; x < extent.width; ++x) {
                low.push_back(kInfinity);
                high.push_back(-kInfinity);
                for (std::size_t j = 2 * y; j < end_of(y, extent.height, below.height); ++j) {
                    for (std::size_t i = 2 * x; i < end_of(x, extent.width, below.width); ++i) {
                        low.back() = std::fmin(low.back(), lowest[j * below.width + i]);
                        high.back() = std::fmax(high.back(), highest[j * below.width + i]);
                    }
                }
                level.push_back(low.back());
                level.push_back(high.back());
            }
        }
        below = extent;
        lowest = low;
        highest = high;
    } while (below.width > 1 || below.height > 1);
    return levels;
}

void expect_pyramid(const Texture& texture, int channel) {
    SCOPED_TRACE(std::string(name(texture.format())) + " " + to_string(texture.extent()));
    const std::vector<std::vector<float>> expected = expected_levels(texture, channel);
    const std::vector<Extent> extents = min_max_extents(texture);
    ASSERT_EQ(extents.size(), expected.size());
    const Pyramid pyramid(texture.device(), extents, Format::rg32_float);
    const Stream stream(texture.device());
    min_max_pyramid(stream, pyramid.levels, texture, channel);
    stream.synchronize();
    for (std::size_t i = 0; i < extents.size(); ++i) EXPECT_EQ(floats_of(pyramid.levels[i]), expected[i]) << i;
}

TEST_P(GatherKernelTest, EachPixelHoldsTheMinimumAndMaximumOfTheFinerLevel) {
    Random random(1);
    for (const Extent& extent : {Extent{1, 1}, Extent{2, 2}, Extent{3, 3}, Extent{1, 7}, Extent{9, 1}, Extent{2, 1},
                                 Extent{5, 4}, Extent{37, 21}, Extent{64, 32}}) {
        for (const Format format : {Format::rgba8_unorm, Format::r32_float, Format::rg16_uint, Format::rgba16_float}) {
            const Bytes texels = test::random_texels(random, format, packed_bytes(format, extent));
            const int channel = static_cast<int>(random.below(info(format).channels));
            expect_pyramid(texture_of(device(), format, extent, texels), channel);
        }
    }
}

TEST_P(GatherKernelTest, AddressModesDoNotAffectThePyramid) {
    Random random(2);
    const Sampler border{.address = {AddressMode::border, AddressMode::border}, .border = {-9, -9, -9, -9}};
    const Sampler wrapped{
        .address = {AddressMode::wrap, AddressMode::mirror}, .filter = Filter::linear, .normalized_coordinates = true};
    for (const Extent& extent : {Extent{1, 1}, Extent{1, 5}, Extent{6, 1}, Extent{7, 3}, Extent{100, 50}}) {
        const Bytes texels = test::pattern(packed_bytes(Format::r8_unorm, extent), 3);
        const std::vector<std::vector<float>> plain =
            expected_levels(texture_of(device(), Format::r8_unorm, extent, texels), 0);
        for (const Sampler& sampler : {border, wrapped}) {
            const Texture texture = texture_of(device(), Format::r8_unorm, extent, texels, sampler);
            const Pyramid pyramid(device(), min_max_extents(texture), Format::rg32_float);
            const Stream stream(device());
            min_max_pyramid(stream, pyramid.levels, texture);
            stream.synchronize();
            for (std::size_t i = 0; i < plain.size(); ++i)
                EXPECT_EQ(floats_of(pyramid.levels[i]), plain[i]) << to_string(extent) << " level " << i;
        }
    }
}

TEST_P(GatherKernelTest, ThePyramidIgnoresNans) {
    const Texture texture = texture_of(device(), {4, 2}, {kNan, 1, kNan, kNan, kNan, 2, kNan, kNan});
    const Pyramid pyramid(device(), min_max_extents(texture), Format::rg32_float);
    const Stream stream(device());
    min_max_pyramid(stream, pyramid.levels, texture);
    stream.synchronize();
    EXPECT_EQ(floats_of(pyramid.levels[0]), (std::vector<float>{1, 2, kInfinity, -kInfinity}));
    EXPECT_EQ(floats_of(pyramid.levels[1]), (std::vector<float>{1, 2}));
}

TEST_P(GatherKernelTest, ScratchMemoryOfAPyramidComesFromTheGivenPool) {
    const Texture texture = texture_of(device(), Format::r8_unorm, {16, 8}, test::pattern(16 * 8, 4));
    const Pool pool(device());
    const std::vector<Extent> extents = min_max_extents(texture);
    const Pyramid own(device(), extents, Format::rg8_unorm);
    const Pyramid given(device(), extents, Format::rg8_unorm);
    const Stream stream(device());
    min_max_pyramid(stream, own.levels, texture);
    min_max_pyramid(stream, given.levels, texture, 0, pool);
    stream.synchronize();
    for (std::size_t i = 0; i < extents.size(); ++i)
        EXPECT_TRUE(test::same_bytes(download(given.levels[i]), download(own.levels[i]))) << i;
    EXPECT_GE(pool.usage().used_high, 8 * extents[0].width * extents[0].height);
    EXPECT_EQ(pool.usage().used, 0U);
}

TEST_P(GatherKernelTest, APyramidCanFillTheLevelsOfAnArray) {
    const Bytes texels = test::pattern(16 * 8, 4);
    const Texture texture = texture_of(device(), Format::r8_unorm, {16, 8}, texels);
    const Array array(device(),
                      {.format = Format::rg8_unorm, .extent = {8, 4}, .levels = 3, .usage = {.surface = true}});
    const Pyramid apart(device(), {{8, 4}, {4, 2}, {2, 1}}, Format::rg8_unorm);
    const std::vector<View> levels{array.view({.level = 0}), array.view({.level = 1}), array.view({.level = 2})};
    const Stream stream(device());
    min_max_pyramid(stream, levels, texture);
    min_max_pyramid(stream, apart.levels, texture);
    stream.synchronize();
    for (std::size_t i = 0; i < levels.size(); ++i)
        EXPECT_TRUE(test::same_bytes(download(levels[i]), download(apart.levels[i]))) << i;
}

TEST_P(GatherKernelTest, APyramidWithALevelThatCannotBeWrittenIsRefusedAsAWhole) {
    const Texture texture = texture_of(device(), Format::r8_unorm, {16, 8}, test::pattern(16 * 8, 4));
    const Pyramid pyramid(device(), min_max_extents(texture), Format::rg8_unorm);
    std::vector<View> levels = pyramid.levels;
    Bytes host(2);
    levels.back() = host_view(host.data(), Format::rg8_unorm, {1, 1});
    for (const View& level : pyramid.levels) fill(level, std::uint8_t{9});
    const Stream stream(device());
    expect_error([&] { min_max_pyramid(stream, levels, texture); }, ErrorCode::bad_argument, "texton::min_max_pyramid",
                 {"pageable"});
    stream.synchronize();
    for (const View& level : pyramid.levels) EXPECT_TRUE(test::all_bytes(download(level), 9));
}

TEST_P(GatherKernelTest, LevelsThatShareTexelsOfAnArrayAreRefusedAndNamed) {
    const Texture texture = texture_of(device(), Format::r8_unorm, {16, 8}, test::pattern(16 * 8, 4));
    const Array array(device(),
                      {.format = Format::rg8_unorm, .extent = {12, 4}, .levels = 2, .usage = {.surface = true}});
    const auto part = [&](Offset at, Extent extent) { return array.view({.region = Region{at, extent}}); };
    const Stream stream(device());
    fill(array.view(), std::uint8_t{9});
    for (const Offset at : {Offset{0, 0}, Offset{7, 2}, Offset{4, 1}}) {
        const std::vector<View> levels{part({}, {8, 4}), part(at, {4, 2})};
        expect_error([&] { min_max_pyramid(stream, levels, texture); }, ErrorCode::overlap, "texton::min_max_pyramid",
                     {"levels[0]", "levels[1]", "share texels"});
    }
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(array.view()), 9));

    const Pyramid apart(device(), {{8, 4}, {4, 2}}, Format::rg8_unorm);
    min_max_pyramid(stream, apart.levels, texture);
    const View second_level = array.view({.level = 1, .region = Region{{1, 0}, {4, 2}}});
    for (const View& second : {part({8, 1}, {4, 2}), second_level}) {
        const std::vector<View> levels{part({}, {8, 4}), second};
        min_max_pyramid(stream, levels, texture);
        stream.synchronize();
        for (std::size_t i = 0; i < levels.size(); ++i)
            EXPECT_TRUE(test::same_bytes(download(levels[i]), download(apart.levels[i]))) << i;
    }
}

// --- percentage closer -----------------------------------------------------------------------------------------------

/// Returns random depths from few values, so that some equal the references.
std::vector<float> random_depths(Random& random, std::size_t count) {
    std::vector<float> depths(count);
    for (float& depth : depths) depth = static_cast<float>(random.below(8)) / 8;
    return depths;
}

/// Returns positions inside and around the texture, some at texel centers and some between four texels, with references
/// from the same values as the depths.
std::vector<float> random_positions(Random& random, std::size_t count, Extent depths) {
    std::vector<float> positions;
    for (std::size_t i = 0; i < count; ++i) {
        const float x = random.unit() * static_cast<float>(depths.width + 4) - 2;
        const float y = random.unit() * static_cast<float>(depths.height + 4) - 2;
        const std::size_t way = random.below(4);
        const float part = way == 0 ? 0.5F : 0;
        positions.push_back(way < 2 ? std::floor(x) + part : x);
        positions.push_back(way < 2 ? std::floor(y) + part : y);
        positions.push_back(static_cast<float>(random.below(9)) / 8);
        positions.push_back(0);
    }
    return positions;
}

/// Returns the comparisons after linear filtering, in double precision.
double linear_share(const std::vector<float>& depths, Extent extent, double x, double y, float reference) {
    const auto lit = [&](double column, double row) {
        const auto i = static_cast<std::size_t>(std::clamp(column, 0.0, static_cast<double>(extent.width) - 1));
        const auto j = static_cast<std::size_t>(std::clamp(row, 0.0, static_cast<double>(extent.height) - 1));
        return depths[j * extent.width + i] >= reference ? 1.0 : 0.0;
    };
    const double column = std::floor(x - 0.5);
    const double row = std::floor(y - 0.5);
    const double share_x = x - 0.5 - column;
    const double share_y = y - 0.5 - row;
    return (lit(column, row) * (1 - share_x) + lit(column + 1, row) * share_x) * (1 - share_y) +
           (lit(column, row + 1) * (1 - share_x) + lit(column + 1, row + 1) * share_x) * share_y;
}

Texture positions_texture(const Device& device, Extent extent, const std::vector<float>& positions) {
    const Array array(device, {Format::rgba32_float, extent});
    upload(array.view(), std::as_bytes(std::span(positions)));
    return Texture(array);
}

std::vector<float> closer(const Texture& depths, const Texture& positions, const PercentageCloserOptions& options) {
    const Stream stream(depths.device());
    const Linear memory(depths.device(), Format::r32_float, positions.extent());
    const View image = memory.view(Format::r32_float, positions.extent());
    percentage_closer(stream, image, depths, positions, options);
    stream.synchronize();
    return floats_of(image);
}

TEST_P(GatherKernelTest, ComparisonsAreWeightedByTheDistanceOfTheTexels) {
    Random random(5);
    const Sampler normalized{.normalized_coordinates = true};
    for (const Extent& extent : {Extent{1, 1}, Extent{7, 1}, Extent{1, 4}, Extent{13, 9}}) {
        for (const Sampler& sampler : {Sampler{}, normalized}) {
            const std::vector<float> depths = random_depths(random, extent.width * extent.height);
            const std::vector<float> positions = random_positions(random, 300, extent);
            const Texture texture = texture_of(device(), extent, depths, sampler);
            const Texture at = positions_texture(device(), {25, 12}, positions);
            constexpr float kBias = 0.125F;
            const std::vector<float> two = closer(texture, at, {.bias = kBias});
            const std::vector<float> three = closer(texture, at, {.size = CloserSize::three, .bias = kBias});
            for (std::size_t i = 0; i < 300; ++i) {
                SCOPED_TRACE(to_string(extent) + " pixel " + std::to_string(i));
                const double x = positions[4 * i];
                const double y = positions[4 * i + 1];
                const float reference = positions[4 * i + 2] - kBias;
                const auto share = [&](double by_x, double by_y) {
                    return linear_share(depths, extent, x + by_x, y + by_y, reference);
                };
                // Positions up to 2^4 texels are rounded by 2^-21 when half a texel is subtracted.
                ASSERT_NEAR(two[i], share(0, 0), 0x1p-19);
                const double mean = (share(-0.5, -0.5) + share(0.5, -0.5) + share(-0.5, 0.5) + share(0.5, 0.5)) / 4;
                ASSERT_NEAR(three[i], mean, 0x1p-19);
            }
        }
    }
}

TEST_P(GatherKernelTest, DepthsEqualToTheReferenceAreLitAndNansAreNot) {
    const Texture positions = positions_texture(device(), {2, 1}, {1, 1, 0.5F, 0, 1, 1, 0.51F, 0});
    const std::vector<float> light{1, 0};
    for (const CloserSize size : {CloserSize::two, CloserSize::three}) {
        const Texture even = texture_of(device(), {2, 2}, std::vector<float>(4, 0.5F));
        EXPECT_EQ(closer(even, positions, {.size = size}), light);
        const Texture nans = texture_of(device(), {2, 2}, std::vector<float>(4, kNan));
        EXPECT_EQ(closer(nans, positions, {.size = size}), (std::vector<float>{0, 0}));
    }
}

TEST_P(GatherKernelTest, DepthsOutOfBoundsFollowTheSampler) {
    const Sampler border{.address = {AddressMode::border, AddressMode::border}, .border = {1, 1, 1, 1}};
    const Texture depths = texture_of(device(), {2, 2}, std::vector<float>(4, 0.0F), border);
    const Texture positions = positions_texture(device(), {3, 1}, {-5, 1, 0.5F, 0, 0, 1, 0.5F, 0, 1, 1, 0.5F, 0});
    EXPECT_EQ(closer(depths, positions, {}), (std::vector<float>{1, 0.5F, 0}));
    EXPECT_EQ(closer(depths, positions, {.size = CloserSize::three}), (std::vector<float>{1, 0.5F, 0}));
}

// --- by name, on both devices ----------------------------------------------------------------------------------------

TEST_P(GatherKernelTest, NamedKernelsMatchTheFunctions) {
    Random random(6);
    const Texture depths = texture_of(device(), {9, 6}, random_depths(random, 54));
    const Texture positions = positions_texture(device(), {5, 4}, random_positions(random, 20, {9, 6}));
    const Stream stream(device());

    const Kernel& pyramid = kernel_named("min_max_pyramid");
    const Arguments some(pyramid.info, {{"level_count", 2.0}});
    const std::vector<ImageShape> proposed = shapes(pyramid, some, std::span(&depths, 1));
    ASSERT_EQ(proposed.size(), 2U);
    EXPECT_EQ(proposed[1].extent, (Extent{2, 1}));
    EXPECT_EQ(shapes(pyramid, Arguments(pyramid.info), std::span(&depths, 1)).size(), 3U);
    const Pyramid made(device(), {{4, 3}, {2, 1}}, Format::rg32_float);
    enqueue(pyramid, stream, made.levels, some, std::span(&depths, 1));
    stream.synchronize();
    const std::vector<std::vector<float>> expected = expected_levels(depths, 0);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(floats_of(made.levels[i]), expected[i]);

    const Kernel& compare = kernel_named("percentage_closer");
    const Arguments three(compare.info, {{"kernel_size", std::string("3")}, {"bias", 0.25}});
    const std::vector<Texture> inputs{depths, positions};
    EXPECT_EQ(shapes(compare, three, inputs).at(0).extent, (Extent{5, 4}));
    const Linear memory(device(), Format::r32_float, {5, 4});
    const View image = memory.view(Format::r32_float, {5, 4});
    enqueue(compare, stream, std::span(&image, 1), three, inputs);
    stream.synchronize();
    EXPECT_EQ(floats_of(image), closer(depths, positions, {CloserSize::three, 0.25F}));
}

TEST(GatherKernelParityTest, AllDevicesGiveTheSameImages) {
    const std::vector<Device> devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    Random random(7);
    for (int round = 0; round < 20; ++round) {
        const Extent extent{random.between(1, 80), random.between(1, 50)};
        const Sampler sampler{.address = {AddressMode::border, AddressMode::clamp},
                              .filter = random.coin() ? Filter::linear : Filter::point,
                              .border = {0.5F, 0, 0, 0}};
        const std::vector<float> depths = random_depths(random, extent.width * extent.height);
        const std::vector<float> positions = random_positions(random, 600, extent);
        std::vector<std::vector<float>> made[2];
        for (std::size_t i = 0; i < 2; ++i) {
            const Texture texture = texture_of(devices[i], extent, depths, sampler);
            const Texture at = positions_texture(devices[i], {30, 20}, positions);
            made[i].push_back(closer(texture, at, {.bias = 0.01F}));
            made[i].push_back(closer(texture, at, {.size = CloserSize::three}));
            const Pyramid pyramid(devices[i], min_max_extents(texture), Format::rg32_float);
            const Stream stream(devices[i]);
            min_max_pyramid(stream, pyramid.levels, texture);
            stream.synchronize();
            for (const View& level : pyramid.levels) made[i].push_back(floats_of(level));
        }
        EXPECT_EQ(made[1], made[0]) << to_string(extent);
    }
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(GatherKernelTest, InvalidArgumentsAreRefusedAndNamed) {
    const Texture depths = texture_of(device(), {4, 4}, std::vector<float>(16));
    const Texture positions = positions_texture(device(), {2, 2}, std::vector<float>(16));
    const Pitched2D rows(device(), Format::r32_float, {4, 4});
    const Texture pitched(rows.view());
    const Texture integers = texture_of(device(), Format::r8_uint, {4, 4}, Bytes(16));
    const Pyramid pyramid(device(), {{2, 2}, {1, 1}, {1, 1}}, Format::rg32_float);
    const View image = pyramid.levels[0];
    const std::span<const View> levels(pyramid.levels);
    const Stream stream(device());
    const auto refused = [&](const char* object, std::initializer_list<std::string_view> fragments, const auto& call,
                             test::Caller where = test::Caller::here()) {
        expect_error(call, ErrorCode::bad_argument, object, fragments, where);
    };
    const char* const kPyramid = "texton::min_max_pyramid";
    refused(kPyramid, {"0 levels", "1 to 2"}, [&] { min_max_pyramid(stream, {}, depths); });
    refused(kPyramid, {"3 levels", "1 to 2"}, [&] { min_max_pyramid(stream, levels, depths); });
    refused(kPyramid, {"levels[0]", "1 x 1", "2 x 2"}, [&] { min_max_pyramid(stream, levels.subspan(1, 1), depths); });
    refused(kPyramid, {"channel", "1", "0 to 0"}, [&] { min_max_pyramid(stream, levels.first(2), depths, 1); });
    refused(kPyramid, {"texture", "gather", "an array"}, [&] { min_max_pyramid(stream, levels.first(1), positions); });
    refused(kPyramid, {"texture", "gather", "memory"}, [&] { min_max_pyramid(stream, levels.first(2), pitched); });
    const char* const kCloser = "texton::percentage_closer";
    refused(kCloser, {"depths", "gather"}, [&] { percentage_closer(stream, image, positions, positions); });
    refused(kCloser, {"depths", "r8_uint"}, [&] { percentage_closer(stream, image, integers, positions); });
    refused(kCloser, {"2 x 2", "coordinates", "4 x 4"}, [&] { percentage_closer(stream, image, depths, depths); });
    refused(kCloser, {"bias", "nan"}, [&] { percentage_closer(stream, image, depths, positions, {.bias = kNan}); });
}

}  // namespace
}  // namespace texton
