// Sparse arrays with work in flight: order of mappings on streams, lifetimes, graphs, threads.
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/texture.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/reset_in_order.h"
#include "tests/support/sparse_arrays.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::download;
using test::expect_error;
using test::kSide;
using test::tile_at;
using test::tiled;

class SparseArrayWorkTest : public test::SparseArrayFixture {};
INSTANTIATE_TEST_SUITE_P(Devices, SparseArrayWorkTest, test::every_device(), test::device_label);

TEST_P(SparseArrayWorkTest, UnmappingWaitsForWorkOnEveryStream) {
    const Stream works(device());
    const Stream maps(device());
    const Pinned seen(device(), kSide * kSide);
    const TilePool from = pool();
    SparseArray array(device(), tiled(1));
    array.map({}, from.allocate(1), maps);
    fill(texels(array, 0), std::uint8_t{4}, maps);
    maps.synchronize();
    const test::Gate gate;
    gate.close(works);
    copy(seen.view(Format::r8_uint, {kSide, kSide}), texels(array, 0), works);
    array.unmap_all(maps);
    EXPECT_FALSE(maps.idle());
    EXPECT_EQ(array.resident_slots(), 0u);
    gate.open();
    maps.synchronize();
    EXPECT_TRUE(works.idle());
    EXPECT_TRUE(test::all_bytes(seen.read(), 4));
}

TEST_P(SparseArrayWorkTest, UnmappingWaitsForUsesDeclaredByTheCaller) {
    const Stream works(device());
    const Stream maps(device());
    const TilePool from = pool();
    SparseArray array(device(), tiled(1));
    array.map({}, from.allocate(1), maps);
    maps.synchronize();
    const test::Gate gate;
    gate.close(works);
    array.used_on(works);
    array.unmap_all(maps);
    EXPECT_FALSE(maps.idle());
    gate.open();
    maps.synchronize();
    EXPECT_TRUE(works.idle());
}

TEST_P(SparseArrayWorkTest, WorkOnAnotherStreamWaitsForTheMapping) {
    const Stream maps(device());
    const Stream works(device());
    SparseArray array(device(), tiled(1));
    const test::Gate gate;
    gate.close(maps);
    array.map({}, pool().allocate(1), maps);
    fill(texels(array, 0), std::uint8_t{4}, works);
    EXPECT_FALSE(works.idle());
    gate.open();
    works.synchronize();
    EXPECT_TRUE(test::all_bytes(download(texels(array, 0)), 4));
}

TEST_P(SparseArrayWorkTest, RemappingMemoryWaitsForItsLastUse) {
    const Stream old_stream(device());
    const Stream new_stream(device());
    const TilePool from = pool();
    SparseArray last(device(), tiled(1));
    SparseArray next(device(), tiled(1));
    last.map({}, from.allocate(1), old_stream);
    old_stream.synchronize();
    const test::Gate gate;
    gate.close(old_stream);
    fill(texels(last, 0), std::uint8_t{1}, old_stream);
    last.unmap_all(old_stream);
    EXPECT_EQ(from.usage().used, 0u);
    const Tiles again = from.allocate(from.usage().held);  // includes the slot that was just freed
    const std::vector<TileMapping> mapping{{{}, again, 0}};
    next.map(mapping, new_stream);
    fill(texels(next, 0), std::uint8_t{2}, new_stream);
    EXPECT_FALSE(new_stream.idle());
    gate.open();
    new_stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(texels(next, 0)), 2));
}

TEST_P(SparseArrayWorkTest, SlotsStayUsedUntilTheLastMappingIsRemoved) {
    const Stream stream(device());
    const TilePool from = pool();
    SparseArray array(device(), tiled(2));
    {
        const Tiles tiles = from.allocate(2);
        array.map({.extent = {2, 1, 1}}, tiles, stream);
    }
    EXPECT_EQ(from.usage().used, 2u);
    array.unmap(tile_at(0), stream);
    EXPECT_EQ(from.usage().used, 2u);
    array.unmap(tile_at(1), stream);
    EXPECT_EQ(from.usage().used, 0u);
}

TEST_P(SparseArrayWorkTest, ADestroyedArrayReleasesItsSlots) {
    const Stream stream(device());
    const TilePool from = pool();
    const Tiles kept = from.allocate(1);
    {
        SparseArray array(device(), tiled(3));
        array.map(tile_at(0), kept, stream);
        array.map({.offset = {1, 0, 0}, .extent = {2, 1, 1}}, from.allocate(2), stream);
        fill(array.array().view(), std::uint8_t{1}, stream);
        EXPECT_EQ(from.usage().used, 3u);
    }
    EXPECT_EQ(kept.mapped(), 0u);
    EXPECT_EQ(from.usage().used, 1u);
}

TEST_P(SparseArrayWorkTest, ArraysTilesPoolsAndTexturesCanBeDestroyedInAnyOrder) {
    const Stream stream(device());
    for (std::size_t order = 0; order < 24; ++order) {
        std::optional<TilePool> from(pool());
        std::optional<Tiles> tiles(from->allocate(1));
        std::optional<SparseArray> array(std::in_place, device(), tiled(1));
        array->map({}, *tiles, stream);
        std::optional<Texture> texture(array->array());
        fill(array->array().view(), std::uint8_t{1}, stream);
        test::reset_in_order(order, from, tiles, array, texture);
    }
    EXPECT_THROW(
        {
            const TilePool from = pool();
            SparseArray array(device(), tiled(1));
            array.map({}, from.allocate(1), stream);
            fill(array.array().view(), std::uint8_t{1}, stream);
            throw std::runtime_error("unwinding");
        },
        std::runtime_error);
}

TEST_P(SparseArrayWorkTest, MappingIsRefusedDuringACapture) {
    const Stream stream(device());
    const Stream other(device());
    SparseArray array(device(), tiled(1));
    const Tiles tiles = pool().allocate(1);
    std::optional<SparseArray> gone(std::in_place, device(), tiled(1));
    const TilePool from = pool();
    gone->map({}, from.allocate(1), other);
    (void)Graph::capture(stream, [&] {
        for (const Stream& on : {stream, other}) {
            expect_error([&] { array.map({}, tiles, on); }, ErrorCode::capturing, "texton::SparseArray");
            expect_error([&] { array.unmap_all(on); }, ErrorCode::capturing, "texton::SparseArray");
        }
        gone.reset();
        EXPECT_EQ(from.usage().used, 1u);
    });
    EXPECT_EQ(from.usage().used, 0u);
    EXPECT_EQ(tiles.mapped(), 0u);
}

TEST_P(SparseArrayWorkTest, AGraphKeepsTheArrayAliveAndEachLaunchCountsAsAUse) {
    const Stream stream(device());
    const Stream maps(device());
    const Pinned seen(device(), kSide * kSide);
    const TilePool from = pool();
    std::optional<SparseArray> array(std::in_place, device(), tiled(1));
    array->map({}, from.allocate(1), maps);
    std::optional<Graph> graph(Graph::capture(stream, [&] {
        fill(texels(*array, 0), std::uint8_t{5}, stream);
        copy(seen.view(Format::r8_uint, {kSide, kSide}), texels(*array, 0), stream);
    }));
    {
        const test::Gate gate;
        gate.close(stream);
        graph->launch(stream);
        array->unmap_all(maps);
        EXPECT_FALSE(maps.idle());
        gate.open();
        maps.synchronize();
    }
    EXPECT_TRUE(test::all_bytes(seen.read(), 5));
    graph->launch(stream);  // the tile is unmapped now and reads as 0
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(seen.read(), 0));
    array->map({}, from.allocate(1), maps);
    array.reset();
    EXPECT_EQ(from.usage().used, 1u);
    graph->launch(stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(seen.read(), 5));
    graph.reset();
    EXPECT_EQ(from.usage().used, 0u);
}

TEST_P(SparseArrayWorkTest, UseOnAStreamCapturedByAnotherThreadIsRefused) {
    const Stream stream(device());
    SparseArray array(device(), tiled(1));
    const Linear memory(device(), kSide * kSide);
    (void)Graph::capture(stream, [&] {
        std::thread([&] {
            expect_error(
                [&] {
                    copy(memory.view(Format::r8_uint, {kSide, kSide}), texels(array, 0), stream);
                },
                ErrorCode::capturing, "texton::copy", {"Graph::capture"});
            expect_error([&] { array.used_on(stream); }, ErrorCode::capturing, "texton::SparseArray");
        }).join();
    });
}

TEST_P(SparseArrayWorkTest, OneThreadCanMapWhileOtherThreadsUseTheArray) {
    const TilePool from = pool();
    SparseArray array(device(), tiled(2));
    std::vector<std::thread> threads;
    for (const std::size_t position : {0u, 1u}) {
        threads.emplace_back([&, position] {
            const Stream stream(device());
            const Pinned seen(device(), kSide * kSide);
            for (int i = 0; i < 50; ++i) {
                fill(texels(array, position), std::uint8_t{3}, stream);
                copy(seen.view(Format::r8_uint, {kSide, kSide}), texels(array, position), stream);
                stream.synchronize();
            }
        });
    }
    const Stream maps(device());
    for (int i = 0; i < 50; ++i) {
        array.map(tile_at(1), from.allocate(1), maps);
        array.unmap(tile_at(1), maps);
    }
    for (std::thread& thread : threads) thread.join();
    maps.synchronize();
    EXPECT_EQ(from.usage().used, 0u);
    EXPECT_TRUE(test::all_bytes(download(array.array().view()), 0));
}

}  // namespace
}  // namespace texton
