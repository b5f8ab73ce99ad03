// Partly mapped sparse arrays: results of copies and fetches, and the residency flags of fetches.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/sample.h>
#include <texton/sparse_array.h>
#include <texton/texture.h>
#include <texton/tile_pool.h>

#include "arrays/unit/texel_filter.h"
#include "tests/support/arrays.h"
#include "tests/support/decode.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::describe;
using test::Random;
using test::ReferenceArray;

class ArrayResidencyTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayResidencyTest, test::every_device(), test::device_label);

// Tells which tiles of a level have memory: x fastest, then y, then slices of tiles or layers.
struct Tiling {
    SparseProperties properties;
    Extent box;   // extent of the level in texels
    Extent grid;  // extent in tiles; depth counts slices of tiles or layers
    bool volume;
    std::vector<bool> mapped;

    Offset position(std::size_t index) const {
        return {index % grid.width, index / grid.width % grid.height, index / grid.width / grid.height};
    }
    TileBox tile(std::size_t index) const {
        const Offset at = position(index);
        return {.layer = volume ? 0 : at.z, .offset = {at.x, at.y, volume ? at.z : 0}};
    }
    // Returns the texels of a tile that lie inside the level.
    Region texels(std::size_t index) const {
        const Offset at = position(index);
        const Extent size{properties.tile.width, properties.tile.height, volume ? properties.tile.depth : 1};
        const Offset first{at.x * size.width, at.y * size.height, at.z * size.depth};
        return {first,
                {std::min(size.width, box.width - first.x), std::min(size.height, box.height - first.y),
                 std::min(size.depth, box.depth - first.z)}};
    }
    bool resident(const Offset& texel) const {
        const std::size_t z = texel.z / (volume ? properties.tile.depth : 1);
        const std::size_t y = texel.y / properties.tile.height;
        return mapped.at((z * grid.height + y) * grid.width + texel.x / properties.tile.width);
    }
};

// Selects half of the tiles at random.
Tiling half_of(const SparseArray& sparse, Random& random) {
    const ArrayInfo& info = sparse.array().info();
    const bool volume = info.kind == ArrayKind::array_3d;
    Tiling tiling{sparse.properties(), test::level_box(info, 0), sparse.tiles(0), volume, {}};
    if (!volume) tiling.grid.depth = info.layers;
    tiling.mapped.resize(tiling.grid.width * tiling.grid.height * tiling.grid.depth);
    for (std::size_t i = 0; i < tiling.mapped.size(); ++i) tiling.mapped[i] = random.coin();
    return tiling;
}

void expect_fetched(const Array& array, const ReferenceArray& expected, const Tiling& tiling, Random& random) {
    std::vector<FetchPoint> points;
    std::vector<Offset> texels;
    for (int i = 0; i < 500; ++i) {
        const Offset at{random.below(tiling.box.width), random.below(tiling.box.height),
                        random.below(tiling.box.depth)};
        texels.push_back(at);
        points.push_back({.x = static_cast<float>(at.x) + 0.5f,
                          .y = static_cast<float>(at.y) + 0.5f,
                          .z = static_cast<float>(at.z) + 0.5f,
                          .layer = static_cast<std::int32_t>(at.z)});
    }
    const Samples seen = sample(Texture(array), points, {.residency = true});
    ASSERT_EQ(seen.texels.size(), points.size());
    ASSERT_EQ(seen.resident.size(), points.size());
    const Format format = expected.info().format;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Offset& at = texels[i];
        ASSERT_EQ(seen.resident[i], tiling.resident(at) ? 1 : 0) << at.x << ", " << at.y << ", " << at.z;
        const auto stored = test::decode(format, expected.read(0, {at, {1, 1, 1}}));
        for (std::size_t c = 0; c < info(format).channels; ++c) {
            ASSERT_EQ(seen.texels[i].channel[c], stored[c]) << at.x << ", " << at.y << ", " << at.z;
        }
    }
}

TEST_P(ArrayResidencyTest, UnmappedTilesReadAsZeroDiscardWritesAndAreNotResident) {
    const ArrayInfo infos[] = {
        {.format = Format::r32_uint, .extent = {300, 200}},
        {.format = Format::r8_uint, .extent = {700, 300}},
        {.format = Format::rgba32_uint, .extent = {150, 100}, .kind = ArrayKind::layered_2d, .layers = 3},
        {.format = Format::rg32_uint, .extent = {400, 130}, .kind = ArrayKind::layered_2d, .layers = 2},
        {.format = Format::r32_uint, .extent = {70, 40, 35}, .kind = ArrayKind::array_3d},
        {.format = Format::rgba32_uint, .extent = {40, 20, 20}, .kind = ArrayKind::array_3d}};
    Random random(14);
    const Stream stream(device());
    const TilePool pool(device(), {.chunk_bytes = std::size_t{2} << 20});
    for (const ArrayInfo& info : infos) {
        SCOPED_TRACE(describe(info));
        SparseArray sparse(device(), info);
        const Tiling tiling = half_of(sparse, random);
        ASSERT_EQ(tiling.properties.tile, tile_extent(info.format, tiling.volume ? 3 : 2));
        const ReferenceArray sent(info, 15);
        ReferenceArray expected(info, 16);
        const std::byte zero[] = {std::byte{0}};
        expected.fill(0, {{}, tiling.box}, zero);

        const Tiles tiles = pool.allocate(tiling.mapped.size());
        std::vector<TileMapping> mappings;
        for (std::size_t i = 0; i < tiling.mapped.size(); ++i) {
            if (!tiling.mapped[i]) continue;
            // A permutation of the slots: steps of 7 reach every slot once because 7 does not divide the number of
            // slots.
            mappings.push_back({tiling.tile(i), tiles, (i * 7 + 3) % tiling.mapped.size()});
            expected.write(0, tiling.texels(i), sent.read(0, tiling.texels(i)));
        }
        ASSERT_NE(tiling.mapped.size() % 7, 0u);
        ASSERT_FALSE(mappings.empty());
        sparse.map(mappings, stream);
        EXPECT_EQ(sparse.resident_slots(), mappings.size());
        copy(sparse.array().view(), host_view(static_cast<const void*>(sent.level(0).data()), info.format, tiling.box),
             stream);
        stream.synchronize();
        ASSERT_TRUE(test::holds(sparse.array(), expected));
        expect_fetched(sparse.array(), expected, tiling, random);
        if (HasFatalFailure()) return;

        sparse.unmap_all(stream);
        expected.fill(0, {{}, tiling.box}, zero);
        stream.synchronize();
        ASSERT_TRUE(test::holds(sparse.array(), expected));
    }
}

// A fetch from an array of floats with the result of an H200: the value, and whether all texels had memory. Texels with
// weight 0 do not count.
struct Told {
    FetchPoint point;
    float value;
    int resident;
};

void expect_told(const Array& array, const Sampler& sampler, FetchOperation operation, const std::vector<Told>& all) {
    std::vector<FetchPoint> points;
    for (const Told& told : all) points.push_back(told.point);
    const Samples seen = sample(Texture(array, sampler), points, {.operation = operation, .residency = true});
    ASSERT_EQ(seen.resident.size(), all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const FetchPoint& at = points[i];
        const std::string where = "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " +
                                  std::to_string(at.z) + "), lod " + std::to_string(at.lod);
        EXPECT_EQ(seen.texels[i].as_float(0), all[i].value) << where;
        EXPECT_EQ(seen.resident[i], all[i].resident) << where;
    }
}

void fill_with(const View& view, float value) { fill(view, std::as_bytes(std::span(&value, 1))); }

TEST_P(ArrayResidencyTest, ResidencyOfFilteredFetchesMatchesAnH200) {
    const Stream stream(device());
    const TilePool pool(device(), {.chunk_bytes = std::size_t{2} << 20});
    const Sampler linear{.filter = Filter::linear};
    using enum FetchOperation;

    SparseArray plane(device(), {.format = Format::r32_float, .extent = {256, 256}, .usage = {.gather = true}});
    plane.map(TileBox{}, pool.allocate(1), stream);
    stream.synchronize();
    fill_with(plane.array().view(), 5);
    expect_told(plane.array(), {}, plain, {{{.x = 10.5f, .y = 10.5f}, 5, 1}, {{.x = 200.5f, .y = 10.5f}, 0, 0}});
    expect_told(plane.array(), linear, plain,
                {{{.x = 10.5f, .y = 10.5f}, 5, 1},
                 {{.x = 128, .y = 10.5f}, 2.5f, 0},
                 {{.x = 127.75f, .y = 10.5f}, 3.75f, 0},
                 {{.x = 128.25f, .y = 10.5f}, 1.25f, 0},
                 {{.x = 127.5f, .y = 10.5f}, 5, 1},
                 {{.x = 128.5f, .y = 10.5f}, 0, 0},
                 {{.x = 128, .y = 128}, 1.25f, 0}});
    expect_told(plane.array(), {.filter = Filter::linear, .normalized_coordinates = true}, plain,
                {{{.x = 127.5f / 256, .y = 10.5f / 256}, 5, 1}});
    const std::vector<FetchPoint> gathers{{.x = 10.5f, .y = 10.5f}, {.x = 128, .y = 10.5f}, {.x = 200, .y = 10.5f}};
    const Samples gathered = sample(Texture(plane.array(), linear), gathers, {.operation = gather, .residency = true});
    EXPECT_EQ(gathered.resident, (std::vector<std::uint8_t>{1, 0, 0}));
    const float expected[3][4] = {{5, 5, 5, 5}, {5, 0, 0, 5}, {0, 0, 0, 0}};
    for (std::size_t i = 0; i < 3; ++i) {
        for (int c = 0; c < 4; ++c) EXPECT_EQ(gathered.texels[i].as_float(c), expected[i][c]);
    }

    SparseArray layers(device(),
                       {.format = Format::r32_float, .extent = {256, 128}, .kind = ArrayKind::layered_2d, .layers = 2});
    layers.map({.layer = 1}, pool.allocate(1), stream);
    stream.synchronize();
    fill_with(layers.array().view(), 5);
    expect_told(layers.array(), linear, plain,
                {{{.x = 10.5f, .y = 10.5f, .layer = 1}, 5, 1},
                 {{.x = 10.5f, .y = 10.5f, .layer = 0}, 0, 0},
                 {{.x = 128, .y = 10.5f, .layer = 1}, 2.5f, 0}});

    SparseArray volume(device(), {.format = Format::r32_float, .extent = {64, 32, 32}, .kind = ArrayKind::array_3d});
    volume.map(TileBox{}, pool.allocate(1), stream);
    stream.synchronize();
    fill_with(volume.array().view(), 5);
    expect_told(volume.array(), {}, plain,
                {{{.x = 10.5f, .y = 10.5f, .z = 5.5f}, 5, 1}, {{.x = 40.5f, .y = 10.5f, .z = 1.5f}, 0, 0}});
    expect_told(volume.array(), linear, plain,
                {{{.x = 10.5f, .y = 10.5f, .z = 5.5f}, 5, 1},
                 {{.x = 10.5f, .y = 10.5f, .z = 20.5f}, 0, 0},
                 {{.x = 10.5f, .y = 10.5f, .z = 16}, 2.5f, 0},
                 {{.x = 32, .y = 10.5f, .z = 5.5f}, 2.5f, 0},
                 {{.x = 10.5f, .y = 10.5f, .z = 15.5f}, 5, 1}});
}

TEST_P(ArrayResidencyTest, ResidencyOfLevelsMatchesAnH200) {
    const Stream stream(device());
    const TilePool pool(device(), {.chunk_bytes = std::size_t{2} << 20});
    SparseArray array(device(), {.format = Format::r32_float, .extent = {1024, 1024}, .levels = 11});
    ASSERT_EQ(array.properties().first_tail_level, 4);
    // A corner of level 0, all of level 2, and the mip tail.
    const TileMapping mappings[] = {{{.extent = {4, 4, 1}}, pool.allocate(16), 0},
                                    {{.level = 2, .extent = array.tiles(2)}, pool.allocate(4), 0},
                                    {TileBox::mip_tail(), pool.allocate(1), 0}};
    array.map(mappings, stream);
    stream.synchronize();
    for (int level = 0; level < 11; ++level)
        fill_with(array.array().view({.level = level}), static_cast<float>(10 + level));
    const auto at = [](float lod) { return FetchPoint{.x = 0.1f, .y = 0.1f, .lod = lod}; };
    const Sampler nearest{.filter = Filter::linear, .normalized_coordinates = true};
    expect_told(array.array(), nearest, FetchOperation::lod,
                {{at(0), 10, 1},
                 {at(0.5f), 0, 0},
                 {at(1), 0, 0},
                 {at(1.5f), 12, 1},
                 {at(2), 12, 1},
                 {at(2.5f), 0, 0},
                 {at(3), 0, 0},
                 {at(4), 14, 1},
                 {at(8), 18, 1},
                 {at(10), 20, 1},
                 {{.x = 0.8f, .y = 0.8f}, 0, 0}});
    const Sampler blended{.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true};
    expect_told(array.array(), blended, FetchOperation::lod,
                {{at(0), 10, 1},
                 {at(0.5f), 5, 0},
                 {at(1), 0, 0},
                 {at(1.5f), 6, 0},
                 {at(2), 12, 1},
                 {at(2.5f), 6, 0},
                 {at(3), 0, 0},
                 {at(4), 14, 1},
                 {at(8), 18, 1},
                 {at(10), 20, 1}});
}

// Levels that are blended give their texels small shares, of which the weights along x and y can be rounded to 0.
TEST_P(ArrayResidencyTest, TexelsWhoseWeightIsRoundedToZeroNeedNoMemory) {
    const Stream stream(device());
    const TilePool pool(device(), {.chunk_bytes = std::size_t{2} << 20});
    const Sampler blended{.filter = Filter::linear, .mip_filter = Filter::linear, .normalized_coordinates = true};
    const ArrayInfo info{.format = Format::rgba32_float, .extent = {256, 256}, .levels = 9};
    std::vector<FetchPoint> points;  // between four texels, of which each is in another tile
    std::vector<detail::FootprintWeights> weights;
    const int weights_of_256[] = {0, 1, 2, 8, 16, 64, 128, 200, 240, 248, 254, 255};
    for (const int lod : {0, 128, 224, 240, 250, 255}) {
        for (const int x : weights_of_256) {
            for (const int y : weights_of_256) {
                points.push_back({.x = (127.5f + static_cast<float>(x) / 256) / 256,
                                  .y = (127.5f + static_cast<float>(y) / 256) / 256,
                                  .lod = static_cast<float>(lod) / 256});
                weights.push_back(detail::footprint_weights(x, y, 256 - lod));
            }
        }
    }
    std::size_t rounded = 0;
    for (std::size_t missing = 0; missing < 4; ++missing) {
        SparseArray sparse(device(), info);
        ASSERT_EQ(sparse.properties().tile, (Extent{64, 64}));
        for (int level = 0; level < sparse.properties().first_tail_level; ++level) {
            const Extent grid = sparse.tiles(level);
            sparse.map(TileBox{.level = level, .extent = grid}, pool.allocate(grid.width * grid.height), stream);
        }
        sparse.map(TileBox::mip_tail(), pool.allocate_bytes(sparse.properties().tail_bytes), stream);
        sparse.unmap(TileBox{.offset = {1 + missing % 2, 1 + missing / 2}, .extent = {1, 1}}, stream);
        stream.synchronize();
        const Samples seen =
            sample(Texture(sparse.array(), blended), points, {.operation = FetchOperation::lod, .residency = true});
        for (std::size_t i = 0; i < points.size(); ++i) {
            EXPECT_EQ(seen.resident[i] != 0, weights[i].of[missing] == 0)
                << missing << " at " << points[i].x << ", " << points[i].y << ", lod " << points[i].lod;
            rounded += weights[i].reaches[missing] && weights[i].of[missing] == 0;
        }
    }
    EXPECT_GT(rounded, 100u);
}

}  // namespace
}  // namespace texton
