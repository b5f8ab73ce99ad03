#include <texton/tile_pool.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/graph.h>
#include <texton/sparse_array.h>

#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"

namespace texton {
namespace {

using test::expect_error;
using test::number_of;

constexpr std::size_t kChunk = std::size_t{2} << 20;
constexpr std::size_t kSlots = kChunk / kTileBytes;

class TilePoolTest : public test::OnEveryDevice {
protected:
    TilePool small_pool(std::size_t budget = 0) const {
        return TilePool(device(), {.budget = budget, .chunk_bytes = kChunk});
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, TilePoolTest, test::every_device(), test::device_label);

TEST_P(TilePoolTest, APoolStartsEmptyAndGrowsByChunks) {
    const TilePool pool = small_pool();
    EXPECT_EQ(pool.device(), device());
    EXPECT_EQ(pool.info().chunk_bytes, kChunk);
    EXPECT_EQ(pool.usage().held, 0u);
    const Tiles first = pool.allocate(1);
    EXPECT_EQ(first.size(), 1u);
    EXPECT_EQ(first.bytes(), kTileBytes);
    EXPECT_EQ(first.device(), device());
    EXPECT_EQ(first.mapped(), 0u);
    EXPECT_EQ(pool.usage().held, kSlots);
    EXPECT_EQ(pool.usage().used, 1u);
    const Tiles rest = pool.allocate(kSlots - 1);
    EXPECT_EQ(pool.usage().chunks, 1u);
    const Tiles more = pool.allocate(1);
    EXPECT_EQ(pool.usage().chunks, 2u);
    EXPECT_EQ(pool.usage().used, kSlots + 1);
    EXPECT_EQ(pool.usage().free, kSlots - 1);
}

TEST_P(TilePoolTest, BytesAreRoundedUpToSlots) {
    const TilePool pool = small_pool();
    EXPECT_EQ(pool.allocate_bytes(1).size(), 1u);
    EXPECT_EQ(pool.allocate_bytes(kTileBytes).size(), 1u);
    EXPECT_EQ(pool.allocate_bytes(kTileBytes + 1).size(), 2u);
}

TEST_P(TilePoolTest, ARunLongerThanAChunkGetsItsOwnChunk) {
    const TilePool pool = small_pool();
    const Tiles run = pool.allocate(kSlots * 3 - 1);
    EXPECT_EQ(run.size(), kSlots * 3 - 1);
    EXPECT_EQ(pool.usage().chunks, 1u);
    EXPECT_EQ(pool.usage().held, kSlots * 3);
}

TEST_P(TilePoolTest, AllocationsUseTheShortestSufficientFreeRun) {
    const TilePool pool = small_pool();
    std::vector<Tiles> runs;
    for (const std::size_t slots : {3u, 1u, 5u, 1u, 4u, 1u}) runs.push_back(pool.allocate(slots));
    const std::size_t tail = kSlots - 15;
    runs.push_back(pool.allocate(tail));
    runs[0] = {};  // free: 3, 5 and 4
    runs[2] = {};
    runs[4] = {};
    EXPECT_EQ(pool.usage().largest_free, 5u);
    const Tiles four = pool.allocate(4);
    EXPECT_EQ(pool.usage().largest_free, 5u);
    const Tiles two = pool.allocate(2);
    EXPECT_EQ(pool.usage().largest_free, 5u);
    const Tiles five = pool.allocate(5);
    EXPECT_EQ(pool.usage().largest_free, 1u);
    EXPECT_EQ(pool.usage().chunks, 1u);
}

TEST_P(TilePoolTest, AdjacentFreedSlotsMergeIntoOneRun) {
    const TilePool pool = small_pool();
    std::vector<Tiles> runs;
    for (std::size_t i = 0; i < kSlots; ++i) runs.push_back(pool.allocate(1));
    EXPECT_EQ(pool.usage().free, 0u);
    EXPECT_EQ(pool.usage().fragmentation(), 0.0);
    for (std::size_t i = 0; i < kSlots; i += 2) runs[i] = {};
    EXPECT_EQ(pool.usage().free, kSlots / 2);
    EXPECT_EQ(pool.usage().largest_free, 1u);
    EXPECT_DOUBLE_EQ(pool.usage().fragmentation(), 1 - 2.0 / static_cast<double>(kSlots));
    for (std::size_t i = 1; i < kSlots; i += 2) runs[i] = {};
    EXPECT_EQ(pool.usage().largest_free, kSlots);
    EXPECT_EQ(pool.usage().fragmentation(), 0.0);
    EXPECT_EQ(pool.allocate(kSlots).size(), kSlots);
    EXPECT_EQ(pool.usage().chunks, 1u);
}

TEST_P(TilePoolTest, RunsDoNotMergeAcrossChunks) {
    const TilePool pool = small_pool();
    {
        const Tiles first = pool.allocate(kSlots);
        const Tiles second = pool.allocate(kSlots);
    }
    EXPECT_EQ(pool.usage().free, kSlots * 2);
    EXPECT_EQ(pool.usage().largest_free, kSlots);
}

TEST_P(TilePoolTest, SlotsAreFreedWithTheLastCopyOfTheirHandle) {
    const TilePool pool = small_pool();
    Tiles tiles = pool.allocate(3);
    Tiles copy = tiles;
    tiles = {};
    EXPECT_EQ(pool.usage().used, 3u);
    copy = {};
    EXPECT_EQ(pool.usage().used, 0u);
}

TEST_P(TilePoolTest, APoolNeverExceedsItsBudget) {
    const TilePool pool = small_pool(kChunk * 3);
    const Tiles first = pool.allocate(kSlots * 2);
    EXPECT_EQ(pool.usage().held, kSlots * 2);
    const Tiles second = pool.allocate(1);
    EXPECT_EQ(pool.usage().held, kSlots * 3);
    const Error error = expect_error([&] { (void)pool.allocate(kSlots); }, ErrorCode::out_of_memory, "texton::TilePool",
                                     {std::to_string(kChunk * 3)});
    EXPECT_EQ(number_of(error, "slots"), kSlots);
    EXPECT_EQ(number_of(error, "largest_free"), kSlots - 1);
    EXPECT_EQ(number_of(error, "budget"), kChunk * 3);
    EXPECT_EQ(pool.usage().held, kSlots * 3);
    EXPECT_EQ(pool.allocate(kSlots - 1).size(), kSlots - 1);
}

TEST_P(TilePoolTest, FreeChunksAreReplacedToFitALongerRunIntoTheBudget) {
    const TilePool pool = small_pool(kChunk * 2);
    (void)pool.allocate(1);
    EXPECT_EQ(pool.usage().held, kSlots);
    EXPECT_EQ(pool.allocate(kSlots * 2).size(), kSlots * 2);
    EXPECT_EQ(pool.usage().held, kSlots * 2);
}

TEST_P(TilePoolTest, AllocatingMoreThanTheDeviceMemoryIsRefused) {
    const TilePool pool = small_pool();
    const std::size_t slots = device().memory().total / kTileBytes + kSlots;
    const Error error = expect_error([&] { (void)pool.allocate(slots); }, ErrorCode::out_of_memory, "texton::TilePool");
    EXPECT_GE(number_of(error, "bytes"), slots * kTileBytes);
    EXPECT_GT(number_of(error, "free"), 0u);
    expect_error([&] { (void)pool.allocate(SIZE_MAX); }, ErrorCode::overflow, "texton::TilePool");
    EXPECT_EQ(pool.usage().held, 0u);
}

TEST_P(TilePoolTest, TrimmingReleasesFreeChunksAboveTheRequestedMinimum) {
    const std::size_t before = device().memory().free;
    const TilePool pool = small_pool();
    Tiles kept;
    {
        const Tiles first = pool.allocate(kSlots);
        kept = pool.allocate(1);
        const Tiles third = pool.allocate(kSlots);
    }
    EXPECT_EQ(pool.usage().chunks, 3u);
    pool.trim(kChunk * 2);
    EXPECT_EQ(pool.usage().chunks, 2u);
    pool.trim();
    EXPECT_EQ(pool.usage().chunks, 1u);  // the chunk in use stays
    EXPECT_EQ(pool.usage().held, kSlots);
    kept = {};
    pool.trim();
    EXPECT_EQ(pool.usage().held, 0u);
    EXPECT_EQ(pool.usage().largest_free, 0u);
    if (on_cpu()) {
        EXPECT_GE(device().memory().free, before);
    }
}

TEST_P(TilePoolTest, TrimmingKeepsMemoryWithPendingWork) {
    const TilePool pool = small_pool();
    const Stream stream(device());
    SparseArray array(device(), {.format = Format::r8_uint, .extent = {256, 256}});
    array.map({}, pool.allocate(1), stream);
    const test::Gate gate;
    gate.close(stream);
    array.unmap(TileBox{}, stream);
    EXPECT_EQ(pool.usage().used, 0u);
    pool.trim();
    EXPECT_EQ(pool.usage().held, kSlots);
    gate.open();
    stream.synchronize();
    pool.trim();
    EXPECT_EQ(pool.usage().held, 0u);
}

TEST_P(TilePoolTest, TilesKeepTheMemoryOfThePoolAlive) {
    const Stream stream(device());
    Tiles tiles = small_pool().allocate(2);
    SparseArray array(device(), {.format = Format::r8_uint, .extent = {512, 256}});
    array.map({.extent = {2, 1, 1}}, tiles, stream);
    EXPECT_EQ(tiles.mapped(), 2u);
    stream.synchronize();
}

TEST_P(TilePoolTest, ManyThreadsCanAllocateAndFreeConcurrently) {
    const TilePool pool = small_pool();
    std::vector<std::thread> threads;
    for (unsigned seed = 1; seed <= 4; ++seed) {
        threads.emplace_back([&pool, seed] {
            std::vector<Tiles> mine(8);
            for (std::size_t i = 0; i < 500; ++i) mine[i * seed % 8] = pool.allocate(1 + i * seed % 7);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(pool.usage().used, 0u);
    EXPECT_EQ(pool.usage().largest_free, kSlots);
    EXPECT_EQ(pool.usage().free, pool.usage().chunks * kSlots);
}

TEST_P(TilePoolTest, InvalidChunkSizesAndEmptyAllocationsAreRefused) {
    const auto make = [&](std::size_t chunk) { return [=, this] { TilePool pool(device(), {.chunk_bytes = chunk}); }; };
    expect_error(make(0), ErrorCode::bad_argument, "texton::TilePool", {"chunks of 0 bytes"});
    const Error error = expect_error(make(kChunk + 1), ErrorCode::bad_argument, "texton::TilePool");
    EXPECT_EQ(number_of(error, "granularity"), kChunk);
    expect_error([&] { (void)small_pool().allocate(0); }, ErrorCode::bad_argument, "texton::TilePool", {"0 slots"});
    expect_error([&] { (void)small_pool().allocate_bytes(0); }, ErrorCode::bad_argument, "texton::TilePool");
    expect_error([] { (void)Tiles().device(); }, ErrorCode::released, "texton::Tiles");
    expect_error([] { (void)Tiles().mapped(); }, ErrorCode::released, "texton::Tiles");
    EXPECT_EQ(Tiles().size(), 0u);
    EXPECT_EQ(Tiles().bytes(), 0u);
}

TEST_P(TilePoolTest, DuringACaptureOnlyExistingSlotsAreAllocated) {
    const Stream stream(device());
    const TilePool pool = small_pool();
    (void)pool.allocate(1);
    std::optional<TilePool> gone(small_pool());
    (void)gone->allocate(1);
    (void)Graph::capture(stream, [&] {
        EXPECT_EQ(pool.allocate(kSlots).size(), kSlots);  // the pool has this many slots already
        expect_error([&] { (void)pool.allocate(kSlots + 1); }, ErrorCode::capturing, "texton::TilePool");
        expect_error([&] { pool.trim(); }, ErrorCode::capturing, "texton::TilePool");
        gone.reset();
    });
    EXPECT_EQ(pool.usage().chunks, 1u);
}

}  // namespace
}  // namespace texton
