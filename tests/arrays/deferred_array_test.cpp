#include <texton/deferred_array.h>

#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/sample.h>
#include <texton/surface.h>

#include "tests/support/arrays.h"
#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/reset_in_order.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::download;
using test::expect_error;
using test::pattern;
using test::same_bytes;
using test::upload;

constexpr Extent kExtent{200, 100};
constexpr ArrayInfo kInfo{.format = Format::rgba8_uint, .extent = kExtent, .usage = {.surface = true}};

class DeferredArrayTest : public test::OnEveryDevice {
protected:
    TilePool pool() const { return TilePool(device(), {.chunk_bytes = std::size_t{2} << 20}); }

    static Tiles tiles_for(const DeferredArray& array, const TilePool& from) {
        return from.allocate_bytes(array.requirements().bytes);
    }

    // Overwrites the memory through another array.
    void fill_all(const Tiles& tiles, const ArrayInfo& info, const Stream& stream) const {
        DeferredArray array(device(), info);
        array.map(tiles, stream);
        for (int level = 0; level < info.levels; ++level) {
            fill(array.array().view({.level = level}), std::uint8_t{0xEE}, stream);
        }
    }

    // Access to memory that is not mapped makes every later CUDA call of the process fail. Checks that the device still
    // works.
    void expect_alive() const {
        const Linear memory(device(), 1 << 16);
        const test::Bytes bytes = pattern(1 << 16, 1);
        upload(memory.view(), bytes);
        EXPECT_TRUE(same_bytes(download(memory.view()), bytes));
        device().synchronize();
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, DeferredArrayTest, test::every_device(), test::device_label);

TEST_P(DeferredArrayTest, MappedArraysOfEveryKindRoundTrip) {
    const Stream stream(device());
    const TilePool from = pool();
    for (const ArrayKind kind : test::all_kinds()) {
        for (const Format format : test::formats_of_every_size()) {
            if (!test::has_arrays(kind, format)) continue;
            ArrayInfo info = test::small_info(kind, format);
            info.usage.surface = !test::is_block_compressed(format);
            SCOPED_TRACE(test::describe(info));
            DeferredArray array(device(), info);
            EXPECT_FALSE(array.mapped());
            EXPECT_EQ(array.requirements().bytes % kTileBytes, 0u);
            EXPECT_GE(array.requirements().bytes, packed_bytes(info));
            const Tiles tiles = tiles_for(array, from);
            array.map(tiles, stream);
            EXPECT_TRUE(array.mapped());
            EXPECT_EQ(tiles.mapped(), tiles.size());
            const test::ReferenceArray reference(info, 1);
            test::upload(array.array(), reference);
            EXPECT_TRUE(test::holds(array.array(), reference));
            array.unmap(stream);
            EXPECT_FALSE(array.mapped());
            EXPECT_EQ(tiles.mapped(), 0u);
        }
    }
    EXPECT_EQ(from.usage().used, 0u);
}

TEST_P(DeferredArrayTest, UsingAnUnmappedArrayIsRefusedAndTheDeviceStaysUsable) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    const Array plain(device(), kInfo);
    const Linear memory(device(), packed_bytes(kInfo));
    const View linear = memory.view(kInfo.format, kExtent);
    fill(linear, std::uint8_t{0});
    fill(plain.view(), std::uint8_t{0});
    const View view = array.array().view();
    const Texture texture(array.array());
    const Surface surface(array.array());
    const std::vector<FetchPoint> points(3);
    const std::vector<SurfacePoint> positions(3);
    array.map(tiles_for(array, from), stream);
    const Graph graph = Graph::capture(stream, [&] { fill(view, std::uint8_t{1}, stream); });
    graph.launch(stream);
    array.unmap(stream);
    const std::vector<std::function<void()>> uses{
        [&] { copy(view, linear); },
        [&] { copy(linear, view); },
        [&] { copy(view, plain.view()); },
        [&] { copy(plain.view(), view, stream); },
        [&] {
            copy(view.region({{8, 8}, {4, 4}}), linear.region({{0, 0}, {4, 4}}), stream);
        },
        [&] { (void)download(view); },
        [&] {
            CopyBatch batch;
            batch.add(linear, plain.view());
            batch.add(view, plain.view());
            batch.run(stream);
        },
        [&] { fill(view, std::uint8_t{1}); },
        [&] { fill(view, std::uint32_t{1}, stream); },
        [&] { (void)sample(texture, points); },
        [&] { (void)sample(Texture(array.array()), points); },
        [&] { (void)texture.handle(); },
        [&] { (void)read(surface, positions); },
        [&] { write(surface, positions, test::Bytes(12)); },
        [&] { (void)surface.handle(); },
        [&] { graph.launch(stream); },
        [&] { (void)Graph::capture(stream, [&] { copy(linear, view, stream); }); },
        [&] { array.used_on(stream); },
        [&] { array.move(tiles_for(array, from), stream); },
    };
    for (std::size_t i = 0; i < uses.size(); ++i) {
        SCOPED_TRACE(i);
        expect_error(uses[i], ErrorCode::not_mapped, "texton::", {"has no memory", "DeferredArray::map()"});
        expect_alive();
    }
    // With memory mapped all of these work.
    array.map(tiles_for(array, from), stream);
    for (const auto& use : uses) {
        use();
        stream.synchronize();
    }
    expect_alive();
}

TEST_P(DeferredArrayTest, MappingShowsTheContentsOfTheMemory) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray first(device(), kInfo);
    DeferredArray second(device(), kInfo);
    const Tiles tiles = tiles_for(first, from);
    first.map(tiles, stream);
    const test::Bytes bytes = pattern(packed_bytes(kInfo), 2);
    upload(first.array().view(), bytes);
    first.unmap(stream);
    second.map(tiles, stream);
    EXPECT_TRUE(same_bytes(download(second.array().view()), bytes));
}

TEST_P(DeferredArrayTest, ArraysMappedToTheSameMemoryShareTexels) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray first(device(), kInfo);
    DeferredArray second(device(), kInfo);
    const Tiles tiles = tiles_for(first, from);
    first.map(tiles, stream);
    second.map(tiles, stream);
    const test::Bytes bytes = pattern(packed_bytes(kInfo), 3);
    upload(first.array().view(), bytes);
    EXPECT_TRUE(same_bytes(download(second.array().view()), bytes));
    first.unmap(stream);
    EXPECT_EQ(tiles.mapped(), tiles.size());
    second.unmap(stream);
    EXPECT_EQ(tiles.mapped(), 0u);
}

TEST_P(DeferredArrayTest, RemappingSwitchesToTheNewMemory) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    const Tiles one = tiles_for(array, from);
    const Tiles two = tiles_for(array, from);
    array.map(one, stream);
    fill(array.array().view(), std::uint8_t{1}, stream);
    array.map(two, stream);
    EXPECT_EQ(one.mapped(), 0u);
    fill(array.array().view(), std::uint8_t{2}, stream);
    array.map(one, stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(array.array().view()), 1));
}

TEST_P(DeferredArrayTest, MovingKeepsTheTexels) {
    const Stream stream(device());
    const TilePool from = pool();
    for (const ArrayKind kind : test::all_kinds()) {
        const ArrayInfo info = test::small_info(kind, Format::rgba16_uint);
        SCOPED_TRACE(test::describe(info));
        DeferredArray array(device(), info);
        const Texture texture(array.array(), {.normalized_coordinates = true});
        Tiles old = tiles_for(array, from);
        array.map(old, stream);
        const test::ReferenceArray reference(info, 4);
        test::upload(array.array(), reference);
        for (int move = 0; move < 3; ++move) {
            const Tiles next = tiles_for(array, from);
            array.move(next, stream);
            EXPECT_EQ(old.mapped(), 0u);
            EXPECT_EQ(next.mapped(), next.size());
            fill_all(old, info, stream);  // the contents of the old memory no longer matter
            EXPECT_TRUE(test::holds(array.array(), reference));
            old = next;
        }
        array.move(old, stream);  // its current memory
        EXPECT_TRUE(test::holds(array.array(), reference));
    }
}

TEST_P(DeferredArrayTest, TooFewTilesAreRefusedWithTheRequiredNumber) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    const std::size_t needed = array.requirements().bytes / kTileBytes;
    const Tiles few = from.allocate(needed - 1);
    for (const bool move : {false, true}) {
        const Error error = expect_error([&] { move ? array.move(few, stream) : array.map(few, stream); },
                                         ErrorCode::bad_argument, "texton::DeferredArray");
        EXPECT_EQ(test::number_of(error, "needed"), needed);
        EXPECT_EQ(test::number_of(error, "tiles"), needed - 1);
    }
    EXPECT_FALSE(array.mapped());
    const Tiles many = from.allocate(needed + 3);
    array.map(many, stream);
    EXPECT_EQ(many.mapped(), needed);
    array.map(from.allocate(needed), stream);
    EXPECT_EQ(many.mapped(), 0u);
}

TEST_P(DeferredArrayTest, RefusedCallsChangeNothing) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    const Tiles tiles = tiles_for(array, from);
    array.map(tiles, stream);
    fill(array.array().view(), std::uint8_t{5}, stream);
    stream.synchronize();
    expect_error([&] { array.map(Tiles(), stream); }, ErrorCode::released, "texton::DeferredArray");
    (void)Graph::capture(stream, [&] {
        const Stream other(device());
        for (const Stream& on : {stream, other}) {
            expect_error([&] { array.map(tiles, on); }, ErrorCode::capturing, "texton::DeferredArray");
            expect_error([&] { array.move(tiles, on); }, ErrorCode::capturing, "texton::DeferredArray");
            expect_error([&] { array.unmap(on); }, ErrorCode::capturing, "texton::DeferredArray");
        }
    });
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        const Stream foreign(other);
        const Tiles elsewhere = TilePool(other).allocate(tiles.size());
        expect_error([&] { array.map(tiles, foreign); }, ErrorCode::wrong_device, "texton::DeferredArray");
        expect_error([&] { array.unmap(foreign); }, ErrorCode::wrong_device, "texton::DeferredArray");
        expect_error([&] { array.map(elsewhere, stream); }, ErrorCode::wrong_device, "texton::DeferredArray");
    }
    EXPECT_TRUE(array.mapped());
    EXPECT_TRUE(test::all_bytes(download(array.array().view()), 5));
    expect_error(
        [&] {
            DeferredArray bad(device(), {.extent = {8, 9}, .kind = ArrayKind::cubemap});
        },
        ErrorCode::bad_argument, "texton::DeferredArray");
    expect_error([] { (void)DeferredArray().mapped(); }, ErrorCode::released, "texton::DeferredArray");
}

TEST_P(DeferredArrayTest, UnmappingWaitsForWorkOnEveryStream) {
    const Stream works(device());
    const Stream maps(device());
    const TilePool from = pool();
    const Pinned seen(device(), packed_bytes(kInfo));
    DeferredArray array(device(), kInfo);
    array.map(tiles_for(array, from), maps);
    fill(array.array().view(), std::uint8_t{4}, maps);
    maps.synchronize();
    const test::Gate gate;
    gate.close(works);
    copy(seen.view(kInfo.format, kExtent), array.array().view(), works);
    array.unmap(maps);
    EXPECT_FALSE(maps.idle());
    gate.open();
    maps.synchronize();
    EXPECT_TRUE(works.idle());
    EXPECT_TRUE(test::all_bytes(seen.read(), 4));
}

TEST_P(DeferredArrayTest, WorkOnAnotherStreamWaitsForTheMapping) {
    const Stream maps(device());
    const Stream works(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    const test::Gate gate;
    gate.close(maps);
    array.map(tiles_for(array, from), maps);
    fill(array.array().view(), std::uint8_t{4}, works);
    array.used_on(works);
    EXPECT_FALSE(works.idle());
    gate.open();
    works.synchronize();
    EXPECT_TRUE(test::all_bytes(download(array.array().view()), 4));
}

TEST_P(DeferredArrayTest, WorkWithoutAStreamWaitsForTheMapping) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    const Tiles one = tiles_for(array, from);
    const Tiles two = tiles_for(array, from);
    for (unsigned round = 0; round < 40; ++round) {
        array.map(round % 2 == 0 ? one : two, stream);
        if (round >= 2) {
            EXPECT_TRUE(test::all_bytes(download(array.array().view()), round - 2));
        }
        fill(array.array().view(), static_cast<std::uint8_t>(round));
    }
}

TEST_P(DeferredArrayTest, MovingWaitsForWorkOnOtherStreams) {
    const Stream works(device());
    const Stream maps(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    array.map(tiles_for(array, from), maps);
    maps.synchronize();
    const test::Gate gate;
    gate.close(works);
    fill(array.array().view(), std::uint8_t{8}, works);
    array.move(tiles_for(array, from), maps);
    EXPECT_FALSE(maps.idle());
    gate.open();
    EXPECT_TRUE(test::all_bytes(download(array.array().view()), 8));
}

TEST_P(DeferredArrayTest, RemappingMemoryWaitsForItsLastUse) {
    const Stream old_stream(device());
    const Stream new_stream(device());
    const TilePool from = pool();
    DeferredArray last(device(), kInfo);
    DeferredArray next(device(), kInfo);
    const Tiles tiles = tiles_for(last, from);
    last.map(tiles, old_stream);
    const test::Gate gate;
    gate.close(old_stream);
    fill(last.array().view(), std::uint8_t{1}, old_stream);
    last.unmap(old_stream);
    next.map(tiles, new_stream);
    fill(next.array().view(), std::uint8_t{2}, new_stream);
    EXPECT_FALSE(new_stream.idle());
    gate.open();
    new_stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(next.array().view()), 2));
}

TEST_P(DeferredArrayTest, AGraphUsesTheCurrentMemoryOfTheArray) {
    const Stream stream(device());
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    const Tiles one = tiles_for(array, from);
    const Tiles two = tiles_for(array, from);
    array.map(one, stream);
    fill(array.array().view(), std::uint8_t{1}, stream);
    const Linear seen(device(), packed_bytes(kInfo));
    const Graph inner =
        Graph::capture(stream, [&] { copy(seen.view(kInfo.format, kExtent), array.array().view(), stream); });
    array.map(two, stream);
    fill(array.array().view(), std::uint8_t{2}, stream);
    inner.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(download(seen.view()), 2));
    array.unmap(stream);
    expect_error([&] { inner.launch(stream); }, ErrorCode::not_mapped, "texton::Graph");
    expect_alive();
}

TEST_P(DeferredArrayTest, ADestroyedArrayReleasesItsSlots) {
    const Stream stream(device());
    const TilePool from = pool();
    Tiles kept;
    {
        DeferredArray array(device(), kInfo);
        kept = tiles_for(array, from);
        array.map(kept, stream);
        fill(array.array().view(), std::uint8_t{1}, stream);
        array.move(tiles_for(array, from), stream);
        EXPECT_EQ(from.usage().used, kept.size() * 2);
        array.move(kept, stream);
    }
    EXPECT_EQ(kept.mapped(), 0u);
    EXPECT_EQ(from.usage().used, kept.size());
}

TEST_P(DeferredArrayTest, ArraysTilesPoolsAndTexturesCanBeDestroyedInAnyOrder) {
    const Stream stream(device());
    for (std::size_t order = 0; order < 24; ++order) {
        std::optional<TilePool> from(pool());
        std::optional<DeferredArray> array(std::in_place, device(), kInfo);
        std::optional<Tiles> tiles(tiles_for(*array, *from));
        array->map(*tiles, stream);
        std::optional<Texture> texture(array->array());
        fill(array->array().view(), std::uint8_t{1}, stream);
        test::reset_in_order(order, from, tiles, array, texture);
    }
    EXPECT_THROW(
        {
            const TilePool from = pool();
            DeferredArray array(device(), kInfo);
            array.map(tiles_for(array, from), stream);
            fill(array.array().view(), std::uint8_t{1}, stream);
            throw std::runtime_error("unwinding");
        },
        std::runtime_error);
    expect_alive();
}

TEST_P(DeferredArrayTest, OneThreadCanMapWhileOtherThreadsUseTheArray) {
    const TilePool from = pool();
    DeferredArray array(device(), kInfo);
    std::vector<std::thread> threads;
    for (const std::size_t half : {0u, 1u}) {
        threads.emplace_back([&, half] {
            const Stream stream(device());
            const View mine = array.array().view({.region = Region{{0, half * 50, 0}, {200, 50, 1}}});
            for (int i = 0; i < 100; ++i) {
                try {
                    fill(mine, std::uint8_t{3}, stream);
                } catch (const Error& error) {
                    EXPECT_EQ(error.code(), ErrorCode::not_mapped) << error.what();
                }
            }
            stream.synchronize();
        });
    }
    const Stream maps(device());
    for (int i = 0; i < 100; ++i) {
        array.map(tiles_for(array, from), maps);
        array.move(tiles_for(array, from), maps);
        array.unmap(maps);
    }
    for (std::thread& thread : threads) thread.join();
    maps.synchronize();
    EXPECT_EQ(from.usage().used, 0u);
    expect_alive();
}

}  // namespace
}  // namespace texton
