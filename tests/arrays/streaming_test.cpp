// How a streamed texture works: order of reads, eviction, budgets, failures, threads.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/sample.h>
#include <texton/streamed_texture.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/streamed_pyramid.h"

namespace texton {
namespace {

using namespace std::chrono_literals;
using test::Bytes;
using test::expect_error;
using test::level_sampler;
using test::MemoryPyramid;
using test::pyramid_info;
using test::settle;
using testing::ElementsAre;

constexpr std::size_t kSide = 64;  // width and height of a tile of rgba32_float

Region tile_region(std::size_t x, std::size_t y) { return {{x * kSide, y * kSide, 0}, {kSide, kSide, 1}}; }

class StreamingTest : public test::OnEveryDevice {
protected:
    // 16 x 8 tiles at level 0, then 8 x 4, 4 x 2 and 2 x 1; the tail is resident.
    MemoryPyramid memory_{pyramid_info(Format::rgba32_float, {1024, 512}), 3};

    StreamedTexture make(MemoryPyramid::BeforeRead before = {}, int threads = 1) {
        return {device(),
                memory_.pyramid(std::move(before)),
                {.sampler = level_sampler(), .threads = threads, .prefetch = 0}};
    }
    // One call reads several neighbors.
    StreamedTexture make_with_runs(int tiles_per_read, MemoryPyramid::BeforeRead before = {}) {
        TilePyramid pyramid = memory_.pyramid(std::move(before));
        pyramid.tiles_per_read = tiles_per_read;
        return {device(), pyramid, {.sampler = level_sampler(), .threads = 1, .prefetch = 0}};
    }
    static void request(StreamedTexture& texture, std::vector<StreamedView> views) { texture.request(views); }
    static bool is_resident(const StreamedTexture& texture, int level, std::size_t x, std::size_t y) {
        return texture.array().resident({.level = level, .offset = {x, y, 0}});
    }
    // Returns true if all resident tiles of a level have the texels of the pyramid.
    bool resident_texels_are_right(const StreamedTexture& texture, const Stream& stream) {
        stream.synchronize();
        for (int level = 0; level < texture.resident_level(); ++level) {
            const Extent tiles = texture.array().tiles(level);
            const Extent extent = level_extent(texture.info(), level);
            for (std::size_t y = 0; y < tiles.height; ++y) {
                for (std::size_t x = 0; x < tiles.width; ++x) {
                    if (!is_resident(texture, level, x, y)) continue;
                    const Region region{
                        {x * kSide, y * kSide, 0},
                        {std::min(kSide, extent.width - x * kSide), std::min(kSide, extent.height - y * kSide), 1}};
                    const View view = texture.array().array().view({.level = level, .region = region});
                    if (test::download(view) != memory_.texels().read(level, region)) return false;
                }
            }
        }
        return true;
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, StreamingTest, test::every_device(), test::device_label);

std::vector<int> levels_of(const std::vector<PyramidBox>& reads) {
    std::vector<int> levels;
    for (const PyramidBox& read : reads) levels.push_back(read.level);
    return levels;
}

// --- order -----------------------------------------------------------------------------------------------------------

TEST_P(StreamingTest, CoarserTilesAreReadFirstAndTilesNearTheCenterBeforeOthers) {
    const Stream stream(device());
    StreamedTexture texture = make();
    memory_.forget_reads();
    request(texture, {{.region = Region{{4 * kSide, kSide, 0}, {kSide, 3 * kSide, 1}}}});
    EXPECT_TRUE(settle(texture, stream).complete());
    const std::vector<PyramidBox> reads = memory_.reads();
    EXPECT_THAT(levels_of(reads), ElementsAre(3, 2, 1, 1, 0, 0, 0));
    EXPECT_EQ(reads.at(4).region, tile_region(4, 2));
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
}

TEST_P(StreamingTest, NeighborsInARowAreReadOneAfterTheOther) {
    const Stream stream(device());
    StreamedTexture texture = make();
    memory_.forget_reads();
    request(texture, {{.region = Region{{3 * kSide, kSide, 0}, {3 * kSide, 3 * kSide, 1}}}});
    EXPECT_TRUE(settle(texture, stream).complete());
    std::vector<Region> regions;
    for (const PyramidBox& read : memory_.reads()) {
        if (read.level == 0) regions.push_back(read.region);
    }
    EXPECT_THAT(regions, ElementsAre(tile_region(3, 2), tile_region(4, 2), tile_region(5, 2), tile_region(3, 1),
                                     tile_region(4, 1), tile_region(5, 1), tile_region(3, 3), tile_region(4, 3),
                                     tile_region(5, 3)));
}

TEST_P(StreamingTest, OneCallReadsNeighborsInARowUpToTheLimitOfThePyramid) {
    const Stream stream(device());
    StreamedTexture texture = make_with_runs(4);
    memory_.forget_reads();
    request(texture, {{.level = 1}, {.region = Region{{3 * kSide, 7 * kSide, 0}, {kSide, kSide, 1}}}});
    EXPECT_TRUE(settle(texture, stream).complete());
    std::size_t level_1 = 0;
    for (const PyramidBox& read : memory_.reads()) {
        EXPECT_LE(read.region.extent.width, 4 * kSide);
        EXPECT_EQ(read.region.extent.height, kSide);
        level_1 += read.level == 1;
    }
    EXPECT_EQ(level_1, 8u);  // 8 x 4 tiles
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
    EXPECT_EQ(texture.statistics().loaded_tiles, 32u + 1 + 8 + 2);
}

TEST_P(StreamingTest, IfACallForSeveralTilesFailsOnlyTheDamagedTileIsMissing) {
    const Stream stream(device());
    StreamedTexture texture = make_with_runs(8, [](const PyramidBox& box, const std::stop_token&) {
        const Region damaged = tile_region(2, 1);
        if (box.level == 1 && box.region.offset.y == damaged.offset.y && box.region.offset.x <= damaged.offset.x &&
            box.region.offset.x + box.region.extent.width > damaged.offset.x)
            throw std::runtime_error("bad sector 7");
    });
    request(texture, {{.level = 1}});
    const StreamingProgress progress = settle(texture, stream);
    EXPECT_EQ(progress.missing, 1u);
    EXPECT_EQ(progress.failed, 1u);
    ASSERT_EQ(texture.failures().size(), 1u);
    EXPECT_EQ(texture.failures()[0].box, (PyramidBox{1, 0, tile_region(2, 1)}));
    EXPECT_EQ(texture.statistics().failed_reads, 1u);
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
}

TEST_P(StreamingTest, TilesOfACallThatAreNoLongerNeededAreDiscardedAndTheOthersBecomeResident) {
    const Stream stream(device());
    std::atomic<bool> entered = false;
    std::atomic<bool> released = false;
    StreamedTexture texture = make_with_runs(8, [&](const PyramidBox& box, const std::stop_token&) {
        if (box.level != 1 || box.region.extent.width == kSide) return;
        entered = true;
        entered.notify_all();
        released.wait(false);
    });
    request(texture, {{.level = 2}});
    EXPECT_TRUE(settle(texture, stream).complete());
    request(texture, {{.level = 1, .region = Region{{0, kSide, 0}, {8 * kSide, kSide, 1}}}});
    (void)texture.update(stream, 1ms);
    entered.wait(false);
    request(texture, {{.level = 1, .region = Region{{2 * kSide, kSide, 0}, {2 * kSide, kSide, 1}}}});
    released = true;
    released.notify_all();
    EXPECT_TRUE(settle(texture, stream).complete());
    for (std::size_t x = 0; x < 8; ++x) EXPECT_EQ(is_resident(texture, 1, x, 1), x == 2 || x == 3) << x;
    EXPECT_EQ(texture.statistics().discarded_reads, 6u);
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
}

TEST_P(StreamingTest, PyramidsWithReadsOfNoneOrTooManyTilesAreRefused) {
    for (const int tiles : {0, 33})
        expect_error([&] { (void)make_with_runs(tiles); }, ErrorCode::bad_argument, "texton::StreamedTexture",
                     {std::to_string(tiles) + " tiles", "1 to 32"});
}

TEST_P(StreamingTest, ViewsWithAHigherWeightAreReadFirst) {
    const Stream stream(device());
    StreamedTexture texture = make();
    memory_.forget_reads();
    request(texture, {{.region = tile_region(0, 0), .weight = 0.5f}, {.region = tile_region(15, 7), .weight = 2}});
    EXPECT_TRUE(settle(texture, stream).complete());
    std::vector<std::size_t> columns;
    for (const PyramidBox& read : memory_.reads()) columns.push_back(read.region.offset.x << read.level);
    EXPECT_THAT(columns, ElementsAre(512, 768, 896, 960, 0, 0, 0, 0));
}

TEST_P(StreamingTest, ATileIsReadOnceHoweverOftenItIsRequested) {
    const Stream stream(device());
    StreamedTexture texture = make({}, 4);
    memory_.forget_reads();
    for (int i = 0; i < 20; ++i) {
        request(texture, {{.level = 1}, {.level = 1, .region = tile_region(1, 1)}});
        (void)texture.update(stream, 100us);
    }
    EXPECT_TRUE(settle(texture, stream).complete());
    std::set<std::pair<int, std::pair<std::size_t, std::size_t>>> distinct;
    for (const PyramidBox& read : memory_.reads())
        distinct.insert({read.level, {read.region.offset.x, read.region.offset.y}});
    EXPECT_EQ(distinct.size(), memory_.reads().size());
    EXPECT_THAT(levels_of(memory_.reads()), testing::Contains(1).Times(32));
}

TEST_P(StreamingTest, NewRequestsReplaceReadsThatAreNoLongerNeeded) {
    const Stream stream(device());
    std::atomic<bool> held = true;
    StreamedTexture texture = make([&](const PyramidBox& box, const std::stop_token&) {
        while (held && box.level < 4) std::this_thread::sleep_for(1ms);
    });
    memory_.forget_reads();
    request(texture, {{}});
    (void)texture.update(stream, 0us);
    request(texture, {{.level = 3, .region = Region{{64, 0, 0}, {64, 64, 1}}}});
    (void)texture.update(stream, 0us);
    held = false;
    const StreamingProgress progress = settle(texture, stream);
    EXPECT_TRUE(progress.complete());
    EXPECT_LE(memory_.reads().size(), 2u);  // the read in progress, and the one that is still needed
    EXPECT_TRUE(is_resident(texture, 3, 1, 0));
    EXPECT_GE(texture.statistics().discarded_reads, 60u);
}

TEST_P(StreamingTest, RequestsOfFetchesRemainWhileViewsChange) {
    const Stream stream(device());
    std::atomic<bool> held = true;
    StreamedTexture texture = make([&](const PyramidBox& box, const std::stop_token& stop) {
        while (held && box.level < 4 && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
    });
    const FetchPoint point{.x = 9.5f / 16, .y = 5.5f / 8};
    (void)texture.sample({&point, 1});
    for (std::size_t i = 0; i < 8; ++i) {
        request(texture, {{.region = tile_region(i, 0)}});
        (void)texture.update(stream, 0us);
    }
    held = false;
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_EQ(texture.sample({&point, 1}).clamps.at(0), 0);
    EXPECT_TRUE(is_resident(texture, 0, 9, 5));
    // Later they are forgotten.
    (void)texture.update(stream, 0us);
    texture.set_budget(texture.minimum_budget() + kTileBytes);
    for (std::size_t i = 0; i < 9; ++i) request(texture, {{.region = tile_region(i, 1)}});
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_FALSE(is_resident(texture, 0, 9, 5));
}

// --- budget ----------------------------------------------------------------------------------------------------------

TEST_P(StreamingTest, TheLeastRecentlyRequestedTilesLoseTheirMemory) {
    const Stream stream(device());
    StreamedTexture texture = make();
    texture.set_budget(texture.minimum_budget() + 6 * kTileBytes);
    for (std::size_t x = 0; x < 6; ++x) {
        request(texture, {{.level = 2, .region = tile_region(x % 4, x / 4)}});
        EXPECT_TRUE(settle(texture, stream).complete());
    }
    request(texture, {{.level = 2, .region = tile_region(0, 0)}, {.level = 2, .region = tile_region(1, 0)}});
    EXPECT_TRUE(settle(texture, stream).complete());
    request(texture, {{.level = 2, .region = tile_region(2, 1)},
                      {.level = 2, .region = tile_region(3, 1)},
                      {.level = 2, .region = tile_region(2, 0)}});
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_TRUE(is_resident(texture, 2, 0, 0));
    EXPECT_TRUE(is_resident(texture, 2, 1, 0));
    EXPECT_EQ(texture.statistics().resident_tiles, 6u);
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
}

TEST_P(StreamingTest, CoarserLevelsKeepTheirMemoryIfTheBudgetIsTooSmallForAllRequests) {
    const Stream stream(device());
    StreamedTexture texture = make({}, 2);
    texture.set_budget(texture.minimum_budget() + 50 * kTileBytes);
    request(texture, {{}});  // 128 tiles, with 42 coarser ones over them
    const StreamingProgress progress = settle(texture, stream);
    EXPECT_FALSE(progress.complete());
    EXPECT_EQ(progress.missing, 120u);
    EXPECT_EQ(progress.unfit, 120u);
    for (int level = 1; level < texture.resident_level(); ++level) {
        const Extent tiles = texture.array().tiles(level);
        EXPECT_TRUE(texture.array().resident({.level = level, .extent = tiles})) << level;
    }
    // Nothing is read again and again.
    const auto loaded = texture.statistics().loaded_tiles;
    request(texture, {{}});
    EXPECT_TRUE(settle(texture, stream).settled());
    EXPECT_LE(texture.statistics().loaded_tiles, loaded + 50);
    texture.set_budget(texture.minimum_budget() + 200 * kTileBytes);
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
}

TEST_P(StreamingTest, ABudgetThatShrinksReturnsMemoryToTheDevice) {
    const Stream stream(device());
    StreamedTexture texture = make({}, 2);
    const std::size_t before = texture.statistics().held_bytes;
    request(texture, {{}});
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_GE(texture.statistics().held_bytes, before + 128 * kTileBytes);
    for (const std::size_t tiles : {100u, 40u, 3u, 64u, 0u}) {
        texture.set_budget(texture.minimum_budget() + tiles * kTileBytes);
        settle(texture, stream);
        stream.synchronize();
        (void)texture.update(stream);  // frees the memory that earlier work used
        const StreamingStatistics now = texture.statistics();
        EXPECT_LE(now.resident_tiles, tiles);
        EXPECT_EQ(now.resident_bytes, texture.minimum_budget() + now.resident_tiles * kTileBytes);
        EXPECT_EQ(texture.array().resident_slots() * kTileBytes, now.resident_bytes);
        EXPECT_LE(now.held_bytes, before + (tiles + 31) / 32 * 32 * kTileBytes);
        EXPECT_TRUE(resident_texels_are_right(texture, stream));
    }
    const std::size_t least = texture.minimum_budget();
    const Error error = expect_error([&] { texture.set_budget(least - 1); }, ErrorCode::bad_argument,
                                     "texton::StreamedTexture", {"always resident"});
    EXPECT_EQ(test::number_of(error, "required"), least);
    EXPECT_EQ(texture.budget(), least);
}

TEST_P(StreamingTest, ABudgetThatShrinksMuchTakesSeveralShortUpdates) {
    const Stream stream(device());
    StreamedTexture texture = make({}, 2);
    request(texture, {{}});
    EXPECT_TRUE(settle(texture, stream).complete());
    request(texture, {});
    const std::size_t all = texture.statistics().resident_tiles;
    texture.set_budget(texture.minimum_budget() + 4 * kTileBytes);
    StreamingProgress progress;
    std::size_t evicted = 0;
    int updates = 0;
    do {
        progress = texture.update(stream, std::chrono::microseconds(0));
        EXPECT_LE(progress.evicted, 64u);
        evicted += progress.evicted;
        ASSERT_LT(++updates, 100);
        EXPECT_TRUE(resident_texels_are_right(texture, stream));
    } while (!progress.settled());
    EXPECT_GE(updates, 3);
    EXPECT_LE(texture.statistics().resident_tiles, 4u);
    EXPECT_EQ(evicted, all - texture.statistics().resident_tiles);
}

TEST_P(StreamingTest, TilesThatWorkInFlightReadsKeepTheirTexelsUntilItIsDone) {
    const Stream works(device());
    const Stream stream(device());
    StreamedTexture texture = make({}, 2);
    texture.set_budget(texture.minimum_budget() + 4 * kTileBytes);
    request(texture, {{.level = 2, .region = Region{{0, 0, 0}, {256, 64, 1}}}});
    EXPECT_TRUE(settle(texture, stream).complete());
    stream.synchronize();
    const Region region{{0, 0, 0}, {256, 64, 1}};
    const Pinned seen(device(), 256 * 64 * 16);
    const test::Gate gate;
    gate.close(works);
    copy(seen.view(Format::rgba32_float, region.extent), texture.array().array().view({.level = 2, .region = region}),
         works);
    // All four tiles are replaced while the copy waits.
    request(texture, {{.level = 2, .region = Region{{0, 64, 0}, {256, 64, 1}}}});
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    EXPECT_FALSE(is_resident(texture, 2, 0, 0));
    EXPECT_FALSE(works.idle());
    gate.open();
    works.synchronize();
    EXPECT_TRUE(test::same_bytes(seen.read(), memory_.texels().read(2, region)));
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
}

// --- prefetch --------------------------------------------------------------------------------------------------------

TEST_P(StreamingTest, TilesThatAMovingViewWillReachAreReadLast) {
    const Stream stream(device());
    StreamedTexture texture(device(), memory_.pyramid(), {.sampler = level_sampler(), .threads = 1, .prefetch = 3});
    const auto view = [](std::size_t x) { return StreamedView{.region = Region{{x, 64, 0}, {64, 64, 1}}}; };
    request(texture, {view(128)});
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_FALSE(is_resident(texture, 0, 3, 1));
    memory_.forget_reads();
    request(texture, {view(192)});
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_EQ(memory_.reads().at(0).region, tile_region(3, 1));
    for (std::size_t x = 3; x <= 6; ++x) EXPECT_TRUE(is_resident(texture, 0, x, 1)) << x;
    EXPECT_FALSE(is_resident(texture, 0, 7, 1));
    EXPECT_FALSE(is_resident(texture, 0, 3, 2));
    // A jump is no motion.
    memory_.forget_reads();
    request(texture, {view(832)});
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_THAT(levels_of(memory_.reads()), testing::Contains(0).Times(1));
}

TEST_P(StreamingTest, PrefetchedTilesNeverTakeTheMemoryOfRequestedOnes) {
    const Stream stream(device());
    StreamedTexture texture(device(), memory_.pyramid(), {.sampler = level_sampler(), .threads = 1, .prefetch = 8});
    texture.set_budget(texture.minimum_budget() + 4 * kTileBytes);
    for (std::size_t x = 0; x < 9; ++x) {
        request(texture, {{.region = Region{{x * 64, 0, 0}, {128, 128, 1}}}});
        EXPECT_TRUE(settle(texture, stream).complete()) << x;
        EXPECT_TRUE(texture.array().resident({.offset = {x, 0, 0}, .extent = {2, 2, 1}})) << x;
    }
}

// --- failures --------------------------------------------------------------------------------------------------------

TEST_P(StreamingTest, ATileThatCannotBeReadStaysCoarseAndIsNamed) {
    const Stream stream(device());
    std::atomic<bool> damaged = true;
    StreamedTexture texture = make([&](const PyramidBox& box, const std::stop_token&) {
        if (damaged && box.level == 1 && box.region == tile_region(2, 1)) throw std::runtime_error("bad sector 7");
        if (damaged && box.level == 1 && box.region == tile_region(3, 1)) throw 5;
    });
    request(texture, {{.level = 1}});
    StreamingProgress progress = settle(texture, stream);
    EXPECT_EQ(progress.missing, 2u);
    EXPECT_EQ(progress.failed, 2u);
    std::vector<StreamingFailure> failures = texture.failures();
    ASSERT_EQ(failures.size(), 2u);
    std::ranges::sort(failures, {}, [](const StreamingFailure& failure) { return failure.box.region.offset.x; });
    EXPECT_EQ(failures[0].box, (PyramidBox{1, 0, tile_region(2, 1)}));
    EXPECT_THAT(failures[0].message, testing::HasSubstr("bad sector 7"));
    EXPECT_THAT(failures[1].message, testing::HasSubstr("std::exception"));
    const FetchPoint inside{.x = 2.5f / 8, .y = 1.5f / 4, .lod = 1};
    EXPECT_EQ(texture.sample({&inside, 1}).clamps.at(0), 2);
    EXPECT_EQ(texture.statistics().failed_reads, 2u);
    // It is not tried again before invalidate().
    request(texture, {{.level = 1}});
    EXPECT_EQ(settle(texture, stream).failed, 2u);
    EXPECT_EQ(texture.statistics().failed_reads, 2u);
    damaged = false;
    texture.invalidate({.level = 1, .region = tile_region(2, 1)});
    progress = settle(texture, stream);
    EXPECT_EQ(progress.missing, 1u);
    EXPECT_EQ(texture.failures().size(), 1u);
    EXPECT_EQ(texture.sample({&inside, 1}).clamps.at(0), 0);
}

TEST_P(StreamingTest, AResidentLevelThatCannotBeReadIsNamedByTheConstructor) {
    expect_error(
        [&] {
            StreamedTexture texture = make([](const PyramidBox& box, const std::stop_token&) {
                if (box.level == 6) throw std::runtime_error("the disk is full");
            });
        },
        ErrorCode::io, "texton::StreamedTexture", {"level 6", "the disk is full"});
}

TEST_P(StreamingTest, ACallbackThatDoesNotReturnBlocksNeitherUpdateNorAbort) {
    const Stream stream(device());
    std::atomic<int> stopped = 0;
    {
        StreamedTexture texture = make(
            [&](const PyramidBox& box, const std::stop_token& stop) {
                if (box.level >= 4) return;
                while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
                ++stopped;
                throw std::runtime_error("stopped");
            },
            3);
        request(texture, {{.level = 1}});
        const auto begin = std::chrono::steady_clock::now();
        StreamingProgress progress = texture.update(stream, 1ms);
        texture.wait_for_reads(1ms);
        progress = texture.update(stream, 1ms);
        EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
        EXPECT_EQ(progress.loaded, 0u);
        EXPECT_EQ(progress.missing, 32u);
        EXPECT_FALSE(progress.settled());
        texture.abort();
        texture.wait_for_reads(10s);
        while (!texture.update(stream, 1ms).settled()) texture.wait_for_reads(10ms);
        EXPECT_EQ(texture.failures().size(), 0u);  // a stopped read is no failure
        request(texture, {{.level = 1}});
        (void)texture.update(stream, 1ms);
        while (texture.statistics().reading == 0) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_GE(stopped, 2);  // the destructor has waited for the callbacks
}

TEST_P(StreamingTest, ADeviceWithoutMemoryMakesTheImageCoarserButLosesNothing) {
    if (!on_cpu()) GTEST_SKIP() << "only it can be given little memory: the test runs on the CPU device";
    const Stream stream(device());
    StreamedTexture texture = make();
    std::vector<Linear> taken;
    for (std::size_t bytes = device().memory().free; bytes >= (std::size_t{4} << 20);) {
        try {
            taken.emplace_back(device(), bytes);
        } catch (const Error&) {
            bytes /= 2;
        }
        if (taken.size() > 64) break;
    }
    if (device().memory().free > (std::size_t{6} << 20)) GTEST_SKIP() << "the device's memory cannot be used up";
    request(texture, {{}});
    const StreamingProgress progress = settle(texture, stream);
    EXPECT_GT(progress.unfit, 0u);
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
    taken.clear();
    texture.set_budget(texture.budget());
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
}

TEST_P(StreamingTest, UpdatesAreRefusedWhileAGraphIsRecorded) {
    const Stream stream(device());
    StreamedTexture texture = make();
    request(texture, {{.level = 2}});
    expect_error([&] { (void)Graph::capture(stream, [&] { (void)texture.update(stream); }); }, ErrorCode::capturing,
                 "texton::StreamedTexture");
    EXPECT_TRUE(settle(texture, stream).complete());
}

// --- changes ---------------------------------------------------------------------------------------------------------

TEST_P(StreamingTest, InvalidatedTilesAreReadAgain) {
    const Stream stream(device());
    StreamedTexture texture = make({}, 2);
    request(texture, {{.level = 1}});
    EXPECT_TRUE(settle(texture, stream).complete());
    const Bytes changed(kSide * kSide * 16, std::byte{1});
    memory_.write(1, tile_region(3, 2), changed);
    texture.invalidate({.level = 1, .region = tile_region(3, 2)});
    (void)texture.update(stream, 0us);
    EXPECT_EQ(texture.statistics().evicted_tiles, 1u);
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_TRUE(resident_texels_are_right(texture, stream));
    EXPECT_EQ(texture.statistics().loaded_tiles, 32u + 8 + 2 + 1);
}

TEST_P(StreamingTest, InvalidatedResidentLevelsKeepTheirTexelsUntilTheNewOnesAreRead) {
    const Stream stream(device());
    std::atomic<bool> held = false;
    StreamedTexture texture = make([&](const PyramidBox&, const std::stop_token& stop) {
        while (held && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
    });
    const int level = texture.resident_level();
    const Extent extent = level_extent(texture.info(), level);
    const Bytes before = memory_.texels().level(level);
    const Bytes changed(before.size(), std::byte{1});
    memory_.write(level, {{}, extent}, changed);
    held = true;
    texture.invalidate();
    EXPECT_FALSE(texture.update(stream).settled());
    stream.synchronize();
    EXPECT_EQ(test::download(texture.array().array().view({.level = level})), before);
    texture.invalidate();  // once more, while the level is being read
    held = false;
    EXPECT_TRUE(settle(texture, stream).settled());
    stream.synchronize();
    EXPECT_EQ(test::download(texture.array().array().view({.level = level})), changed);
}

TEST_P(StreamingTest, AReadThatWasInvalidatedIsDiscarded) {
    const Stream stream(device());
    std::atomic<int> reads = 0;
    std::atomic<bool> held = true;
    StreamedTexture texture = make([&](const PyramidBox& box, const std::stop_token&) {
        if (box.level >= 4) return;
        if (reads++ == 0) {
            while (held) std::this_thread::sleep_for(1ms);
        }
    });
    request(texture, {{.level = 3, .region = Region{{0, 0, 0}, {64, 64, 1}}}});
    (void)texture.update(stream);
    while (reads == 0) std::this_thread::sleep_for(1ms);
    texture.invalidate({.level = 3});
    held = false;
    EXPECT_TRUE(settle(texture, stream).complete());
    EXPECT_EQ(reads, 2);
    EXPECT_EQ(texture.statistics().discarded_reads, 1u);
    EXPECT_EQ(texture.statistics().loaded_tiles, 1u);
}

TEST_P(StreamingTest, StatisticsCountHitsMissesAndBytes) {
    const Stream stream(device());
    StreamedTexture texture = make();
    request(texture, {{.level = 3}});
    settle(texture, stream);
    request(texture, {{.level = 3}, {.level = 2, .region = tile_region(0, 0)}});
    settle(texture, stream);
    const StreamingStatistics counts = texture.statistics();
    EXPECT_EQ(counts.misses, 2u + 1);
    EXPECT_EQ(counts.hits, 2u);
    EXPECT_EQ(counts.loaded_tiles, 3u);
    EXPECT_EQ(counts.loaded_bytes, 3 * kTileBytes);
    EXPECT_EQ(counts.queued + counts.reading, 0u);
    EXPECT_GT(counts.tiles_per_second(), 0);
}

// --- threads ---------------------------------------------------------------------------------------------------------

TEST_P(StreamingTest, SeveralThreadsUseOneTexture) {
    StreamedTexture texture = make({}, 3);
    const Array plain = memory_.plain(device());
    std::atomic<bool> done = false;
    std::vector<std::thread> threads;
    const Stream stream(device());
    threads.emplace_back([&] {
        while (!done) {
            (void)texture.update(stream, 200us);
            texture.wait_for_reads(1ms);
        }
    });
    threads.emplace_back([&] {
        test::Random random(1);
        while (!done) {
            texture.request(std::vector<StreamedView>{{.level = static_cast<int>(random.below(4))}});
            if (random.below(8) == 0) texture.abort();
            if (random.below(8) == 0) texture.invalidate({.level = static_cast<int>(random.below(6))});
            texture.set_budget(texture.minimum_budget() + random.below(100) * kTileBytes);
            (void)texture.statistics();
            (void)texture.failures();
            std::this_thread::sleep_for(500us);
        }
    });
    test::Random random(2);
    for (int round = 0; round < 60; ++round) {
        std::vector<FetchPoint> points;
        for (int i = 0; i < 50; ++i) points.push_back(test::random_point(random, texture.info()));
        const StreamedSamples found = texture.sample(points);
        for (int clamp = 0; clamp <= texture.resident_level(); ++clamp) {
            Sampler sampler = level_sampler();
            sampler.mip_min = static_cast<float>(clamp);
            const Samples expected = sample(Texture(plain, sampler), points, {.operation = FetchOperation::lod});
            for (std::size_t i = 0; i < points.size(); ++i) {
                if (found.clamps[i] != clamp) continue;
                EXPECT_EQ(found.texels[i], expected.texels[i]);
            }
        }
    }
    done = true;
    for (std::thread& thread : threads) thread.join();
    stream.synchronize();
}

}  // namespace
}  // namespace texton
