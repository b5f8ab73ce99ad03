// Compares statistics of textures with sums over their texels.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include <texton/fill.h>
#include <texton/kernel.h>
#include <texton/linear.h>
#include <texton/pitched.h>
#include <texton/sample.h>
#include <texton/statistics.h>

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

/// Three units in the last place of a mean.
double rounding_of(double mean) { return 3 * 0x1p-23 * std::abs(mean) + 1e-45; }

Statistics statistics_of(const Texture& texture, const StatisticsOptions& options = {}) {
    const Stream stream(texture.device());
    const Linear memory(texture.device(), sizeof(Statistics));
    fill(memory.view(), std::uint8_t{0xA5}, stream);  // previous contents must not affect the result
    collect_statistics(stream, memory.view(), texture, options);
    return read_statistics(stream, memory.view());
}

Bytes bytes_of(const Statistics& statistics) {
    Bytes bytes(sizeof statistics);
    std::memcpy(bytes.data(), &statistics, sizeof statistics);
    return bytes;
}

Texture texture_of(const Device& device, const ArrayInfo& info, std::span<const std::byte> texels,
                   const Sampler& sampler = {}) {
    const Array array(device, info);
    upload(array.view(), texels);
    return Texture(array, sampler);
}

Texture texture_of(const Device& device, Extent extent, const std::vector<float>& values) {
    return texture_of(device, {Format::r32_float, extent}, std::as_bytes(std::span(values)));
}

/// Returns the values of a channel in all layers, read with point fetches.
std::vector<double> values_of(const Texture& texture, int channel) {
    const Extent extent = texture.extent();
    const bool integers = info(texture.format()).kind == FormatKind::uint;
    std::vector<FetchPoint> points;
    for (std::size_t layer = 0; layer < texture.layers(); ++layer) {
        for (std::size_t y = 0; y < extent.height; ++y) {
            for (std::size_t x = 0; x < extent.width; ++x)
                points.push_back({.x = static_cast<float>(x) + 0.5F,
                                  .y = static_cast<float>(y) + 0.5F,
                                  .layer = static_cast<std::int32_t>(layer)});
        }
    }
    std::vector<double> values;
    for (const Texel& texel : sample(texture, points).texels)
        values.push_back(integers ? static_cast<double>(texel.channel[channel]) : texel.as_float(channel));
    return values;
}

/// Double-precision sums are exact for up to 2^20 values whose bits lie within 32 of each other.
void expect_statistics(const Texture& texture, const Statistics& statistics) {
    const int channels = info(texture.format()).channels;
    for (int c = 0; c < channels; ++c) {
        const std::vector<double> values = values_of(texture, c);
        double sum = 0;
        for (const double value : values) sum += value;
        const double mean = sum / static_cast<double>(values.size());
        EXPECT_EQ(statistics.finite[c], values.size());
        EXPECT_EQ(statistics.nans[c], 0U);
        EXPECT_EQ(statistics.infinities[c], 0U);
        EXPECT_EQ(statistics.lowest(c), *std::ranges::min_element(values));
        EXPECT_EQ(statistics.highest(c), *std::ranges::max_element(values));
        EXPECT_NEAR(statistics.mean(c), mean, rounding_of(mean));
        std::uint64_t counted = 0;
        for (const std::uint32_t count : statistics.histogram[c]) counted += count;
        EXPECT_EQ(counted, values.size());
    }
    for (int c = channels; c < 4; ++c) {
        EXPECT_EQ(statistics.finite[c], 0U);
        EXPECT_EQ(statistics.lowest(c), kInfinity);
        EXPECT_EQ(statistics.highest(c), -kInfinity);
        EXPECT_TRUE(std::isnan(statistics.mean(c)));
    }
}

class StatisticsTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, StatisticsTest, test::every_device(), test::device_label);

// --- results ---------------------------------------------------------------------------------------------------------

TEST_P(StatisticsTest, AllTexelsOfEveryFormatAndSizeAreCounted) {
    const std::vector<ArrayInfo> infos{
        {Format::rgba8_unorm, {1, 1}},
        {Format::rgba8_srgb, {37, 19}},
        {Format::r16_unorm, {1, 300}},
        {Format::rg8_snorm, {1025, 3}},
        {Format::rgb10a2_unorm, {33, 9}},
        {Format::rgba8_uint, {64, 8}},
        {Format::r16_uint, {31, 7}},
        {.format = Format::rgba8_unorm, .extent = {5, 6}, .kind = ArrayKind::layered_2d, .layers = 3},
        {.format = Format::rg16_unorm, .extent = {40, 9}, .kind = ArrayKind::layered_2d, .layers = 40},
    };
    Random random(1);
    for (const ArrayInfo& info : infos) {
        SCOPED_TRACE(test::describe(info));
        const Texture texture =
            texture_of(device(), info, test::random_texels(random, info.format, packed_bytes(info)));
        expect_statistics(texture, statistics_of(texture));
    }
}

TEST_P(StatisticsTest, TexelsOf8BitsAreCountedByTheirFetchedValues) {
    Random random(9);
    const Sampler samplers[] = {{},
                                {.filter = Filter::linear},
                                {.normalized_coordinates = true},
                                {.filter = Filter::linear, .normalized_coordinates = true}};
    for (const Format format :
         {Format::r8_unorm, Format::rg8_unorm, Format::rgba8_unorm, Format::r8_snorm, Format::rgba8_snorm,
          Format::rgba8_srgb, Format::rg8_srgb, Format::r8_srgb, Format::rg8_uint, Format::rgba8_sint}) {
        for (const Extent extent : {Extent{1, 1}, {15, 3}, {16, 130}, {67, 129}, {512, 5}, {1031, 2}}) {
            SCOPED_TRACE(std::string(name(format)) + " " + to_string(extent));
            const Array array(device(), {format, extent});
            const Pitched2D rows(device(), format, {extent.width, extent.height + 1});
            const View memory = rows.view().region({{}, extent});
            const Bytes texels = test::random_texels(random, format, packed_bytes(array.info()));
            upload(array.view(), texels);
            upload(memory, texels);
            for (const Sampler& sampler : samplers) {
                const FormatKind kind = info(format).kind;
                if (sampler.filter == Filter::linear && (kind == FormatKind::uint || kind == FormatKind::sint))
                    continue;
                const Bytes expected = bytes_of(
                    statistics_of(texture_of(Device::cpu(), {format, extent}, texels, sampler), {-0.5F, 0.9F}));
                EXPECT_EQ(bytes_of(statistics_of(Texture(array, sampler), {-0.5F, 0.9F})), expected);
                if (extent.height == 1) continue;  // one row makes a texture that is read by texel index
                EXPECT_EQ(bytes_of(statistics_of(Texture(memory, sampler), {-0.5F, 0.9F})), expected);
            }
        }
    }
}

TEST_P(StatisticsTest, OnlyTheLayersOfTheTextureRangeAreCounted) {
    Random random(10);
    const ArrayInfo info{.format = Format::rg8_unorm, .extent = {37, 20}, .kind = ArrayKind::layered_2d, .layers = 5};
    const Bytes texels = test::random_texels(random, info.format, packed_bytes(info));
    const std::size_t layer = texels.size() / 5;
    const Array array(device(), info);
    upload(array.view(), texels);
    const Array part(device(), {.format = info.format, .extent = info.extent, .kind = info.kind, .layers = 2});
    upload(part.view(), std::span(texels).subspan(2 * layer, 2 * layer));
    EXPECT_EQ(bytes_of(statistics_of(Texture(array, {}, {.first_layer = 2, .layers = 2}))),
              bytes_of(statistics_of(Texture(part))));
}

TEST_P(StatisticsTest, OnlyTheLevelOfTheTextureRangeIsCounted) {
    Random random(11);
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {40, 36}, .levels = 3};
    const Array array(device(), info);
    for (int level = 0; level < 3; ++level)
        upload(array.view({.level = level}),
               test::random_texels(random, info.format, test::box_bytes(info.format, test::level_box(info, level))));
    expect_statistics(Texture(array, {}, {.first_level = 1, .levels = 1}),
                      statistics_of(Texture(array, {}, {.first_level = 1, .levels = 1})));
}

TEST_P(StatisticsTest, AHistogramOfBytesCountsEachCode) {
    const Bytes texels = test::pattern(std::size_t{61} * 43, 2);
    const Texture texture = texture_of(device(), {Format::r8_unorm, {61, 43}}, texels);
    std::vector<std::uint32_t> expected(256);
    for (const std::byte texel : texels) ++expected[static_cast<std::size_t>(texel)];
    const Statistics statistics = statistics_of(texture);
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(statistics.histogram[0][i], expected[i]) << i;
}

TEST_P(StatisticsTest, ValuesOutOfRangeCountInTheFirstAndLastBins) {
    // Bins are 2^-5 wide, so multiples of 2^-7 are exact.
    std::vector<float> values{-1e30F, -3.01F, 5.01F, 1e30F, 5, -3};
    std::vector<std::uint32_t> expected(256);
    expected[0] = 3;
    expected[255] = 3;
    Random random(3);
    while (values.size() < 600) {
        const std::size_t step = random.below(1024);
        values.push_back(static_cast<float>(step) / 128 - 3);
        ++expected[step / 4];
    }
    const Statistics statistics = statistics_of(texture_of(device(), {30, 20}, values), {-3, 5});
    for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(statistics.histogram[0][i], expected[i]) << i;
}

TEST_P(StatisticsTest, NansAndInfinitiesAreCountedSeparately) {
    const Statistics some =
        statistics_of(texture_of(device(), {4, 2}, {1, kNan, -kInfinity, 3, kInfinity, kNan, -kNan, 2}));
    EXPECT_EQ(some.finite[0], 3U);
    EXPECT_EQ(some.nans[0], 3U);
    EXPECT_EQ(some.infinities[0], 2U);
    EXPECT_EQ(some.lowest(0), 1);
    EXPECT_EQ(some.highest(0), 3);
    EXPECT_EQ(some.mean(0), 2);
    const Statistics none = statistics_of(texture_of(device(), {3, 1}, {kNan, -kInfinity, kInfinity}));
    EXPECT_EQ(none.finite[0], 0U);
    EXPECT_EQ(none.lowest(0), kInfinity);
    EXPECT_EQ(none.highest(0), -kInfinity);
    EXPECT_TRUE(std::isnan(none.mean(0)));
}

// --- sums are exact --------------------------------------------------------------------------------------------------

TEST_P(StatisticsTest, SmallValuesAreNotLostAmongLargeValues) {
    const Statistics statistics = statistics_of(texture_of(device(), {5, 1}, {1e38F, 1, -1e38F, 1e-38F, 2}));
    EXPECT_NEAR(statistics.mean(0), 0.6, rounding_of(0.6));
    const Statistics tiny = statistics_of(texture_of(device(), {4, 1}, {1e38F, -1e38F, 5e-39F, 1e-39F}));
    EXPECT_NEAR(tiny.mean(0), 1.5e-39, 3e-45);
    const Statistics below = statistics_of(texture_of(device(), {4, 1}, {1e20F, -1e20F, -1e-10F, -3e-10F}));
    EXPECT_NEAR(below.mean(0), -1e-10, rounding_of(1e-10));
}

TEST_P(StatisticsTest, TheMeanOfEqualValuesIsExact) {
    const float largest = std::numeric_limits<float>::max();
    const float smallest = std::numeric_limits<float>::denorm_min();
    for (const float value : {0.0F, 1.0F, 0.1F, -1.0F / 3, largest, -largest, smallest, -3 * smallest, 1.17e-38F}) {
        const Statistics statistics = statistics_of(texture_of(device(), {19, 7}, std::vector<float>(133, value)));
        EXPECT_EQ(statistics.mean(0), value);
        EXPECT_EQ(statistics.lowest(0), value);
        EXPECT_EQ(statistics.highest(0), value);
    }
}

TEST_P(StatisticsTest, TheResultDoesNotDependOnTheOrderOfTexels) {
    Random random(4);
    std::vector<float> values;
    for (int i = 0; i < 4000; ++i)
        values.push_back(std::ldexp(2 * random.unit() - 1, static_cast<int>(random.below(250)) - 126));
    const Bytes first = bytes_of(statistics_of(texture_of(device(), {80, 50}, values)));
    std::ranges::reverse(values);
    std::rotate(values.begin(), values.begin() + 777, values.end());
    EXPECT_TRUE(test::same_bytes(bytes_of(statistics_of(texture_of(device(), {50, 80}, values))), first));
}

TEST_P(StatisticsTest, PitchedMemoryAndNormalizedCoordinatesGiveTheSameResult) {
    const Extent extent{45, 23};
    const Bytes texels = test::pattern(packed_bytes(Format::rgba8_unorm, extent), 5);
    const Bytes expected = bytes_of(statistics_of(texture_of(device(), {Format::rgba8_unorm, extent}, texels)));
    const Sampler sampler{
        .address = {AddressMode::wrap, AddressMode::mirror}, .filter = Filter::linear, .normalized_coordinates = true};
    const Texture normalized = texture_of(device(), {Format::rgba8_unorm, extent}, texels, sampler);
    EXPECT_TRUE(test::same_bytes(bytes_of(statistics_of(normalized)), expected));
    const Pitched2D memory(device(), Format::rgba8_unorm, extent);
    upload(memory.view(), texels);
    EXPECT_TRUE(test::same_bytes(bytes_of(statistics_of(Texture(memory.view()))), expected));
}

// --- destinations ----------------------------------------------------------------------------------------------------

TEST_P(StatisticsTest, OnlyTheBytesOfTheStatisticsAreWritten) {
    const Texture texture = texture_of(device(), {2, 1}, {1, 2});
    const Linear memory(device(), sizeof(Statistics) + 32);
    const Stream stream(device());
    fill(memory.view(), std::uint8_t{7}, stream);
    const View inside = memory.view().region({{16}, {sizeof(Statistics) + 8}});
    collect_statistics(stream, inside, texture);
    EXPECT_EQ(read_statistics(stream, inside).mean(0), 1.5F);
    EXPECT_TRUE(test::all_bytes(download(memory.view().region({{0}, {16}})), 7));
    EXPECT_TRUE(test::all_bytes(download(memory.view().region({{sizeof(Statistics) + 16}, {16}})), 7));
}

// --- by name, on both devices ----------------------------------------------------------------------------------------

TEST_P(StatisticsTest, NamedKernelsProduceTables) {
    Random random(6);
    const ArrayInfo array{.format = Format::rg16_float, .extent = {9, 5}, .kind = ArrayKind::layered_2d, .layers = 2};
    const Texture texture = texture_of(device(), array, test::random_texels(random, array.format, packed_bytes(array)));
    const auto made = [&](const char* name, ImageShape shape, const std::map<std::string, ParameterValue>& values) {
        const Kernel& kernel = kernel_named(name);
        const Arguments arguments(kernel.info, values);
        const std::vector<ImageShape> proposed = shapes(kernel, arguments, std::span(&texture, 1));
        EXPECT_EQ(proposed.at(0).extent, shape.extent);
        EXPECT_EQ(proposed.at(0).format, shape.format);
        const Stream stream(device());
        const Linear memory(device(), shape.format, shape.extent);
        const View image = memory.view(shape.format, shape.extent);
        enqueue(kernel, stream, std::span(&image, 1), arguments, std::span(&texture, 1));
        stream.synchronize();
        return download(image);
    };
    const Statistics statistics = statistics_of(texture, {-2, 2});
    std::vector<float> table;
    for (int c = 0; c < 2; ++c) table.push_back(statistics.lowest(c));
    for (int c = 0; c < 2; ++c) table.push_back(statistics.highest(c));
    for (int c = 0; c < 2; ++c) table.push_back(statistics.mean(c));
    for (int i = 0; i < 4; ++i) table.push_back(0);
    EXPECT_TRUE(test::same_bytes(made("statistics", {{2, 5}, Format::r32_float}, {}), std::as_bytes(std::span(table))));
    EXPECT_TRUE(
        test::same_bytes(made("histogram", {{256, 2}, Format::r32_uint}, {{"range", std::vector<double>{-2, 2}}}),
                         std::as_bytes(std::span(statistics.histogram[0], 512))));
}

TEST(StatisticsParityTest, AllDevicesGiveTheSameStatistics) {
    const std::vector<Device> devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "there is no GPU";
    Random random(7);
    for (int round = 0; round < 40; ++round) {
        ArrayInfo array;
        array.format =
            random.of(std::vector<Format>(test::formats_of_every_size().begin(), test::formats_of_every_size().end()));
        array.extent = {random.between(1, 300), random.between(1, 60)};
        if (test::is_block_compressed(array.format)) array.format = Format::rgba32_float;
        if (random.coin()) {
            array.kind = ArrayKind::layered_2d;
            array.layers = random.between(1, 5);
        }
        SCOPED_TRACE(test::describe(array));
        Bytes texels(packed_bytes(array));
        for (std::byte& byte : texels) byte = static_cast<std::byte>(random.bits());  // includes NaN and infinities
        const Bytes here = bytes_of(statistics_of(texture_of(devices[0], array, texels), {-1, 2}));
        const Bytes there = bytes_of(statistics_of(texture_of(devices[1], array, texels), {-1, 2}));
        EXPECT_TRUE(test::same_bytes(there, here));
    }
}

// --- invalid requests ------------------------------------------------------------------------------------------------

TEST_P(StatisticsTest, InvalidArgumentsAreRefusedAndNamed) {
    const Texture texture = texture_of(device(), {2, 1}, {1, 2});
    const Bytes zeros(64);
    const Texture volume =
        texture_of(device(), {.format = Format::r8_unorm, .extent = {4, 4, 4}, .kind = ArrayKind::array_3d}, zeros);
    const Linear memory(device(), 2 * sizeof(Statistics));
    const Stream stream(device());
    const auto refused = [&](const View& view, const Texture& of, const StatisticsOptions& options,
                             std::initializer_list<std::string_view> fragments,
                             test::Caller where = test::Caller::here()) {
        expect_error([&] { collect_statistics(stream, view, of, options); }, ErrorCode::bad_argument,
                     "texton::collect_statistics", fragments, where);
    };
    const View all = memory.view();
    refused(all, volume, {}, {"texture", "array_3d"});
    refused(all, texture, {1, 1}, {"low is 1", "high is 1"});
    refused(all, texture, {kNan, 1}, {"low", "nan"});
    refused(all, texture, {0, kInfinity}, {"high", "inf"});
    refused(all.region({{0}, {sizeof(Statistics) - 1}}), texture, {}, {"4463", "4464"});
    refused(all.region({{4}, {sizeof(Statistics)}}), texture, {}, {"multiple of 8"});
    refused(View(), texture, {}, {"without an address"});
    refused(Array(device(), {Format::r8_uint, {8192, 1}}).view(), texture, {}, {"without an address"});
    Bytes host(2 * sizeof(Statistics));
    refused(host_view(static_cast<void*>(host.data()), Format::r8_uint, {host.size()}), texture, {},
            {"pageable host memory"});
    expect_error(
        [&] {
            (void)read_statistics(stream, all.region({{0}, {100}}));
        },
        ErrorCode::bad_argument, "texton::read_statistics", {"100", "4464"});
}

TEST_P(StatisticsTest, WritingToMemoryOfTheTextureIsRefused) {
    const Pitched2D memory(device(), Format::r32_float, {2000, 4});
    const Stream stream(device());
    const Texture texture(memory.view());
    expect_error([&] { collect_statistics(stream, memory.view(), texture); }, ErrorCode::overlap,
                 "texton::collect_statistics", {});
}

}  // namespace
}  // namespace texton
