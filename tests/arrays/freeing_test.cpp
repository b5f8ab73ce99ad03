// Objects that are destroyed while a graph is recorded, by the recording thread or by another one.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/planar_array.h>
#include <texton/pool.h>
#include <texton/registered.h>
#include <texton/sparse_array.h>
#include <texton/surface.h>
#include <texton/texture.h>
#include <texton/tile_pool.h>

#include "core/block.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/pages.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::all_bytes;
using test::download;

class FreeingTest : public test::OnEveryDevice {
protected:
    struct Kind {
        std::string name;
        std::function<std::shared_ptr<void>()> make;
    };

    template <class Object>
    static std::shared_ptr<void> kept(Object object) {
        return std::make_shared<Object>(std::move(object));
    }

    AddressRange mapped_range() const {
        const std::size_t bytes = Physical::granularity(device());
        AddressRange range(device(), bytes);
        range.map(0, Physical(device(), bytes));
        range.set_access();
        return range;
    }

    std::vector<Kind> kinds() const {
        const auto pages = std::make_shared<test::Pages>(1);
        const ArrayInfo info{.format = Format::rgba8_uint, .extent = {200, 100}, .usage = {.surface = true}};
        return {
            {"Linear", [=, this] { return kept(Linear(device(), 1 << 20)); }},
            {"Linear of a pool", [=, this] { return kept(Linear::async(1 << 20, Stream(device()))); }},
            {"Pitched2D",
             [=, this] {
                 return kept(Pitched2D(device(), Format::r8_uint, {100, 100}));
             }},
            {"Pinned", [=, this] { return kept(Pinned(device(), 4096)); }},
            {"Registered", [=, this] { return kept(Registered(device(), pages->all())); }},
            {"Managed", [=, this] { return kept(Managed(device(), 4096)); }},
            {"AddressRange", [=, this] { return kept(mapped_range()); }},
            {"Physical", [=, this] { return kept(Physical(device(), Physical::granularity(device()))); }},
            {"Pool", [=, this] { return kept(Pool(device())); }},
            {"Stream", [=, this] { return kept(Stream(device())); }},
            {"Event", [=, this] { return kept(Event(device())); }},
            {"Graph",
             [=, this] {
                 const Stream stream(device());
                 return kept(Graph::capture(stream, [&] { stream.run([] {}); }));
             }},
            {"Array", [=, this] { return kept(Array(device(), info)); }},
            {"PlanarArray",
             [=, this] {
                 return kept(PlanarArray(device(), Format::nv12, {64, 64}));
             }},
            {"Texture", [=, this] { return kept(Texture(Array(device(), info))); }},
            {"Surface", [=, this] { return kept(Surface(Array(device(), info))); }},
            {"SparseArray",
             [=, this] {
                 const Stream stream(device());
                 const TilePool pool(device());
                 SparseArray array(device(), {Format::rgba8_uint, {256, 256}});
                 array.map({.extent = {1, 1, 1}}, pool.allocate(1), stream);
                 return kept(std::move(array));
             }},
            {"DeferredArray",
             [=, this] {
                 const Stream stream(device());
                 const TilePool pool(device());
                 DeferredArray array(device(), info);
                 array.map(pool.allocate_bytes(array.requirements().bytes), stream);
                 return kept(std::move(array));
             }},
        };
    }

    // Records a graph, calls `during` in the middle, and checks that the graph contains and runs the work.
    void record(const std::function<void()>& during) const {
        const Stream stream(device());
        const Linear first(device(), 64);
        const Linear second(device(), 64);
        try {
            const Graph graph = Graph::capture(stream, [&] {
                fill(first.view(), std::uint8_t{1}, stream);
                during();
                fill(second.view(), std::uint8_t{2}, stream);
            });
            EXPECT_EQ(graph.size(), 2u);
            graph.launch(stream);
            stream.synchronize();
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
            return;
        }
        EXPECT_TRUE(all_bytes(download(first.view()), 1));
        EXPECT_TRUE(all_bytes(download(second.view()), 2));
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, FreeingTest, test::every_device(), test::device_label);

TEST_P(FreeingTest, AnObjectDestroyedOnAnotherThreadLeavesTheRecordingValid) {
    for (const Kind& kind : kinds()) {
        SCOPED_TRACE(kind.name);
        std::shared_ptr<void> object = kind.make();
        record([&] { std::thread([&] { object.reset(); }).join(); });
    }
}

TEST_P(FreeingTest, AnObjectDestroyedByTheRecordingThreadLeavesTheRecordingValid) {
    for (const Kind& kind : kinds()) {
        SCOPED_TRACE(kind.name);
        std::shared_ptr<void> object = kind.make();
        record([&] { object.reset(); });
    }
}

TEST_P(FreeingTest, TheRecordingThreadCanAllocateOnAnotherStream) {
    const Stream other(device());
    Linear memory;
    record([&] {
        memory = Linear::async(1 << 20, other);
        fill(memory.view(), std::uint8_t{7}, other);
    });
    other.synchronize();
    EXPECT_TRUE(all_bytes(download(memory.view()), 7));
}

TEST_P(FreeingTest, UnmappingOnAnotherThreadLeavesTheRecordingValid) {
    AddressRange range = mapped_range();
    record([&] { std::thread([&] { range.unmap(0); }).join(); });
}

TEST_P(FreeingTest, MemoryOfARangeDestroyedByTheRecordingThreadIsReleasedAfterTheRecording) {
    std::optional<AddressRange> range(mapped_range());
    const std::size_t bytes = range->bytes();
    std::size_t free = 0;
    record([&] {
        free = device().memory().free;
        range.reset();
        if (on_cpu()) {  // other processes change the free memory of a GPU
            EXPECT_EQ(device().memory().free, free) << "work that is in flight can still use the mapping";
        }
    });
    if (on_cpu()) {
        EXPECT_GE(device().memory().free, free + bytes);
    }
}

TEST_P(FreeingTest, UnmappingWaitsForWorkInFlight) {
    AddressRange range = mapped_range();
    const View view = range.view(Format::r8_uint, {range.bytes()});
    const Stream stream(device());
    std::atomic<bool> done{false};
    const test::Gate gate;
    gate.close(stream);
    fill(view, std::uint8_t{1}, stream);
    stream.run([&] { done = true; });
    auto unmapped = std::async(std::launch::async, [&] {
        range.unmap(0);
        return done.load();
    });
    // The unmapping cannot end before the gate opens. The time only limits how long an error can stay unseen.
    EXPECT_EQ(unmapped.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
    gate.open();
    EXPECT_TRUE(unmapped.get());
    stream.synchronize();
}

TEST_P(FreeingTest, PoolMemoryDestroyedOnAnotherThreadDuringACaptureOfItsStreamIsFreedAfterwards) {
    const Pool pool(device());
    const Stream stream(device());
    const Linear kept(device(), 64);
    std::optional<Linear> memory(pool.allocate(std::size_t{1} << 20, stream));
    const Graph graph = Graph::capture(stream, [&] {
        fill(kept.view(), std::uint8_t{1}, stream);
        std::thread([&] { memory.reset(); }).join();
    });
    EXPECT_EQ(graph.size(), 1u);
    stream.synchronize();
    EXPECT_EQ(pool.usage().used, 0u);
}

TEST_P(FreeingTest, ThreadsFreePoolMemoryWhileAnotherThreadRecordsItsStream) {
    const Pool pool(device());
    const Stream stream(device());
    const Linear target(device(), 64);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            std::vector<Linear> memories;
            while (!stop) {
                if (memories.empty()) {
                    const Stream own(device());
                    for (int count = 0; count < 8; ++count) memories.push_back(pool.allocate(512, own));
                    own.synchronize();
                }
                memories.pop_back();
            }
        });
    }
    for (int round = 0; round < 50; ++round) {
        std::vector<Linear> memories;
        for (int count = 0; count < 20; ++count) memories.push_back(pool.allocate(512, stream));
        std::thread freeing([&] { memories.clear(); });
        const Graph graph = Graph::capture(stream, [&] { fill(target.view(), std::uint8_t{1}, stream); });
        freeing.join();
        EXPECT_EQ(graph.size(), 1u);
        graph.launch(stream);
        stream.synchronize();
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    stream.synchronize();
    EXPECT_EQ(pool.usage().used, 0u);
}

// Code other than Graph::capture() captures the stream, so no recording ends.
TEST_P(FreeingTest, PoolMemoryDestroyedDuringAForeignCaptureIsFreedByTheNextUseOfThePool) {
    const Pool pool(device());
    const Stream stream(device());
    const Stream other(device());
    detail::Backend& backend = device().backend();
    for (const bool synchronize : {true, false}) {
        std::optional<Linear> memory(pool.allocate(std::size_t{1} << 20, stream));
        backend.begin_capture(stream.state()->handle);
        std::thread([&] {
            memory.reset();
            EXPECT_GT(pool.usage().used, 0u);
        }).join();
        backend.abandon_capture(stream.state()->handle);
        if (synchronize) {
            stream.synchronize();
        } else {
            (void)pool.allocate(64, other);
            backend.synchronize_stream(other.state()->handle);
        }
        EXPECT_EQ(backend.pool_attribute(pool.state()->handle, detail::PoolAttribute::used_current), 0u);
        stream.synchronize();
        other.synchronize();
    }
}

}  // namespace
}  // namespace texton
