// Compares lookup tables with double-precision results, exactly where exact results are specified.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <texton/kernel.h>
#include <texton/lut.h>

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

/// Half a step of the texture unit's weights, which have 256 steps between two entries, for a table with entries that
/// differ by at most 1. A 3D lookup uses three weights.
constexpr double kHardware1d = 1.0 / 512 + 1e-6;
constexpr double kHardware3d = 3 * kHardware1d;

double position_of(double value, float low, float high, std::size_t entries) {
    const double inside = std::min<double>(std::max<double>(value, low), high);
    return (inside - low) / (static_cast<double>(high) - low) * static_cast<double>(entries - 1);
}

float channel(const Float4& color, int index) { return (&color.x)[index]; }

/// Returns the lookup of one channel.
double lookup_1d(const Colors& table, int of, double position) {
    const auto first = std::min(static_cast<std::size_t>(position), table.size() - 1);
    const std::size_t second = std::min(first + 1, table.size() - 1);
    const double share = position - static_cast<double>(first);
    return channel(table[first], of) * (1 - share) + channel(table[second], of) * share;
}

/// A 3D table; red varies fastest.
struct Grid {
    Extent extent;
    Colors entries;

    const Float4& at(std::size_t x, std::size_t y, std::size_t z) const {
        return entries[(std::min(z, extent.depth - 1) * extent.height + std::min(y, extent.height - 1)) * extent.width +
                       std::min(x, extent.width - 1)];
    }
};

struct Position3d {
    double x;
    double y;
    double z;
};

double trilinear(const Grid& grid, int of, const Position3d& position) {
    const auto x = static_cast<std::size_t>(position.x);
    const auto y = static_cast<std::size_t>(position.y);
    const auto z = static_cast<std::size_t>(position.z);
    double sum = 0;
    for (std::size_t corner = 0; corner < 8; ++corner) {
        const std::size_t step[] = {corner & 1, corner >> 1 & 1, corner >> 2};
        const double shares[] = {position.x - static_cast<double>(x), position.y - static_cast<double>(y),
                                 position.z - static_cast<double>(z)};
        double weight = 1;
        for (int i = 0; i < 3; ++i) weight *= step[i] != 0 ? shares[i] : 1 - shares[i];
        sum += weight * channel(grid.at(x + step[0], y + step[1], z + step[2]), of);
    }
    return sum;
}

/// Walks from one corner of the cell to the opposite corner along the axes, in the order of decreasing fractions.
double tetrahedral(const Grid& grid, int of, const Position3d& position) {
    std::size_t corner[] = {static_cast<std::size_t>(position.x), static_cast<std::size_t>(position.y),
                            static_cast<std::size_t>(position.z)};
    const double shares[] = {position.x - static_cast<double>(corner[0]), position.y - static_cast<double>(corner[1]),
                             position.z - static_cast<double>(corner[2])};
    std::vector<int> order{0, 1, 2};
    std::ranges::stable_sort(order, [&](int a, int b) { return shares[a] > shares[b]; });
    double before = channel(grid.at(corner[0], corner[1], corner[2]), of);
    double sum = before;
    for (const int axis : order) {
        ++corner[axis];
        const double here = channel(grid.at(corner[0], corner[1], corner[2]), of);
        sum += shares[axis] * (here - before);
        before = here;
    }
    return sum;
}

class LutTest : public test::OnEveryDevice {
protected:
    Texture texture_of(const Colors& colors, Extent extent) const {
        return Texture(test::color_array(device(), extent, colors));
    }
    Texture table_of(const Grid& grid, ArrayKind kind, const Sampler& sampler) const {
        return Texture(test::color_array(device(), grid.extent, grid.entries, kind), sampler);
    }
    Colors made(const Texture& texture, const Texture& table, const Lut1dOptions& options) const {
        return made_colors(device(), texture.extent(), [&](const Stream& stream, const View& image) {
            lut_1d(stream, image, texture, table, options);
        });
    }
    Colors made(const Texture& texture, const Texture& table, const Lut3dOptions& options) const {
        return made_colors(device(), texture.extent(), [&](const Stream& stream, const View& image) {
            lut_3d(stream, image, texture, table, options);
        });
    }
};
TEST_P(LutTest, TableInOctavesIsExactForLinearColors) {
    // Two octaves of value + 1/4, from 1/4 to 1, with 4 steps each.
    constexpr std::size_t kEntries = 9;
    constexpr float kOffset = 0.25f;
    const auto level = [](std::size_t i) {
        return std::ldexp(1 + static_cast<float>(i % 4) / 4, static_cast<int>(i / 4) - 2) - kOffset;
    };
    Grid grid{{kEntries, kEntries, kEntries}, {}};
    for (std::size_t z = 0; z < kEntries; ++z)
        for (std::size_t y = 0; y < kEntries; ++y)
            for (std::size_t x = 0; x < kEntries; ++x)
                grid.entries.push_back({level(x) - level(y), level(y) + 2 * level(z), level(z), 0});
    const Colors colors{{0, 0, 0, 1},          {0.75f, 0.75f, 0.75f, 1}, {0.01f, 0.7f, 0.3f, 0.5f},
                        {0.5f, 0.1f, 0.2f, 1}, {-1, 2, 0.25f, 1},        {0.26f, 0.24f, 0.74f, 1}};
    const Texture texture = texture_of(colors, {3, 2});
    const Texture table = table_of(grid, ArrayKind::array_3d, {});
    const LutDomain domain{.low = {}, .high = {0.75f, 0.75f, 0.75f}};
    const Colors out = made(texture, table, Lut3dOptions{domain, LutFilter::exact, kOffset});
    for (std::size_t i = 0; i < colors.size(); ++i) {
        const auto inside = [](float value) { return std::clamp(value, 0.0f, 0.75f); };
        const float red = inside(colors[i].x), green = inside(colors[i].y), blue = inside(colors[i].z);
        EXPECT_NEAR(out[i].x, red - green, 1e-6) << i;
        EXPECT_NEAR(out[i].y, green + 2 * blue, 1e-6) << i;
        EXPECT_NEAR(out[i].z, blue, 1e-6) << i;
        EXPECT_EQ(out[i].w, colors[i].w) << i;
    }
    for (const float bad : {-0.5f, 1e30f, std::numeric_limits<float>::quiet_NaN()}) {
        expect_error(
            [&] {
                (void)made(texture, table, Lut3dOptions{domain, LutFilter::exact, bad});
            },
            ErrorCode::bad_argument, "texton::lut_3d", {"octave_offset"});
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, LutTest, test::every_device(), test::device_label);

constexpr Sampler kLinear{.filter = Filter::linear};
constexpr Sampler kNormalized{.filter = Filter::linear, .normalized_coordinates = true};
constexpr LutDomain kWide{{-0.5f, 0, 0.25f}, {1.5f, 2, 0.75f}};

Grid random_grid(Random& random, Extent extent) {
    return {extent, test::random_colors(random, extent.width * extent.height * extent.depth)};
}

// --- 1D --------------------------------------------------------------------------------------------------------------

TEST_P(LutTest, OneDimensionalTablesInterpolateEachChannelLinearly) {
    Random random(1);
    const Texture texture = texture_of(test::random_colors(random, 45, -1, 2), {9, 5});
    for (const std::size_t entries : {std::size_t{1}, std::size_t{2}, std::size_t{17}, std::size_t{1000}}) {
        const Grid grid = random_grid(random, {entries});
        for (const Sampler& sampler : {kLinear, kNormalized}) {
            const Texture table = table_of(grid, ArrayKind::array_1d, sampler);
            for (const LutDomain& domain : {LutDomain{}, kWide}) {
                Colors expected;
                for (const Float4& color : fetched_colors(texture)) {
                    float is[3];
                    for (int i = 0; i < 3; ++i)
                        is[i] = static_cast<float>(lookup_1d(
                            grid.entries, i, position_of(channel(color, i), domain.low[i], domain.high[i], entries)));
                    expected.push_back({is[0], is[1], is[2], color.w});
                }
                EXPECT_TRUE(near_colors(made(texture, table, Lut1dOptions{domain}), expected, kHardware1d));
                // The integer part of a position takes bits from its fraction. Entries differ by at most 1.
                const double bound = 4 * std::ldexp(static_cast<double>(entries), -24) + 1e-6;
                EXPECT_TRUE(near_colors(made(texture, table, Lut1dOptions{domain, LutFilter::exact}), expected, bound));
            }
        }
    }
}

TEST_P(LutTest, ASharedTableAppliesItsRedChannelToAllChannels) {
    Random random(2);
    const Texture texture = texture_of(test::random_colors(random, 12), {4, 3});
    const CurvePoint points[] = {{0, 1}, {0.25f, 0}, {1, 3}};
    const Array curve = curve_array(device(), points, 5);
    EXPECT_EQ(curve.info().extent, Extent{5});
    Colors expected;
    const auto curved = [](float x) { return x < 0.25f ? 1 - 4 * x : (x - 0.25f) * 4; };
    for (const Float4& color : fetched_colors(texture))
        expected.push_back({curved(color.x), curved(color.y), curved(color.z), color.w});
    const Lut1dOptions exact{.filter = LutFilter::exact, .channels = LutChannels::shared};
    EXPECT_TRUE(near_colors(made(texture, Texture(curve), exact), expected, 2e-6));
    const Lut1dOptions hardware{.channels = LutChannels::shared};
    EXPECT_TRUE(near_colors(made(texture, Texture(curve, kLinear), hardware), expected, kHardware1d));
}

TEST_P(LutTest, CurveEntriesInterpolateThePointsLinearly) {
    const CurvePoint points[] = {{-1, 2}, {0, 4}, {0.5f, -1}, {3, -1}};
    const Array curve = curve_array(device(), points, 9);
    const test::Bytes bytes = test::download(curve.view());
    const float expected[] = {2, 3, 4, -1, -1, -1, -1, -1, -1};
    EXPECT_TRUE(test::same_bytes(bytes, std::as_bytes(std::span(expected))));
}

TEST_P(LutTest, ColorsOutsideTheDomainReadTheEndsOfTheTable) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    const Texture texture = texture_of({{-7, 1.5f, kNan, 1}, {kInfinity, -kInfinity, 3e38f, 0}}, {2});
    const Grid line{{3}, {{1, 2, 3, 4}, {9, 9, 9, 9}, {5, 6, 7, 8}}};
    const Texture row = table_of(line, ArrayKind::array_1d, kLinear);
    const Grid cube{{2, 2, 2},
                    {{0, 0, 0, 0},
                     {1, 0, 0, 0},
                     {0, 1, 0, 0},
                     {1, 1, 0, 0},
                     {0, 0, 1, 0},
                     {1, 0, 1, 0},
                     {0, 1, 1, 0},
                     {1, 1, 1, 0}}};
    const Texture identity = table_of(cube, ArrayKind::array_3d, kLinear);
    for (const LutFilter filter : {LutFilter::hardware, LutFilter::exact}) {
        EXPECT_EQ(made(texture, row, Lut1dOptions{.filter = filter}), (Colors{{1, 6, 3, 1}, {5, 2, 7, 0}}));
        EXPECT_EQ(made(texture, identity, Lut3dOptions{.filter = filter}), (Colors{{0, 1, 0, 1}, {1, 0, 1, 0}}));
    }
}

TEST_P(LutTest, TheLastEntryIsReadWithoutWrappingToTheFirst) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr Sampler kWrapped{.address = {AddressMode::wrap, AddressMode::wrap, AddressMode::wrap},
                               .normalized_coordinates = true};
    const Texture texture = texture_of({{1, 1, 1, 1}}, {1});
    const Float4 first{-kInfinity, -kInfinity, -kInfinity, 0};
    const Texture row = table_of({{2}, {first, {2, 3, 4, 0}}}, ArrayKind::array_1d, kWrapped);
    EXPECT_EQ(made(texture, row, Lut1dOptions{.filter = LutFilter::exact}), (Colors{{2, 3, 4, 1}}));
    Colors corners(8, first);
    corners[7] = {2, 3, 4, 0};
    const Texture volume = table_of({{2, 2, 2}, corners}, ArrayKind::array_3d, kWrapped);
    EXPECT_EQ(made(texture, volume, Lut3dOptions{.filter = LutFilter::exact}), (Colors{{2, 3, 4, 1}}));
}

// --- 3D --------------------------------------------------------------------------------------------------------------

TEST_P(LutTest, VolumeTablesInterpolateByTheTextureUnitOrInTetrahedra) {
    Random random(3);
    const Texture texture = texture_of(test::random_colors(random, 45, -1, 2), {9, 5});
    for (const Extent& extent :
         {Extent{2, 2, 2}, Extent{17, 17, 17}, Extent{5, 3, 9}, Extent{1, 1, 1}, Extent{1, 4, 2}}) {
        SCOPED_TRACE(to_string(extent));
        const Grid grid = random_grid(random, extent);
        for (const Sampler& sampler : {kLinear, kNormalized}) {
            const Texture table = table_of(grid, ArrayKind::array_3d, sampler);
            for (const LutDomain& domain : {LutDomain{}, kWide}) {
                Colors smooth;
                Colors exact;
                for (const Float4& color : fetched_colors(texture)) {
                    const Position3d position{position_of(color.x, domain.low[0], domain.high[0], extent.width),
                                              position_of(color.y, domain.low[1], domain.high[1], extent.height),
                                              position_of(color.z, domain.low[2], domain.high[2], extent.depth)};
                    float of_cube[3];
                    float of_tetrahedron[3];
                    for (int i = 0; i < 3; ++i) {
                        of_cube[i] = static_cast<float>(trilinear(grid, i, position));
                        of_tetrahedron[i] = static_cast<float>(tetrahedral(grid, i, position));
                    }
                    smooth.push_back({of_cube[0], of_cube[1], of_cube[2], color.w});
                    exact.push_back({of_tetrahedron[0], of_tetrahedron[1], of_tetrahedron[2], color.w});
                }
                EXPECT_TRUE(near_colors(made(texture, table, Lut3dOptions{domain}), smooth, kHardware3d));
                EXPECT_TRUE(near_colors(made(texture, table, Lut3dOptions{domain, LutFilter::exact}), exact, 1e-5));
            }
        }
    }
}

TEST_P(LutTest, TetrahedralInterpolationKeepsGrayAxisEntriesGray) {
    // Entries on the diagonal are gray, all others are not.
    Random random(4);
    Grid grid = random_grid(random, {5, 5, 5});
    Colors grays;
    for (std::size_t i = 0; i < 5; ++i) {
        const float gray = static_cast<float>(i * i) / 16;
        grid.entries[i * 31] = {gray, gray, gray, 0};
    }
    for (int i = 0; i <= 64; ++i) grays.push_back(Float4{1, 1, 1, 1} * (static_cast<float>(i) / 64));
    const Texture texture = texture_of(grays, {65});
    for (const Float4& color :
         made(texture, table_of(grid, ArrayKind::array_3d, {}), Lut3dOptions{.filter = LutFilter::exact})) {
        EXPECT_EQ(color.x, color.y);
        EXPECT_EQ(color.y, color.z);
    }
}

TEST_P(LutTest, AnEightBitTableAppliesToEightBitLayers) {
    Random random(5);
    const ArrayInfo info{.format = Format::rgba8_unorm, .extent = {6, 5}, .kind = ArrayKind::layered_2d, .layers = 2};
    const Array layers(device(), info);
    const test::Bytes texels = test::random_texels(random, info.format, packed_bytes(info));
    upload(layers.view(), texels);
    // The inverse: entry i is 255 - i.
    test::Bytes entries(1024);
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = static_cast<std::byte>(255 - i / 4);
    const Array inverse(device(), {.format = Format::rgba8_unorm, .extent = {256}, .kind = ArrayKind::array_1d});
    upload(inverse.view(), entries);
    test::Bytes expected = texels;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (i % 4 != 3) expected[i] = ~expected[i];
    }
    for (const LutFilter filter : {LutFilter::hardware, LutFilter::exact}) {
        const Array image(device(), info);
        const Stream stream(device());
        lut_1d(stream, image.view(), Texture(layers), Texture(inverse, kLinear), {.filter = filter});
        stream.synchronize();
        EXPECT_TRUE(test::same_bytes(test::download(image.view()), expected));
    }
}

// --- by name, and invalid requests -----------------------------------------------------------------------------------

TEST_P(LutTest, NamedKernelsMatchTheFunctions) {
    Random random(6);
    const Texture texture = texture_of(test::random_colors(random, 6), {3, 2});
    const Texture row = table_of(random_grid(random, {4}), ArrayKind::array_1d, kLinear);
    const Texture volume = table_of(random_grid(random, {4, 4, 4}), ArrayKind::array_3d, kLinear);
    const auto by_name = [&](const char* name, const Texture& table) {
        const Kernel& kernel = kernel_named(name);
        const Arguments arguments(kernel.info, {{"filter", std::string("exact")},
                                                {"domain_min", std::vector<double>{-0.5, 0, 0.25}},
                                                {"domain_max", std::vector<double>{1.5, 2, 0.75}}});
        const Texture inputs[] = {texture, table};
        EXPECT_EQ(shapes(kernel, arguments, inputs).at(0).extent, texture.extent());
        return made_colors(device(), texture.extent(), [&](const Stream& stream, const View& image) {
            const View images[] = {image};
            enqueue(kernel, stream, images, arguments, inputs);
        });
    };
    EXPECT_EQ(by_name("lut_1d", row), made(texture, row, Lut1dOptions{kWide, LutFilter::exact}));
    EXPECT_EQ(by_name("lut_3d", volume), made(texture, volume, Lut3dOptions{kWide, LutFilter::exact}));
}

TEST_P(LutTest, InvalidTablesAndDomainsAreRefusedAndNamed) {
    Random random(7);
    const Texture texture = texture_of(test::random_colors(random, 4), {2, 2});
    const Grid line = random_grid(random, {4});
    const Grid cube = random_grid(random, {4, 4, 4});
    const Texture row = table_of(line, ArrayKind::array_1d, kLinear);
    const Texture points = table_of(line, ArrayKind::array_1d, {});
    const Texture volume = table_of(cube, ArrayKind::array_3d, kLinear);
    const CurvePoint straight[] = {{0, 0}, {1, 1}};
    const Texture red(curve_array(device(), straight, 4), kLinear);
    const auto refused = [&](const Texture& table, const Lut1dOptions& options,
                             std::initializer_list<std::string_view> fragments) {
        expect_error([&] { (void)made(texture, table, options); }, ErrorCode::bad_argument, "texton::lut_1d",
                     fragments);
    };
    refused(volume, {}, {"table", "array_3d", "array_1d"});
    refused(points, {}, {"table", "Filter::linear"});
    const Linear memory(device(), Format::rgba32_float, {4});
    refused(Texture(memory.view(Format::rgba32_float, {4})), {.filter = LutFilter::exact}, {"table", "row of memory"});
    refused(red, {}, {"table", "r32_float"});
    refused(row, {.domain = {{0, 1, 0}, {1, 1, 1}}}, {"domain", "0"});
    refused(row, {.domain = {{0, 0, -std::numeric_limits<float>::infinity()}}}, {"domain.low", "-inf"});
    refused(row, {.domain = {{0, 0, 0}, {1, 1, 1e-44f}}}, {"domain", "inf"});
    expect_error([&] { (void)made(texture, row, Lut3dOptions{}); }, ErrorCode::bad_argument, "texton::lut_3d",
                 {"table", "array_1d", "array_3d"});
    const Array apart = test::color_array(device(), {2, 2}, test::random_colors(random, 4));
    const Stream stream(device());
    expect_error([&] { lut_1d(stream, apart.view(), Texture(apart), row); }, ErrorCode::overlap, "texton::lut_1d",
                 {"2 x 2"});
}

TEST_P(LutTest, InvalidCurvePointsAreRefusedAndNamed) {
    const auto refused = [&](std::vector<CurvePoint> points, std::size_t size,
                             std::initializer_list<std::string_view> fragments) {
        expect_error([&] { (void)curve_array(device(), points, size); }, ErrorCode::bad_argument, "texton::curve_array",
                     fragments);
    };
    refused({{0, 0}}, 4, {"points", "1"});
    refused({{0, 0}, {1, 1}}, 1, {"size", "1"});
    refused({{0, 0}, {0, 1}}, 4, {"x", "0"});
    refused({{0, 0}, {1, std::numeric_limits<float>::quiet_NaN()}}, 4, {"y", "nan"});
}

}  // namespace
}  // namespace texton
