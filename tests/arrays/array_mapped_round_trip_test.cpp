// Round trips through arrays with mapped memory: sparse arrays, deferred arrays, and the planes of planar arrays.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/planar_array.h>
#include <texton/sparse_array.h>
#include <texton/tile_pool.h>

#include "tests/support/arrays.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::Bytes;
using test::describe;
using test::download;
using test::holds;
using test::pattern;
using test::Random;
using test::ReferenceArray;
using test::same_bytes;
using test::upload;

constexpr std::byte kZero[] = {std::byte{0}};

class ArrayMappedRoundTripTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        stream_.emplace(device());
        pool_.emplace(device(), TilePoolInfo{.chunk_bytes = std::size_t{2} << 20});
    }
    void TearDown() override {
        pool_.reset();
        stream_.reset();
        OnEveryDevice::TearDown();
    }

    const Stream& stream() const { return *stream_; }
    const TilePool& pool() const { return *pool_; }

    // Writes, fills, copies and reads random regions of every level: blocking, on the stream and in graphs.
    void exercise(const Array& array, ReferenceArray& reference, Random& random) {
        const ArrayInfo& info = reference.info();
        for (int level = 0; level < info.levels; ++level) {
            for (int round = 0; round < 3; ++round) {
                const Region region = test::random_region(random, info.format, reference.extent(level));
                SCOPED_TRACE(describe(info) + ", level " + std::to_string(level) + ", " + to_string(region));
                const View part = array.view({.level = level, .region = region});
                const Bytes sent = pattern(test::box_bytes(info.format, region.extent), static_cast<unsigned>(round));
                const auto host = host_view(static_cast<const void*>(sent.data()), info.format, region.extent);
                const Linear memory(device(), sent.size());
                const View there = memory.view(Format::r8_uint, {sent.size()});
                if (round == 0) {
                    copy(part, host);
                } else if (round == 1) {
                    upload(there, sent);
                    const View texels = borrowed_view(device(), memory.data(), info.format, region.extent);
                    copy(part, texels, stream());
                    fill(there, std::uint8_t{0}, stream());
                    copy(texels, part, stream());
                    stream().synchronize();
                    ASSERT_TRUE(same_bytes(download(there), sent));
                } else {
                    const Bytes texel = pattern(texton::info(info.format).bytes, 1);
                    const Graph graph = Graph::capture(stream(), [&] {
                        copy(part, host, stream());
                        fill(part, texel, stream());
                    });
                    graph.launch(stream());
                    stream().synchronize();
                    reference.fill(level, region, texel);
                    continue;
                }
                reference.write(level, region, sent);
            }
        }
        ASSERT_TRUE(holds(array, reference)) << describe(info);
    }

private:
    std::optional<Stream> stream_;
    std::optional<TilePool> pool_;
};
INSTANTIATE_TEST_SUITE_P(Devices, ArrayMappedRoundTripTest, test::every_device(), test::device_label);

// --- deferred --------------------------------------------------------------------------------------------------------

TEST_P(ArrayMappedRoundTripTest, DeferredArraysOfEveryKindRoundTrip) {
    Random random(1);
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            ArrayInfo info = test::small_info(kind, format);
            DeferredArray array(device(), info);
            const Tiles tiles = pool().allocate_bytes(array.requirements().bytes);
            array.map(tiles, stream());
            ReferenceArray reference(info, 2);
            upload(array.array(), reference);
            ASSERT_TRUE(holds(array.array(), reference)) << describe(info);
            exercise(array.array(), reference, random);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_P(ArrayMappedRoundTripTest, RemappingADeferredArrayToItsOldMemoryRestoresItsTexels) {
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : {Format::r8_uint, Format::rgba32_float, Format::bc1_unorm}) {
            if (!test::has_arrays(kind, format)) continue;
            ArrayInfo info = test::small_info(kind, format);
            if (!is_flat(kind)) info.extent = {75, 75, info.extent.depth};
            info.levels = full_levels(info);
            SCOPED_TRACE(describe(info));
            DeferredArray array(device(), info);
            const std::size_t bytes = array.requirements().bytes;
            const Tiles first = pool().allocate_bytes(bytes);
            const Tiles second = pool().allocate_bytes(bytes);
            array.map(first, stream());
            const ReferenceArray in_first(info, 3);
            upload(array.array(), in_first);
            array.map(second, stream());
            const ReferenceArray in_second(info, 4);
            upload(array.array(), in_second);
            array.map(first, stream());
            ASSERT_TRUE(holds(array.array(), in_first));
            array.unmap(stream());
            array.map(second, stream());
            ASSERT_TRUE(holds(array.array(), in_second));
            // Another array with the same info shows the same memory.
            DeferredArray twin(device(), info);
            twin.map(second, stream());
            stream().synchronize();
            ASSERT_TRUE(holds(twin.array(), in_second));
            twin.unmap(stream());
            // move() keeps the texels.
            array.move(first, stream());
            stream().synchronize();
            ASSERT_TRUE(holds(array.array(), in_second));
        }
    }
}

// --- sparse ----------------------------------------------------------------------------------------------------------

std::vector<ArrayInfo> sparse_infos() {
    const auto whole_chain = [](ArrayInfo info) {
        info.levels = full_levels(info);
        return info;
    };
    using enum Format;
    using enum ArrayKind;
    return {{r32_uint, {300, 200}},
            {r32_uint, {256, 384}},  // this one and the next four consist of whole tiles
            whole_chain({r8_unorm, {1024, 512}}),
            {rgba8_unorm, {384, 128}, layered_2d, 3},
            whole_chain({r16_float, {64, 96, 64}, array_3d}),
            {bc1_unorm, {1024, 768}},
            whole_chain({r32_uint, {300, 200}}),
            whole_chain({r8_uint, {700, 530}}),
            whole_chain({rgba32_float, {200, 150}}),
            whole_chain({rg32_float, {260, 70}, layered_2d, 3}),
            whole_chain({rgba8_unorm, {300, 200}, layered_2d, 3}),
            {rgba8_unorm, {300, 200}, layered_2d, 2, 2},
            whole_chain({r16_float, {70, 40, 70}, array_3d}),
            whole_chain({rgba8_unorm, {70, 40, 35}, array_3d}),
            whole_chain({rgba32_float, {40, 33, 20}, array_3d}),
            whole_chain({bc1_unorm, {1030, 522}}),
            whole_chain({bc7_srgb, {522, 261}, layered_2d, 2}),
            // Smaller than a tile: the whole array is one mip tail that all layers share.
            {r8_uint, {100, 90}},
            whole_chain({r8_uint, {255, 255}}),
            whole_chain({rgba8_unorm, {100, 100}, layered_2d, 4}),
            whole_chain({rg32_float, {100, 100}, layered_2d, 4}),
            whole_chain({r32_float, {33, 17, 9}, array_3d})};
}

std::size_t tail_count(const SparseArray& array) {
    if (array.properties().tail_bytes == 0) return 0;
    return array.properties().tail_per_layer ? array.array().info().layers : 1;
}

// Returns one box of tiles for each level and layer, and every mip tail.
std::vector<TileMapping> all_boxes(const SparseArray& array, const TilePool& pool) {
    const ArrayInfo& info = array.array().info();
    std::vector<TileMapping> mappings;
    for (int level = 0; level < std::min(info.levels, array.properties().first_tail_level); ++level) {
        for (std::size_t layer = 0; layer < info.layers; ++layer) {
            const Extent grid = array.tiles(level);
            mappings.push_back({{.level = level, .layer = layer, .extent = grid},
                                pool.allocate(grid.width * grid.height * grid.depth),
                                0});
        }
    }
    for (std::size_t tail = 0; tail < tail_count(array); ++tail) {
        mappings.push_back({TileBox::mip_tail(tail), pool.allocate_bytes(array.properties().tail_bytes), 0});
    }
    return mappings;
}

TEST_P(ArrayMappedRoundTripTest, FullyMappedSparseArraysRoundTrip) {
    Random random(5);
    for (const ArrayInfo& info : sparse_infos()) {
        SCOPED_TRACE(describe(info));
        SparseArray array(device(), info);
        const std::vector<TileMapping> mappings = all_boxes(array, pool());
        std::size_t slots = 0;
        for (const TileMapping& mapping : mappings) slots += mapping.tiles.size();
        EXPECT_EQ(array.slots(), slots);
        array.map(mappings, stream());
        EXPECT_EQ(array.resident_slots(), slots);
        stream().synchronize();
        ReferenceArray reference(info, 6);
        upload(array.array(), reference);
        ASSERT_TRUE(holds(array.array(), reference));
        exercise(array.array(), reference, random);
        if (HasFatalFailure()) return;
        // After mapping other memory and mapping the first memory again, the texels are unchanged.
        const std::vector<TileMapping> others = all_boxes(array, pool());
        array.map(others, stream());
        stream().synchronize();
        const ReferenceArray other(info, 7);
        upload(array.array(), other);
        array.map(mappings, stream());
        stream().synchronize();
        ASSERT_TRUE(holds(array.array(), reference));
        array.unmap_all(stream());
        EXPECT_EQ(array.resident_slots(), 0u);
        stream().synchronize();
        for (int level = 0; level < info.levels; ++level) reference.fill(level, {{}, reference.extent(level)}, kZero);
        ASSERT_TRUE(holds(array.array(), reference)) << "unmapped";
    }
}

TEST_P(ArrayMappedRoundTripTest, UnmappedBoxesReadAsZeroAndDiscardWrites) {
    for (const ArrayInfo& info : sparse_infos()) {
        SCOPED_TRACE(describe(info));
        SparseArray array(device(), info);
        std::vector<TileMapping> mappings = all_boxes(array, pool());
        ReferenceArray expected(info, 8);
        const ReferenceArray sent = expected;
        // Every second box has no memory.
        std::vector<TileMapping> kept;
        for (std::size_t i = 0; i < mappings.size(); ++i) {
            const TileBox& box = mappings[i].box;
            if (i % 2 == 0) {
                kept.push_back(mappings[i]);
                continue;
            }
            const int first = box.tail ? array.properties().first_tail_level : box.level;
            const int last = box.tail ? info.levels : box.level + 1;
            for (int level = first; level < last; ++level) {
                const Extent level_box = expected.extent(level);
                const bool all_layers = info.kind == ArrayKind::array_3d || !is_layered(info.kind) ||
                                        (box.tail && !array.properties().tail_per_layer);
                expected.fill(level,
                              {{0, 0, all_layers ? 0 : box.layer},
                               {level_box.width, level_box.height, all_layers ? level_box.depth : 1}},
                              kZero);
            }
        }
        array.map(kept, stream());
        stream().synchronize();
        upload(array.array(), sent);
        ASSERT_TRUE(holds(array.array(), expected));
        // Copies between arrays read the same texels.
        const Array plain(device(), info);
        for (int level = 0; level < info.levels; ++level) {
            copy(plain.view({.level = level}), array.array().view({.level = level}), stream());
        }
        stream().synchronize();
        ASSERT_TRUE(holds(plain, expected));
        for (const TileMapping& mapping : mappings) {
            const bool is_kept = std::any_of(kept.begin(), kept.end(),
                                             [&](const TileMapping& other) { return other.box == mapping.box; });
            EXPECT_EQ(array.resident(mapping.box), is_kept);
        }
    }
}

TEST_P(ArrayMappedRoundTripTest, LargeSparseArraysAreCopiedCompletely) {
    // Larger than the size from which the work is divided among cores.
    const ArrayInfo infos[] = {
        {.format = Format::rgba8_unorm, .extent = {1999, 1501}, .levels = 11},
        {.format = Format::r16_uint, .extent = {999, 701}, .kind = ArrayKind::layered_2d, .layers = 3, .levels = 10},
        {.format = Format::r32_float, .extent = {150, 140, 130}, .kind = ArrayKind::array_3d, .levels = 8},
        {.format = Format::bc7_unorm, .extent = {3001, 2001}, .levels = 12}};
    Random random(14);
    for (const ArrayInfo& info : infos) {
        SCOPED_TRACE(describe(info));
        SparseArray array(device(), info);
        array.map(all_boxes(array, pool()), stream());
        stream().synchronize();
        ReferenceArray reference(info, 15);
        upload(array.array(), reference);
        ASSERT_TRUE(holds(array.array(), reference));
        exercise(array.array(), reference, random);
        if (HasFatalFailure()) return;
        const Array plain(device(), info);
        copy(plain.view(), array.array().view(), stream());
        fill(array.array().view(), std::uint8_t{0x5A}, stream());
        stream().synchronize();
        ASSERT_TRUE(same_bytes(download(plain.view()), reference.level(0)));
        ASSERT_TRUE(test::all_bytes(download(array.array().view()), 0x5A));
    }
}

TEST_P(ArrayMappedRoundTripTest, AliasedTilesShareTheirTexels) {
    const ArrayInfo info{.format = Format::r32_uint, .extent = {256, 128}};
    SparseArray array(device(), info);
    SparseArray other(device(), info);
    const Tiles tile = pool().allocate(1);
    array.map(TileBox{}, tile, stream());
    array.map({.offset = {1, 0, 0}}, tile, stream(), Aliasing::allowed);
    other.map({.offset = {1, 0, 0}}, tile, stream(), Aliasing::allowed);
    stream().synchronize();
    const Bytes sent = pattern(kTileBytes, 9);
    const auto half = [](const SparseArray& of, std::size_t x) {
        return of.array().view({.region = Region{{x, 0, 0}, {128, 128, 1}}});
    };
    upload(half(array, 0), sent);
    EXPECT_TRUE(same_bytes(download(half(array, 128)), sent));
    EXPECT_TRUE(same_bytes(download(half(other, 128)), sent));
    EXPECT_TRUE(test::all_bytes(download(half(other, 0)), 0));
    EXPECT_EQ(tile.mapped(), 1u);
}

// --- planar ----------------------------------------------------------------------------------------------------------

TEST_P(ArrayMappedRoundTripTest, PlanesOfPlanarArraysRoundTrip) {
    Random random(10);
    for (const Format format : {Format::nv12, Format::p010, Format::p016, Format::nv16}) {
        for (const Extent extent : {Extent{2, 2}, Extent{14, 6}, Extent{130, 34}}) {
            SCOPED_TRACE(std::string(name(format)) + " " + to_string(extent));
            const PlanarArray array(device(), format, extent);
            const std::size_t texel = format == Format::p010 || format == Format::p016 ? 2 : 1;
            const Extent chroma{extent.width / 2, format == Format::nv16 ? extent.height : extent.height / 2};
            std::vector<ReferenceArray> planes;
            for (int index = 0; index < 2; ++index) {
                const ArrayInfo info = array.plane(index).info();
                EXPECT_EQ(info.extent, index == 0 ? extent : chroma);
                EXPECT_EQ(info.format, index == 0 ? (texel == 1 ? Format::r8_unorm : Format::r16_unorm)
                                                  : (texel == 1 ? Format::rg8_unorm : Format::rg16_unorm));
                planes.emplace_back(info, static_cast<unsigned>(11 + index));
                upload(array.plane(index), planes.back());
            }
            for (int index = 0; index < 2; ++index) {
                exercise(array.plane(index), planes[static_cast<std::size_t>(index)], random);
                if (HasFatalFailure()) return;
            }
            // Writing one plane does not change the other.
            for (int index = 0; index < 2; ++index) {
                ASSERT_TRUE(holds(array.plane(index), planes[static_cast<std::size_t>(index)]));
            }
            // Both planes in one call, from and to rows with a pitch.
            const std::size_t pitch = extent.width * texel + 6;
            const std::size_t rows = extent.height + chroma.height;
            const Bytes sent = pattern(pitch * rows, 13);
            Bytes source = sent;
            Bytes received(sent.size(), std::byte{0xCC});
            copy(array.frame(), host_frame(source.data(), format, extent, pitch), stream());
            copy(host_frame(received.data(), format, extent, pitch), array.frame(), stream());
            stream().synchronize();
            Bytes expected(sent.size(), std::byte{0xCC});
            test::reference_copy(expected, {0, pitch, 0}, sent, {0, pitch, 0}, extent.width * texel, rows, 1);
            EXPECT_TRUE(same_bytes(received, expected));
            const PlanarArray other(device(), format, extent);
            copy(other.frame(), array.frame());
            EXPECT_TRUE(same_bytes(download(other.plane(0).view()), download(array.plane(0).view())));
            EXPECT_TRUE(same_bytes(download(other.plane(1).view()), download(array.plane(1).view())));
        }
    }
}

}  // namespace
}  // namespace texton
