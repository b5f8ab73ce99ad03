// Maps of ulp distances and levels of detail, the probe's line, and the effect of each field of a sampler.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include <texton/metrics.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"
#include "viewer/inspect/lod_map.h"
#include "viewer/inspect/probe.h"
#include "viewer/inspect/sampler_difference.h"
#include "viewer/inspect/ulp_map.h"

namespace texton::viewer {
namespace {

Array floats(const Device& device, std::size_t width, std::size_t height, const std::vector<float>& texels) {
    const Array array(device, {.format = Format::r32_float, .extent = {width, height}});
    test::upload(array.view(), std::as_bytes(std::span(texels)));
    return Array(array.block());
}

std::vector<float> ramp(std::size_t count) {
    std::vector<float> texels(count);
    std::iota(texels.begin(), texels.end(), 1.0f);
    return texels;
}

// --- ulps ---

TEST(UlpMapTest, DifferingFetchesAreCountedByUlpsAndTheWorstIsFound) {
    std::vector<float> texels = ramp(12 * 5);
    const Array a = floats(Device::cpu(), 12, 5, texels);
    const auto raise = [&](std::size_t texel, std::uint32_t ulps) {
        texels[texel] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(texels[texel]) + ulps);
    };
    raise(3, 1);
    raise(2 * 12 + 7, 5);
    raise(4 * 12 + 11, 4);
    const Array b = floats(Device::cpu(), 12, 5, texels);
    const Sampler sampler;
    const UlpMap map =
        ulp_map_of(Texture(a, sampler), Texture(b, sampler), {a.info(), {}, sampler}, whole_grid({12, 5}, 2));
    EXPECT_EQ(map.fetches, 240u);
    EXPECT_EQ(map.differing, 12u);
    EXPECT_EQ(map.largest, 5u);
    EXPECT_EQ(map.worst, (Position{7.25, 2.25}));
    EXPECT_EQ(map.worst_texels[0].as_float(0), 32.0f);
    EXPECT_EQ(map.histogram[0], 228u);
    EXPECT_EQ(map.histogram[1], 4u);
    EXPECT_EQ(map.histogram[3], 8u);
    ASSERT_EQ(map.cell, 1u);
    EXPECT_EQ(map.cells[4 * 24 + 15], 5u);
    EXPECT_EQ(std::accumulate(map.cells.begin(), map.cells.end(), 0u), 4u * (1 + 5 + 4));
}

TEST(UlpMapTest, CellsOfALargeImageHoldTheLargestUlpDistance) {
    std::vector<float> texels = ramp(100 * 70);
    const Array a = floats(Device::cpu(), 100, 70, texels);
    texels[69 * 100 + 99] = -1;
    texels[0] = std::numeric_limits<float>::quiet_NaN();
    const Array b = floats(Device::cpu(), 100, 70, texels);
    const UlpMap map = ulp_map_of(Texture(a), Texture(b), {a.info(), {}, {}}, whole_grid({100, 70}, 1), {}, 30);
    EXPECT_EQ(map.cell, 4u);
    EXPECT_EQ(map.columns, 25u);
    EXPECT_EQ(map.rows, 18u);
    EXPECT_EQ(map.cells.front(), kFarthest);
    EXPECT_GT(map.cells.back(), 0u);
    EXPECT_EQ(map.subresource_of(24, 17), (Position{96.5, 68.5}));
    EXPECT_EQ(map.histogram[32], 2u) << "NaN, and values of opposite sign";
    EXPECT_EQ(map.differing, 2u);
    EXPECT_EQ(ulp_text(map.largest), "one value is NaN");
}

TEST(UlpMapTest, CanceledMapFetchesNothing) {
    const Array a = floats(Device::cpu(), 4, 4, ramp(16));
    CancellationToken token;
    token.cancel();
    EXPECT_EQ(ulp_map_of(Texture(a), Texture(a), {a.info(), {}, {}}, whole_grid({4, 4}, 1), token).fetches, 0u);
}

TEST(UlpMapTest, HistogramRangesAreLabeledWithTheirUlpDistances) {
    EXPECT_EQ(ulp_range_text(0), "0");
    EXPECT_EQ(ulp_range_text(1), "1");
    EXPECT_EQ(ulp_range_text(3), "4 to 7");
    EXPECT_EQ(ulp_range_text(32), "2147483648 to 4294967295");
}

class TwoDevicesTest : public test::OnEveryDevice {};

// The model and every device must return the same bits for every kind of array.
TEST_P(TwoDevicesTest, DeviceArrayAndItsCopyOnTheModelReturnTheSameBits) {
    test::Random random(8);
    for (const ArrayKind kind : test::all_kinds()) {
        const ArrayInfo info = test::small_info(kind, Format::rgba16_float);
        const Array array(device(), info);
        for (int level = 0; level < info.levels; ++level) {
            const Extent box = test::level_box(info, level);
            test::upload(array.view({.level = level}),
                         test::random_texels(random, info.format, box.width * box.height * box.depth * 8));
        }
        const Array model = on_device(array, Device::cpu());
        const Sampler sampler{.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true};
        const SubresourceIndex subresource{.level = info.levels - 1};
        const FetchGrid grid = whole_grid(level_extent(info, subresource.level), 9);
        const UlpMap map =
            ulp_map_of(Texture(array, sampler), Texture(model, sampler), {info, subresource, sampler}, grid);
        EXPECT_EQ(map.fetches, grid.columns * grid.rows);
        EXPECT_EQ(map.differing, 0u) << test::describe(info);
    }
}
INSTANTIATE_TEST_SUITE_P(Devices, TwoDevicesTest, test::every_device(), test::device_label);

// --- the probe ---

TEST(ProbeTest, ScanLineReturnsTheTexelsOnTheLine) {
    const Array array = floats(Device::cpu(), 8, 1, ramp(8));
    Probe probe;
    for (const bool normalized : {true, false}) {
        const Texture texture(array, {.filter = Filter::linear, .normalized_coordinates = normalized});
        const ScanLine line = scan(texture, array.info(), {}, probe, 0.25, 0.75, 65);
        ASSERT_EQ(line.texels.size(), 65u);
        for (std::size_t i = 0; i < 65; ++i)
            EXPECT_EQ(line.texels[i].as_float(0), 2.5f + 4 * static_cast<float>(i) / 64) << normalized;
        EXPECT_EQ(line.share_of(64), 0.75);
    }
}

TEST(ProbeTest, TexelBordersAreFoundWhereTheLineCrossesThem) {
    ArrayInfo info{.format = Format::r8_unorm, .extent = {8, 4}, .levels = 4};
    Probe probe;
    EXPECT_EQ(texel_borders(info, 0, probe, 0.2, 0.5), (std::vector<double>{0.25, 0.375, 0.5}));
    EXPECT_EQ(texel_borders(info, 2, probe, 0, 1), (std::vector<double>{0, 0.5, 1}));
    probe.line_from = {1, 0, 0};
    probe.line_to = {0, 1, 0};
    EXPECT_EQ(texel_borders(info, 1, probe, 0.1, 0.9), (std::vector<double>{0.25, 0.5, 0.75}));
    EXPECT_TRUE(texel_borders(info, 0, probe, 0, 1, 3).empty()) << "too many borders to draw";
    info.kind = ArrayKind::array_1d;
    probe.line_to[0] = 1;
    EXPECT_TRUE(texel_borders(info, 0, probe, 0, 1).empty()) << "a 1D array has no rows";
}

TEST(ProbeTest, CubemapBordersMatchTheTexelsOfPointFetches) {
    const ArrayInfo info{.format = Format::r32_uint, .extent = {4, 4}, .kind = ArrayKind::cubemap};
    const Array array(Device::cpu(), info);
    std::vector<std::uint32_t> texels(6 * 16);
    std::iota(texels.begin(), texels.end(), 0u);
    test::upload(array.view(), std::as_bytes(std::span(texels)));
    Probe probe;
    probe.line_from = {1, 0.3f, -0.9f};
    probe.line_to = {0.8f, -0.4f, 2};
    const ScanLine line = scan(Texture(array, {.normalized_coordinates = true}), info, {}, probe, 0, 1, 4001);
    std::vector<double> seen;
    for (std::size_t i = 1; i < line.texels.size(); ++i) {
        if (!(line.texels[i] == line.texels[i - 1])) seen.push_back(line.share_of(i));
    }
    const std::vector<double> borders = texel_borders(info, 0, probe, 0, 1);
    ASSERT_EQ(borders.size(), seen.size());
    ASSERT_GT(borders.size(), 4u);
    for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(borders[i], seen[i], 1.0 / 4000);
}

TEST(ProbeTest, GradientsMatchAPixelTheSizeOfATexelOfTheLevel) {
    for (const ArrayKind kind : {ArrayKind::array_1d, ArrayKind::array_2d, ArrayKind::layered_2d, ArrayKind::cubemap}) {
        const bool flat = is_flat(kind);
        const ArrayInfo info{.format = Format::r8_unorm, .extent = {64, flat ? 1u : 64u}, .kind = kind, .levels = 7};
        const Array array(Device::cpu(), info);
        const Sampler sampler{.mip_filter = Filter::linear, .normalized_coordinates = true};
        const Model model(array, sampler);
        Probe probe{.operation = FetchOperation::gradients, .lod = 3};
        const LevelChoice choice = model.levels(probe_fetch(probe, info, {}, sampler, {0.1f, 0.05f, 0.9f}));
        // For a cube the two neighbors lie on the same face, but not at exactly the same distance.
        EXPECT_NEAR(choice.lod, 768, is_cube(kind) ? 40 : 0) << name(kind);
    }
}

// --- effect of each field --------------------------------------------------------------------------------------------

TEST(SamplerDifferenceTest, EachFieldIsComparedSeparatelyWithTheFirstSampler) {
    const Array array = floats(Device::cpu(), 8, 8, ramp(64));
    Sampler a{.normalized_coordinates = true};
    Sampler b = a;
    b.address[0] = AddressMode::wrap;
    b.filter = Filter::linear;
    b.mip_bias = 2;
    const FetchGrid grid{{-1.75, 0.25}, {0.5, 0.5}, 8, 4};  // four columns lie outside the image
    const SamplerDifference found = sampler_difference(array, {}, grid, a, b);
    EXPECT_EQ(found.fetches, 32u);
    ASSERT_EQ(found.fields.size(), 3u);
    EXPECT_EQ(found.fields[0].name, "address[0]");
    EXPECT_EQ(found.fields[0].a, "clamp");
    EXPECT_EQ(found.fields[0].b, "wrap");
    EXPECT_EQ(found.fields[0].differing, 16u);
    EXPECT_GT(found.fields[0].largest, 1000u);
    EXPECT_EQ(found.fields[1].name, "filter");
    EXPECT_EQ(found.fields[1].differing, 27u)
        << "all but five fetches of the first row, which are clamped along both axes";
    EXPECT_EQ(found.fields[2].name, "mip_bias");
    EXPECT_EQ(found.fields[2].differing, 0u);
    EXPECT_EQ(found.all.differing, 32u);
}

TEST(SamplerDifferenceTest, SamplerMetricsAndWorstPositionsComeFromTheFetches) {
    const Array array = floats(Device::cpu(), 4, 1, {0, 0, 8, 8});
    const Sampler point;
    const Sampler linear{.filter = Filter::linear};
    // Results of linear: 0 0 0 2 6 8 8 8; of point: 0 0 0 0 8 8 8 8.
    const FetchGrid grid{{0.25, 0.5}, {0.5, 1}, 8, 1};
    const RegionComparison found = compare_samplers(array, {.level = 0}, grid, point, linear, {.worst = 5});
    EXPECT_EQ(found.extent, (Extent{8, 1}));
    ASSERT_EQ(found.comparison.channels.size(), 1u);
    EXPECT_EQ(found.comparison.all.differing, 2u);
    EXPECT_EQ(found.comparison.all.max, 2);
    EXPECT_EQ(found.comparison.all.mse, 1);
    ASSERT_EQ(found.worst.size(), 2u);
    EXPECT_EQ(found.comparison.worst[0].a[0], 2) << "the reference is the second sampler";
    EXPECT_EQ(found.comparison.worst[0].b[0], 0);
    EXPECT_EQ(found.worst[0], (Position{1.75, 0.5}));
    EXPECT_TRUE(worst_text(found, 1).starts_with("(2.25, 0.5): ")) << worst_text(found, 1);
    CancellationToken token;
    token.cancel();
    EXPECT_TRUE(compare_samplers(array, {}, grid, point, linear, {}, token).worst.empty());
}

TEST(SamplerComparisonTest, TextOfAWorstTexelSaysOneUlpOrSeveralUlps) {
    RegionComparison found;
    for (const std::uint32_t ulp : {1U, 4U, kFarthest}) {
        found.comparison.worst.push_back({.at = {2, 3}, .ulp = ulp, .difference = 0.5});
        found.worst.push_back({2, 3});
    }
    EXPECT_EQ(worst_text(found, 0), "(2, 3): 1 ulp, 0.5");
    EXPECT_EQ(worst_text(found, 1), "(2, 3): 4 ulps, 0.5");
    EXPECT_EQ(worst_text(found, 2), "(2, 3): one value is NaN, 0.5");
}

TEST(SamplerDifferenceTest, FieldThatIsInvalidAloneReportsTheReason) {
    const Array array = floats(Device::cpu(), 8, 8, ramp(64));
    const Sampler a;
    const Sampler b{.address = {AddressMode::wrap, AddressMode::clamp, AddressMode::clamp},
                    .normalized_coordinates = true};
    const SamplerDifference found = sampler_difference(array, {}, whole_grid({8, 8}, 1), a, b);
    ASSERT_EQ(found.fields.size(), 2u);
    EXPECT_NE(found.fields[0].problem.find("needs normalized coordinates"), std::string::npos);
    EXPECT_EQ(found.fields[1].problem, "");
    EXPECT_EQ(found.fields[1].differing, 0u) << "the positions are the same in other coordinates";
}

TEST(SamplerDifferenceTest, LevelsAndAnisotropyCountWhereAPixelCoversManyTexels) {
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {64, 64}, .levels = 7};
    const Array array(Device::cpu(), info);
    test::Random random(9);
    for (int level = 0; level < info.levels; ++level) {
        const Extent box = test::level_box(info, level);
        test::upload(array.view({.level = level}), test::random_texels(random, info.format, box.width * box.height));
    }
    const Sampler a{.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true};
    Sampler b = a;
    b.max_anisotropy = 8;
    b.mip_max = 1;
    EXPECT_EQ(sampler_difference(array, {}, whole_grid({64, 64}, 1), a, b).all.differing, 0u);
    const SamplerDifference found = sampler_difference(array, {}, {{0.5, 0.5}, {8, 1}, 8, 64}, a, b);
    ASSERT_EQ(found.fields.size(), 2u);
    EXPECT_EQ(found.fields[0].name, "max_anisotropy");
    EXPECT_GT(found.fields[0].differing, 500u);
    EXPECT_GT(found.fields[1].differing, 500u);
}

TEST(SamplerDifferenceTest, SamplerFieldsListContainsEveryField) {
    Sampler a;
    const Sampler b{.address = {AddressMode::wrap, AddressMode::wrap, AddressMode::wrap},
                    .filter = Filter::linear,
                    .mip_filter = Filter::linear,
                    .normalized_coordinates = true,
                    .seamless_cubemap = true,
                    .trilinear_optimization = false,
                    .max_anisotropy = 2,
                    .mip_bias = 1,
                    .mip_min = 1,
                    .mip_max = 2,
                    .border = {1, 2, 3, 4}};
    for (const SamplerField& field : sampler_fields()) {
        EXPECT_FALSE(field.same(a, b)) << field.name;
        EXPECT_NE(field.text(a), field.text(b));
        field.take(a, b);
        EXPECT_TRUE(field.same(a, b)) << field.name;
    }
    EXPECT_EQ(a, b);
}

// --- levels of detail ---

TEST(LodMapTest, UntiltedPlaneRepeatsTheImageByTheGivenCount) {
    const LodPlane plane{.shown = true, .tilt = 0, .turn = 0, .repeats = 4};
    const Extent image{60, 30};
    EXPECT_EQ(subresource_on_plane(plane, {30, 15}, image), (Position{0.5, 0.5}));
    EXPECT_EQ(subresource_on_plane(plane, {60, 30}, image), (Position{2.5, 2.5}));
    const LodView view{plane, {2, {30, 15}}, 120, 60, 120, 60};
    const std::optional<LodPixel> pixel = pixel_of(view, 7, 9, image);
    ASSERT_TRUE(pixel);
    EXPECT_NEAR(pixel->steps.right.x, 2, 1e-9);
    EXPECT_NEAR(pixel->steps.down.y, 2, 1e-9);
    EXPECT_NEAR(pixel->steps.right.y, 0, 1e-9);
}

TEST(LodMapTest, TiltedPlaneRecedesTowardTheTopAndEndsAtTheHorizon) {
    const LodView view{{.shown = true, .tilt = 80, .turn = 30, .repeats = 4}, {3, {32, 32}}, 300, 200, 300, 200};
    EXPECT_FALSE(pixel_of(view, 100, 0, {64, 64}));
    double before = 0;
    for (int y = 199; y > 80; --y) {
        const std::optional<LodPixel> pixel = pixel_of(view, 100, y, {64, 64});
        ASSERT_TRUE(pixel) << y;
        const double length = std::hypot(pixel->steps.down.x, pixel->steps.down.y);
        EXPECT_GT(length, before);
        before = length;
    }
}

TEST(LodMapTest, SmallerMapCoversTheSamePixelsAsTheWholeCanvas) {
    const LodView whole{{.shown = true, .tilt = 50, .turn = 10, .repeats = 4}, {3, {32, 32}}, 300, 200, 300, 200};
    LodView small = whole;
    small.columns = 60;
    small.rows = 40;
    const std::optional<LodPixel> a = pixel_of(whole, 152, 177, {64, 64});
    const std::optional<LodPixel> b = pixel_of(small, 30, 35, {64, 64});  // the center of five
    ASSERT_TRUE(a && b);
    EXPECT_NEAR(a->texel.x, b->texel.x, 1e-9);
    EXPECT_NEAR(a->steps.down.y, b->steps.down.y, 1e-9);
}

TEST(LodMapTest, PixelsHaveTheLevelsOfTheModelsFetches) {
    const ArrayInfo info{.format = Format::r32_float, .extent = {64, 64}, .levels = 7};
    const Array array(Device::cpu(), info);
    for (int level = 0; level < 7; ++level) {
        const Extent box = test::level_box(info, level);
        const std::vector<float> texels(box.width * box.height, static_cast<float>(level));
        test::upload(array.view({.level = level}), std::as_bytes(std::span(texels)));
    }
    const Sampler sampler{.address = {AddressMode::wrap, AddressMode::wrap, AddressMode::wrap},
                          .filter = Filter::linear,
                          .mip_filter = Filter::linear,
                          .normalized_coordinates = true,
                          .max_anisotropy = 4,
                          .mip_bias = 0.25f};
    const Texture texture(array, sampler);
    const Model model(array, sampler);
    const LodView view{{.shown = true, .tilt = 75, .turn = 20, .repeats = 6}, {0.5, {32, 32}}, 60, 40, 60, 40};
    const LodMap map = lod_map(model, info, {}, view);
    std::size_t seen = 0;
    for (int y = 0; y < 40; ++y) {
        for (int x = 0; x < 60; ++x) {
            const std::optional<Fetch> fetch = lod_fetch(info, {}, sampler, view, x, y);
            ASSERT_EQ(fetch.has_value(), map.at(x, y).has_value());
            if (!fetch) continue;
            ASSERT_EQ(fetched(texture, *fetch).as_float(0), static_cast<float>(map.at(x, y)->clamped) / 256);
            ++seen;
        }
    }
    EXPECT_GT(seen, 1000u);
    EXPECT_LT(seen, 2400u) << "the sky";
    const std::vector<std::uint32_t> colors = colors_of(map, LodQuantity::clamped, 0xff123456u);
    EXPECT_EQ(colors.front(), 0xff123456u);
    EXPECT_EQ(colors.back(), legend_color(map.pixels.back()->clamped / 256.0 / 6));
}

TEST(LodMapTest, FlatViewHasTheLodOfItsZoomAndShownLevel) {
    const ArrayInfo info{.format = Format::r8_unorm, .extent = {64, 64}, .levels = 7};
    const Array array(Device::cpu(), info);
    const Sampler sampler{.mip_filter = Filter::linear, .normalized_coordinates = true};
    const Model model(array, sampler);
    const LodMap map = lod_map(model, info, {}, {{}, {0.25, {32, 32}}, 8, 8, 8, 8});
    EXPECT_EQ(map.at(3, 3)->lod, 512);
    const LodMap coarse = lod_map(model, info, {.level = 2}, {{}, {0.25, {8, 8}}, 8, 8, 8, 8});
    EXPECT_EQ(coarse.at(3, 3)->lod, 1024);
    EXPECT_EQ(words_of(*coarse.at(3, 3)), "lod 4.000, biased 4.000, clamped 4.000: level 4, 1 sample");
}

TEST(LodMapTest, LegendSpansAllColorsAndClampsItsInput) {
    EXPECT_EQ(legend_color(0), 0xff440154u);
    EXPECT_EQ(legend_color(1), 0xfffde725u);
    EXPECT_EQ(legend_color(-5), legend_color(0));
    EXPECT_EQ(legend_color(std::numeric_limits<double>::quiet_NaN()), legend_color(0));
    EXPECT_EQ(legend_color(7), legend_color(1));
}

}  // namespace
}  // namespace texton::viewer
