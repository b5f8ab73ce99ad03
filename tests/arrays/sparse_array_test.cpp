#include <texton/sparse_array.h>

#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <texton/fill.h>
#include <texton/sample.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/sparse_arrays.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::download;
using test::expect_error;
using test::kChunk;
using test::kSide;
using test::tile_at;
using test::tiled;
using test::upload;

class SparseArrayTest : public test::SparseArrayFixture {};
INSTANTIATE_TEST_SUITE_P(Devices, SparseArrayTest, test::every_device(), test::device_label);

TEST_P(SparseArrayTest, TilesCoverEveryLevelAboveTheMipTail) {
    for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::layered_2d}) {
        const bool volume = kind == ArrayKind::array_3d;
        const ArrayInfo info{.format = Format::rgba8_unorm,
                             .extent = volume ? Extent{200, 100, 50} : Extent{3000, 1700},
                             .kind = kind,
                             .layers = kind == ArrayKind::layered_2d ? 3u : 1u,
                             .levels = 7};
        SCOPED_TRACE(test::describe(info));
        const SparseArray array(device(), info);
        const SparseProperties& how = array.properties();
        EXPECT_EQ(how.tile, (volume ? Extent{32, 32, 16} : Extent{128, 128}));
        ASSERT_GT(how.first_tail_level, 0);
        ASSERT_LT(how.first_tail_level, info.levels);
        std::size_t slots = 0;
        for (int level = 0; level < how.first_tail_level; ++level) {
            const Extent tiles = array.tiles(level);
            const Extent texels = level_extent(info, level);
            EXPECT_EQ(tiles.width, (texels.width + how.tile.width - 1) / how.tile.width);
            EXPECT_EQ(tiles.height, (texels.height + how.tile.height - 1) / how.tile.height);
            EXPECT_EQ(tiles.depth, (texels.depth + how.tile.depth - 1) / how.tile.depth);
            slots += tiles.width * tiles.height * tiles.depth * info.layers;
        }
        EXPECT_EQ(array.slots(), slots + how.tail_bytes / kTileBytes * info.layers);
        expect_error([&] { (void)array.tiles(how.first_tail_level); }, ErrorCode::out_of_bounds, "texton::SparseArray",
                     {"mip tail"});
        expect_error([&] { (void)array.tiles(-1); }, ErrorCode::out_of_bounds, "texton::SparseArray");
    }
}

TEST_P(SparseArrayTest, FullyMappedArraysRoundTrip) {
    const Stream stream(device());
    const TilePool tiles = pool();
    for (const Format format : test::formats_of_every_size()) {
        for (const ArrayKind kind : {ArrayKind::array_2d, ArrayKind::array_3d, ArrayKind::layered_2d}) {
            ArrayInfo info{.format = format,
                           .extent = kind == ArrayKind::array_3d ? Extent{70, 50, 20} : Extent{301, 203},
                           .kind = kind,
                           .layers = kind == ArrayKind::layered_2d ? 2u : 1u};
            info.levels = full_levels(info);
            SCOPED_TRACE(test::describe(info));
            SparseArray array(device(), info);
            map_all(array, tiles, stream);
            EXPECT_EQ(array.resident_slots(), array.slots());
            const test::ReferenceArray reference(info, 1);
            test::upload(array.array(), reference);
            EXPECT_TRUE(test::holds(array.array(), reference));
            array.unmap_all(stream);
            EXPECT_EQ(array.resident_slots(), 0u);
        }
    }
    EXPECT_EQ(tiles.usage().used, 0u);
}

TEST_P(SparseArrayTest, UnmappedTilesReadAsZeroAndDiscardWrites) {
    const Stream stream(device());
    SparseArray array(device(), tiled(3, 2));
    array.map(tile_at(1, 0), pool().allocate(1), stream);
    fill(array.array().view(), std::uint8_t{9}, stream);
    stream.synchronize();
    for (std::size_t y = 0; y < 2; ++y) {
        for (std::size_t x = 0; x < 3; ++x) {
            EXPECT_TRUE(test::all_bytes(download(texels(array, x, y)), x == 1 && y == 0 ? 9 : 0));
        }
    }
    upload(array.array().view(), test::Bytes(3 * 2 * kSide * kSide, std::byte{5}));
    EXPECT_TRUE(test::all_bytes(download(texels(array, 0, 0)), 0));
    EXPECT_TRUE(test::all_bytes(download(texels(array, 1, 0)), 5));
    // Mapped again, the memory still has its contents.
    array.unmap(tile_at(1, 0), stream);
    EXPECT_TRUE(test::all_bytes(download(texels(array, 1, 0)), 0));
}

TEST_P(SparseArrayTest, ResidencyReflectsTheLastMapping) {
    const Stream stream(device());
    ArrayInfo info = tiled(4, 2);
    info.kind = ArrayKind::layered_2d;
    info.layers = 2;
    SparseArray array(device(), info);
    EXPECT_THAT(array.residency(0, 1), testing::Each(false));
    EXPECT_EQ(array.residency(0).size(), 8u);
    const TileBox box{.layer = 1, .offset = {1, 0, 0}, .extent = {2, 2, 1}};
    array.map(box, pool().allocate(4), stream);
    EXPECT_THAT(array.residency(0, 1), testing::ElementsAre(false, true, true, false, false, true, true, false));
    EXPECT_THAT(array.residency(0, 0), testing::Each(false));
    EXPECT_TRUE(array.resident(box));
    EXPECT_FALSE(array.resident({.layer = 1, .extent = {2, 1, 1}}));
    EXPECT_EQ(array.resident_slots(), 4u);
    array.unmap(TileBox{.layer = 1, .offset = {2, 1, 0}}, stream);
    EXPECT_FALSE(array.resident(box));
    EXPECT_EQ(array.resident_slots(), 3u);
}

TEST_P(SparseArrayTest, FetchesReportTheResidencyOfTexels) {
    const Stream stream(device());
    SparseArray array(device(), tiled(2));
    array.map(tile_at(1), pool().allocate(1), stream);
    fill(texels(array, 1), std::uint8_t{7}, stream);
    stream.synchronize();
    const Texture texture(array.array());
    const std::vector<FetchPoint> points{{.x = 10.5f, .y = 10.5f}, {.x = 300.5f, .y = 10.5f}};
    const Samples seen = sample(texture, points, {.residency = true});
    EXPECT_THAT(seen.resident, testing::ElementsAre(0, 1));
    EXPECT_EQ(seen.texels.at(0).channel[0], 0u);
    EXPECT_EQ(seen.texels.at(1).channel[0], 7u);
}

TEST_P(SparseArrayTest, TilesOfABoxTakeSlotsInXThenYThenZOrder) {
    const Stream stream(device());
    const ArrayInfo info{.format = Format::r32_uint, .extent = {40, 50, 20}, .kind = ArrayKind::array_3d};
    SparseArray array(device(), info);
    ASSERT_EQ(array.tiles(0), (Extent{2, 2, 2}));
    const Tiles tiles = pool().allocate(9);
    array.map(std::vector<TileMapping>{{{.extent = {2, 2, 2}}, tiles, 1}}, stream);
    EXPECT_EQ(tiles.mapped(), 8u);
    // Fills each slot through a whole tile of another array, and checks that it appears at its position in the first
    // array.
    SparseArray window(device(), {.format = Format::r32_uint, .extent = {32, 32, 16}, .kind = ArrayKind::array_3d});
    ASSERT_EQ(window.slots(), 1u);
    for (std::size_t slot = 0; slot < 8; ++slot) {
        window.map(std::vector<TileMapping>{{{}, tiles, slot + 1}}, stream, Aliasing::allowed);
        fill(window.array().view(), static_cast<std::uint32_t>(slot + 100), stream);
    }
    stream.synchronize();
    for (std::size_t slot = 0; slot < 8; ++slot) {
        const Offset corner{slot % 2 * 32, slot / 2 % 2 * 32, slot / 4 * 16};
        const test::Bytes texel = download(array.array().view({.region = Region{corner, {1, 1, 1}}}));
        EXPECT_EQ(static_cast<std::size_t>(texel.at(0)), slot + 100) << slot;
    }
}

TEST_P(SparseArrayTest, TheMipTailIsMappedCompletely) {
    const Stream stream(device());
    const ArrayInfo info{
        .format = Format::rgba8_unorm, .extent = {512, 512}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 10};
    SparseArray array(device(), info);
    const SparseProperties how = array.properties();
    ASSERT_LT(how.first_tail_level, info.levels);
    ASSERT_TRUE(how.tail_per_layer);
    const Tiles tiles = pool().allocate_bytes(how.tail_bytes);
    array.map(TileBox::mip_tail(1), tiles, stream);
    EXPECT_TRUE(array.resident(TileBox::mip_tail(1)));
    EXPECT_FALSE(array.resident(TileBox::mip_tail(0)));
    EXPECT_EQ(tiles.mapped(), tiles.size());
    for (int level = how.first_tail_level; level < info.levels; ++level) {
        fill(array.array().view({.level = level}), static_cast<std::uint32_t>(0x01010101 * level), stream);
    }
    stream.synchronize();
    for (int level = how.first_tail_level; level < info.levels; ++level) {
        for (std::size_t layer = 0; layer < 3; ++layer) {
            EXPECT_TRUE(test::all_bytes(download(array.array().view({.level = level, .layer = layer})),
                                        layer == 1 ? static_cast<unsigned>(level) : 0));
        }
    }
    array.unmap(TileBox::mip_tail(1), stream);
    EXPECT_EQ(array.resident_slots(), 0u);
    EXPECT_EQ(tiles.mapped(), 0u);
}

TEST_P(SparseArrayTest, MappingASlotTwiceNeedsAliasing) {
    const Stream stream(device());
    const Tiles tiles = pool().allocate(2);
    SparseArray first(device(), tiled(2));
    SparseArray second(device(), tiled(2));
    first.map(tile_at(0), tiles, stream);
    const auto refused = [&](SparseArray& array, const std::vector<TileMapping>& mappings) {
        expect_error([&] { array.map(mappings, stream); }, ErrorCode::overlap, "texton::SparseArray", {"slot 0"});
        EXPECT_EQ(tiles.mapped(), 1u);
    };
    refused(second, {{tile_at(0), tiles, 0}});
    refused(first, {{tile_at(1), tiles, 0}});
    refused(second, {{tile_at(0), tiles, 1}, {tile_at(1), tiles, 0}});
    EXPECT_EQ(second.resident_slots(), 0u);
    second.map(tile_at(1), tiles, stream, Aliasing::allowed);
    EXPECT_EQ(tiles.mapped(), 1u);
    fill(texels(first, 0), std::uint8_t{3}, stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(texels(second, 1)), 3));
    first.unmap_all(stream);
    EXPECT_EQ(tiles.mapped(), 1u);
    refused(first, {{tile_at(0), tiles, 0}});
    second.unmap_all(stream);
    EXPECT_EQ(tiles.mapped(), 0u);
    first.map(tile_at(0), tiles, stream);
}

TEST_P(SparseArrayTest, MappingASlotTwiceInOneCallNeedsAliasing) {
    const Stream stream(device());
    const Tiles tiles = pool().allocate(1);
    SparseArray array(device(), tiled(2));
    const std::vector<TileMapping> mappings{{tile_at(0), tiles}, {tile_at(1), tiles}};
    expect_error([&] { array.map(mappings, stream); }, ErrorCode::overlap, "texton::SparseArray",
                 {"Aliasing::allowed"});
    EXPECT_EQ(tiles.mapped(), 0u);
    EXPECT_EQ(array.resident_slots(), 0u);
    array.map(mappings, stream, Aliasing::allowed);
    EXPECT_EQ(array.resident_slots(), 2u);
}

TEST_P(SparseArrayTest, MappedTilesCanSwapSlotsInOneCall) {
    const Stream stream(device());
    const Tiles tiles = pool().allocate(2);
    SparseArray array(device(), tiled(2));
    array.map({.extent = {2, 1, 1}}, tiles, stream);
    fill(texels(array, 0), std::uint8_t{1}, stream);
    fill(texels(array, 1), std::uint8_t{2}, stream);
    array.map(std::vector<TileMapping>{{tile_at(0), tiles, 1}, {tile_at(1), tiles, 0}}, stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(texels(array, 0)), 2));
    EXPECT_TRUE(test::all_bytes(download(texels(array, 1)), 1));
    array.map({.extent = {2, 1, 1}}, tiles, stream);  // maps the tiles back, then maps them to the same slots again
    array.map({.extent = {2, 1, 1}}, tiles, stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(texels(array, 0)), 1));
    EXPECT_EQ(tiles.mapped(), 2u);
    array.unmap_all(stream);
    EXPECT_EQ(tiles.mapped(), 0u);
}

TEST_P(SparseArrayTest, RemappingABoxReleasesItsOldSlots) {
    const Stream stream(device());
    const TilePool from = pool();
    SparseArray array(device(), tiled(2));
    array.map({.extent = {2, 1, 1}}, from.allocate(2), stream);
    EXPECT_EQ(from.usage().used, 2u);
    array.map(tile_at(1), from.allocate(1), stream);
    EXPECT_EQ(from.usage().used, 3u);  // the allocation of two tiles is still in use as a whole
    array.map(tile_at(0), from.allocate(1), stream);
    EXPECT_EQ(from.usage().used, 2u);
    EXPECT_EQ(array.resident_slots(), 2u);
}

TEST_P(SparseArrayTest, OverlappingBoxesInOneCallAreRefused) {
    const Stream stream(device());
    const Tiles tiles = pool().allocate(4);
    SparseArray array(device(), tiled(3));
    const std::vector<TileMapping> twice{{{.extent = {2, 1, 1}}, tiles},
                                         {{.offset = {1, 0, 0}, .extent = {2, 1, 1}}, tiles, 2}};
    for (int attempt = 0; attempt < 2; ++attempt) {
        expect_error([&] { array.map(twice, stream, Aliasing::allowed); }, ErrorCode::overlap, "texton::SparseArray",
                     {"in common"});
        EXPECT_EQ(tiles.mapped(), 0u);
    }
    array.map({.extent = {3, 1, 1}}, tiles, stream);
    const std::vector<TileBox> boxes{{.extent = {2, 1, 1}}, {.offset = {1, 0, 0}, .extent = {2, 1, 1}}};
    array.unmap(boxes, stream);  // overlapping boxes: the order does not matter
    EXPECT_EQ(tiles.mapped(), 0u);
    EXPECT_EQ(array.resident_slots(), 0u);
    array.unmap(boxes, stream);  // unmapping unmapped tiles has no effect
    array.map({.extent = {3, 1, 1}}, tiles, stream);
    EXPECT_EQ(tiles.mapped(), 3u);
}

TEST_P(SparseArrayTest, OneCallCanMapTenThousandTiles) {
    const Stream stream(device());
    const Tiles tiles = pool().allocate(1);
    SparseArray array(device(), tiled(100, 100));
    std::vector<TileMapping> mappings;
    std::vector<TileBox> boxes;
    for (std::size_t y = 0; y < 100; ++y) {
        for (std::size_t x = 0; x < 100; ++x) {
            mappings.push_back({tile_at(x, y), tiles});
            boxes.push_back(tile_at(x, y));
        }
    }
    array.map(mappings, stream, Aliasing::allowed);
    EXPECT_EQ(array.resident_slots(), 10'000u);
    fill(texels(array, 37, 41), std::uint8_t{8}, stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(texels(array, 99, 0)), 8));
    array.unmap(boxes, stream);
    EXPECT_EQ(array.resident_slots(), 0u);
    EXPECT_EQ(tiles.mapped(), 0u);
}

TEST_P(SparseArrayTest, RefusedCallsChangeNothing) {
    const Stream stream(device());
    ArrayInfo info = tiled(3, 2);
    info.levels = 4;
    SparseArray array(device(), info);
    const Tiles tiles = pool().allocate(8);
    array.map(tile_at(1), tiles, stream);
    fill(texels(array, 1), std::uint8_t{6}, stream);
    stream.synchronize();
    const auto refused = [&](ErrorCode code, const TileBox& box, std::size_t first_slot = 1) {
        const std::vector<TileMapping> mappings{{tile_at(0), tiles, 7}, {box, tiles, first_slot}};
        expect_error([&] { array.map(mappings, stream); }, code, "texton::SparseArray");
        EXPECT_EQ(array.resident_slots(), 1u);
        EXPECT_EQ(tiles.mapped(), 1u);
        EXPECT_TRUE(test::all_bytes(download(texels(array, 1)), 6));
    };
    refused(ErrorCode::out_of_bounds, {.offset = {3, 0, 0}});
    refused(ErrorCode::out_of_bounds, {.offset = {2, 0, 0}, .extent = {2, 1, 1}});
    refused(ErrorCode::out_of_bounds, {.offset = {0, 1, 0}, .extent = {1, 2, 1}});
    refused(ErrorCode::out_of_bounds, {.extent = {1, 1, 2}});
    refused(ErrorCode::out_of_bounds, {.extent = {0, 1, 1}});
    refused(ErrorCode::out_of_bounds, {.offset = {SIZE_MAX, 0, 0}, .extent = {2, 1, 1}});
    refused(ErrorCode::out_of_bounds, {.level = -1});
    refused(ErrorCode::out_of_bounds, {.level = 4});
    refused(ErrorCode::out_of_bounds, {.level = array.properties().first_tail_level});
    refused(ErrorCode::out_of_bounds, {.layer = 1});
    refused(ErrorCode::out_of_bounds, TileBox::mip_tail(1));
    refused(ErrorCode::out_of_bounds, {.extent = {3, 1, 1}}, 6);
    refused(ErrorCode::out_of_bounds, tile_at(0, 1), 8);
    refused(ErrorCode::out_of_bounds, tile_at(0, 1), SIZE_MAX);
    expect_error([&] { array.map(tile_at(0), Tiles(), stream); }, ErrorCode::released, "texton::SparseArray");
    const std::vector<TileBox> boxes{tile_at(1), {.offset = {3, 0, 0}}};
    expect_error([&] { array.unmap(boxes, stream); }, ErrorCode::out_of_bounds, "texton::SparseArray");
    EXPECT_TRUE(array.resident(tile_at(1)));
    array.map(std::span<const TileMapping>(), stream);
    array.unmap(std::span<const TileBox>(), stream);
}

TEST_P(SparseArrayTest, UnsupportedKindsAndUsagesAreRefused) {
    const auto refused = [&](const ArrayInfo& info, std::string_view what) {
        expect_error([&] { SparseArray array(device(), info); }, ErrorCode::unsupported, "texton::SparseArray", {what});
    };
    for (const ArrayKind kind :
         {ArrayKind::array_1d, ArrayKind::layered_1d, ArrayKind::cubemap, ArrayKind::cubemap_layered}) {
        refused(test::flat_info(kind, Format::r8_uint), name(kind));
    }
    refused({.extent = {8, 8}, .usage = {.surface = true}}, "surface");
    expect_error(
        [&] {
            SparseArray array(device(), {.extent = {0, 8}});
        },
        ErrorCode::bad_argument, "texton::SparseArray");
    SparseArray from(device(), tiled(1));
    const SparseArray to = std::move(from);
    // NOLINTNEXTLINE(bugprone-use-after-move)
    expect_error([&] { from.unmap_all(Stream(device())); }, ErrorCode::released, "texton::SparseArray");
    expect_error([] { (void)SparseArray().slots(); }, ErrorCode::released, "texton::SparseArray");
}

TEST_P(SparseArrayTest, StreamsAndTilesOfOtherDevicesAreRefused) {
    SparseArray array(device(), tiled(1));
    const Tiles tiles = pool().allocate(1);
    const Stream stream(device());
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        const Stream foreign(other);
        expect_error([&] { array.map({}, tiles, foreign); }, ErrorCode::wrong_device, "texton::SparseArray");
        expect_error([&] { array.unmap_all(foreign); }, ErrorCode::wrong_device, "texton::SparseArray");
        const Tiles elsewhere = TilePool(other, {.chunk_bytes = kChunk}).allocate(1);
        expect_error([&] { array.map({}, elsewhere, stream); }, ErrorCode::wrong_device, "texton::SparseArray");
    }
    EXPECT_EQ(array.resident_slots(), 0u);
}

}  // namespace
}  // namespace texton
