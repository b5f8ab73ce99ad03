#include <texton/graph.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/managed.h>
#include <texton/physical.h>
#include <texton/pinned.h>
#include <texton/pitched.h>
#include <texton/pool.h>

#include "tests/support/expect_error.h"
#include "tests/support/memories.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::all_bytes;
using test::expect_error;
using test::same_bytes;

class GraphTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, GraphTest, test::every_device(), test::device_label);

TEST_P(GraphTest, CapturedWorkIsRecordedInsteadOfRun) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    fill(memory.view(), std::uint8_t{1});
    const Graph graph = Graph::capture(stream, [&] { fill(memory.view(), std::uint8_t{2}, stream); });
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 1));
    EXPECT_EQ(graph.size(), 1u);
    EXPECT_EQ(graph.device(), device());
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 2));
}

TEST_P(GraphTest, AGraphCanBeLaunchedRepeatedlyOnAnyStreamOfTheDevice) {
    const Stream stream(device());
    const Stream other(device());
    const Linear memory(device(), 4096);
    const Pinned host(device(), 4096);
    std::atomic<int> ran{0};
    const Graph graph = Graph::capture(stream, [&] {
        copy(memory.view(), host.view(), stream);
        stream.run([&ran] { ++ran; });
    });
    EXPECT_EQ(graph.size(), 2u);
    for (unsigned round = 1; round <= 5; ++round) {
        std::memset(host.data(), static_cast<int>(round), host.bytes());
        const Stream& on = round % 2 == 0 ? stream : other;
        graph.launch(on);
        on.synchronize();
        EXPECT_TRUE(all_bytes(test::download(memory.view()), round));
    }
    EXPECT_EQ(ran.load(), 5);
}

TEST_P(GraphTest, LaunchesRunInStreamOrder) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const Pinned host(device(), 4096);
    const Graph graph = Graph::capture(stream, [&] { copy(host.view(), memory.view(), stream); });
    fill(memory.view(), std::uint8_t{3}, stream);
    graph.launch(stream);
    fill(memory.view(), std::uint8_t{4}, stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(host.read(), 3));
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 4));
}

TEST_P(GraphTest, CopiesBetweenEveryPairOfMemoryKindsAreCaptured) {
    const Stream stream(device());
    constexpr Extent kRow{1500};
    const auto kinds = test::memories(device(), std::nullopt, Format::r8_uint, kRow);
    for (const test::MemoryMaker& from : kinds) {
        for (const test::MemoryMaker& to : kinds) {
            if (from.foreign || to.foreign) continue;
            SCOPED_TRACE(from.name + " to " + to.name);
            const test::Memory source = from.make(0);
            const test::Memory target = to.make(1);
            test::upload(target.texels, test::Bytes(1500, std::byte{0}));
            const Graph graph = Graph::capture(stream, [&] { copy(target.texels, source.texels, stream); });
            EXPECT_GE(graph.size(), 1u);
            EXPECT_TRUE(all_bytes(test::download(target.texels), 0));
            for (unsigned round = 0; round < 2;
                 ++round) {  // each launch reads the current contents of the source, even of pageable memory
                const test::Bytes bytes = test::pattern(1500, round);
                test::upload(source.texels, bytes);
                graph.launch(stream);
                stream.synchronize();
                EXPECT_TRUE(same_bytes(test::download(target.texels), bytes));
            }
        }
    }
}

TEST_P(GraphTest, CopiesOfVolumesAndRectanglesAreCaptured) {
    const Stream stream(device());
    for (const Extent& extent : {Extent{19, 7}, Extent{19, 7, 5}}) {
        const auto kinds = test::memories(device(), std::nullopt, Format::rg16_uint, extent);
        for (const test::MemoryMaker& kind : kinds) {
            if (kind.foreign) continue;
            SCOPED_TRACE(kind.name);
            const test::Memory from = kind.make(0);
            const test::Memory to = kind.make(1);
            const test::Bytes bytes = test::pattern(packed_bytes(Format::rg16_uint, extent), 9);
            test::upload(from.texels, bytes);
            const Graph graph = Graph::capture(stream, [&] { copy(to.texels, from.texels, stream); });
            graph.launch(stream);
            stream.synchronize();
            EXPECT_TRUE(same_bytes(test::download(to.texels), bytes));
        }
    }
}

TEST_P(GraphTest, FillsOfEveryPatternAndDimensionAreCaptured) {
    const Stream stream(device());
    const Pitched3D volume(device(), Format::rgba8_uint, {9, 5, 3});
    const Pitched2D flat(device(), Format::rgba8_uint, {9, 5});
    const Linear row(device(), 400);
    const std::array<View, 3> views{row.view(), flat.view(), volume.view()};
    for (const View& view : views) {
        const Graph bytes = Graph::capture(stream, [&] { fill(view, std::uint8_t{0xAB}, stream); });
        const Graph halves = Graph::capture(stream, [&] { fill(view, std::uint16_t{0x1234}, stream); });
        const Graph words = Graph::capture(stream, [&] { fill(view, std::uint32_t{0x89ABCDEF}, stream); });
        const auto expect = [&](const Graph& graph, std::vector<unsigned> pattern) {
            fill(view, std::uint8_t{0});
            graph.launch(stream);
            stream.synchronize();
            const test::Bytes seen = test::download(view);
            test::Bytes expected(seen.size());
            for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = std::byte(pattern[i % pattern.size()]);
            EXPECT_TRUE(same_bytes(seen, expected));
        };
        expect(bytes, {0xAB});
        expect(halves, {0x34, 0x12});
        expect(words, {0xEF, 0xCD, 0xAB, 0x89});
    }
}

TEST_P(GraphTest, ACopyBatchIsCaptured) {
    const Stream stream(device());
    const Linear from(device(), 1000);
    const Linear to(device(), 1000);
    const test::Bytes bytes = test::pattern(1000, 1);
    test::upload(from.view(), bytes);
    CopyBatch batch;
    for (std::size_t i = 0; i < 10; ++i) {
        const Region part{{i * 100}, {100}};
        batch.add(to.view().region(part), from.view().region(part));
    }
    const Graph graph = Graph::capture(stream, [&] { batch.run(stream); });
    fill(to.view(), std::uint8_t{0});
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(same_bytes(test::download(to.view()), bytes));
}

TEST_P(GraphTest, AGraphCanAllocateAndFreeMemory) {
    const Stream stream(device());
    const Pinned in(device(), 1 << 16);
    const Pinned out(device(), 1 << 16);
    const Graph graph = Graph::capture(stream, [&] {
        const Linear scratch = Linear::async(1 << 16, stream);
        copy(scratch.view(), in.view(), stream);
        copy(out.view(), scratch.view(), stream);
    });
    EXPECT_EQ(graph.size(), 4u);
    for (unsigned round = 0; round < 3; ++round) {
        const test::Bytes bytes = test::pattern(1 << 16, round);
        std::memcpy(in.data(), bytes.data(), bytes.size());
        graph.launch(stream);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(out.read(), bytes));
    }
}

TEST_P(GraphTest, AGraphCanAllocateFromAPool) {
    const Stream stream(device());
    const Pool pool(device());
    const Pinned out(device(), 4096);
    try {
        const Graph graph = Graph::capture(stream, [&] {
            Linear scratch = pool.allocate(4096, stream);
            fill(scratch.view(), std::uint8_t{0x3C}, stream);
            copy(out.view(), scratch.view(), stream);
            scratch.free(stream);
        });
        for (int round = 0; round < 2; ++round) {
            std::memset(out.data(), 0, out.bytes());
            graph.launch(stream);
            stream.synchronize();
            EXPECT_TRUE(all_bytes(out.read(), 0x3C));
        }
    } catch (const Error& error) {
        FAIL() << error.what();
    }
}

TEST_P(GraphTest, MemoryKeptByTheCallerIsReadableAfterTheLaunch) {
    const Stream stream(device());
    Linear kept;
    const Graph graph = Graph::capture(stream, [&] {
        kept = Linear::async(4096, stream);
        fill(kept.view(), std::uint8_t{0x6D}, stream);
    });
    graph.launch(stream);
    stream.synchronize();
    test::Bytes seen(4096);
    copy(host_view(std::span(seen)), kept.view(), stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(seen, 0x6D));
}

TEST_P(GraphTest, EventsForkAndJoinCapturedStreams) {
    const Stream origin(device());
    const Stream side(device());
    const Event forked(device(), EventTiming::off);
    const Event joined(device(), EventTiming::off);
    const Linear left(device(), 4096);
    const Linear right(device(), 4096);
    const Pinned out(device(), 8192);
    const Graph graph = Graph::capture(origin, [&] {
        fill(left.view(), std::uint8_t{1}, origin);
        forked.record(origin);
        side.wait(forked);
        EXPECT_TRUE(side.capturing());
        copy(right.view(), left.view(), side);
        joined.record(side);
        fill(left.view().region({{}, {1}}), std::uint8_t{9},
             origin);  // concurrent with the copy, but writes a different byte
        origin.wait(joined);
        copy(out.view().region({{}, {4096}}), right.view(), origin);
        copy(out.view().region({{4096}, {4096}}), left.view(), origin);
    });
    EXPECT_EQ(graph.size(), 5u);
    EXPECT_FALSE(side.capturing());
    side.synchronize();
    for (int round = 0; round < 3; ++round) {
        fill(left.view(), std::uint8_t{0});
        fill(right.view(), std::uint8_t{0});
        graph.launch(origin);
        origin.synchronize();
        EXPECT_TRUE(all_bytes(out.read().subspan(1, 4095), 1));
        EXPECT_TRUE(all_bytes(out.read().subspan(4097), 1));
        EXPECT_TRUE(all_bytes(out.read().subspan(4096, 1), 9));
    }
}

TEST_P(GraphTest, AnUnjoinedStreamIsRefused) {
    const Stream origin(device());
    const Stream side(device());
    const Event forked(device(), EventTiming::off);
    const Linear memory(device(), 64);
    expect_error(
        [&] {
            (void)Graph::capture(origin, [&] {
                forked.record(origin);
                side.wait(forked);
                fill(memory.view(), std::uint8_t{1}, side);
            });
        },
        ErrorCode::capturing, "texton::Graph", {"did not join"});
    // Both streams still work.
    for (const Stream* stream : {&origin, &side}) {
        EXPECT_FALSE(stream->capturing());
        fill(memory.view(), std::uint8_t{5}, *stream);
        stream->synchronize();
    }
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 5));
}

TEST_P(GraphTest, AnExceptionEndsTheCaptureAndReachesTheCaller) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    fill(memory.view(), std::uint8_t{1});
    const auto capture = [&] {
        (void)Graph::capture(stream, [&] {
            fill(memory.view(), std::uint8_t{2}, stream);
            throw std::runtime_error("exception of the caller");
        });
    };
    EXPECT_THROW(capture(), std::runtime_error);
    EXPECT_FALSE(stream.capturing());
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 1));
    const Graph graph = Graph::capture(stream, [&] { fill(memory.view(), std::uint8_t{3}, stream); });
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 3));
}

TEST_P(GraphTest, AnExceptionLeavesTheCapturedAndTheForkedStreamUsable) {
    const Stream origin(device());
    const Stream side(device());
    const Event forked(device(), EventTiming::off);
    const Linear memory(device(), 64);
    const auto capture = [&] {
        (void)Graph::capture(origin, [&] {
            forked.record(origin);
            side.wait(forked);
            fill(memory.view(), std::uint8_t{1}, side);
            throw std::runtime_error("exception of the caller");
        });
    };
    EXPECT_THROW(capture(), std::runtime_error);
    for (const Stream* stream : {&origin, &side}) {
        EXPECT_FALSE(stream->capturing());
        fill(memory.view(), std::uint8_t{7}, *stream);
        stream->synchronize();
    }
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 7));
}

TEST_P(GraphTest, UnsupportedCallsAreRefusedAndTheCaptureContinues) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const Linear other(device(), 4096);
    Linear pooled = Linear::async(64, stream);
    test::Bytes host(4096);
    const Graph graph = Graph::capture(stream, [&] {
        fill(memory.view(), std::uint8_t{1}, stream);
        expect_error([&] { Linear more(device(), 64); }, ErrorCode::capturing, "texton::Linear");
        expect_error(
            [&] {
                Pitched2D more(device(), Format::r8_uint, {4, 4});
            },
            ErrorCode::capturing, "texton::Pitched2D");
        expect_error(
            [&] {
                Pitched3D more(device(), Format::r8_uint, {4, 4, 4});
            },
            ErrorCode::capturing, "texton::Pitched3D");
        expect_error([&] { Pinned more(device(), 64); }, ErrorCode::capturing, "texton::Pinned");
        expect_error([&] { copy(other.view(), memory.view()); }, ErrorCode::capturing, "texton::copy");
        expect_error([&] { copy(host_view(std::span(host)), memory.view()); }, ErrorCode::capturing, "texton::copy");
        expect_error([&] { fill(memory.view(), std::uint8_t{9}); }, ErrorCode::capturing, "texton::fill");
        expect_error([&] { device().synchronize(); }, ErrorCode::capturing, "texton::Device");
        expect_error([&] { stream.synchronize(); }, ErrorCode::capturing, "texton::Stream");
        expect_error([&] { (void)Graph::capture(stream, [] {}); }, ErrorCode::capturing, "texton::Graph");
        if (device().properties().managed_memory) {
            expect_error([&] { Managed more(device(), 64); }, ErrorCode::capturing, "texton::Managed");
        }
        if (device().properties().virtual_memory) {
            const std::size_t unit = Physical::granularity(device());
            expect_error([&] { Physical more(device(), unit); }, ErrorCode::capturing, "texton::Physical");
        }
        expect_error([&] { pooled.free(stream); }, ErrorCode::capturing, "texton::Linear", {"outside of a graph"});
        copy(other.view(), memory.view(), stream);
    });
    EXPECT_EQ(graph.size(), 2u);
    EXPECT_EQ(pooled.bytes(), 64u);
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(other.view()), 1));
    const Linear afterwards(device(), 64);  // after the capture, allocation works again
    EXPECT_EQ(afterwards.bytes(), 64u);
}

TEST_P(GraphTest, MemoryDestroyedDuringACaptureIsFreedAfterwards) {
    const Stream stream(device());
    std::optional<Linear> memory(std::in_place, device(), std::size_t{32} << 20);
    std::optional<Pinned> host(std::in_place, device(), 4096);
    const Linear kept(device(), 64);
    const std::size_t free_before = device().memory().free;
    const Graph graph = Graph::capture(stream, [&] {
        fill(kept.view(), std::uint8_t{1}, stream);
        memory.reset();
        host.reset();
    });
    EXPECT_EQ(graph.size(), 1u);
    EXPECT_GT(device().memory().free, free_before + (std::size_t{16} << 20));
}

TEST_P(GraphTest, PoolMemoryDestroyedDuringACaptureIsFreedAfterwards) {
    const Pool pool(device());
    const Stream stream(device());
    const Linear kept(device(), 64);
    std::optional<Linear> memory(pool.allocate(std::size_t{1} << 20, stream));
    stream.synchronize();
    const Graph graph = Graph::capture(stream, [&] {
        fill(kept.view(), std::uint8_t{1}, stream);
        memory.reset();
        expect_error([&] { (void)pool.usage(); }, ErrorCode::capturing, "texton::Pool", {"records"});
    });
    EXPECT_EQ(graph.size(), 1u);
    stream.synchronize();
    EXPECT_EQ(pool.usage().used, 0u);
}

TEST_P(GraphTest, MemoryOfAGraphThatIsDestroyedInAnotherCaptureIsNoPartOfTheOtherGraph) {
    const Stream stream(device());
    const Linear kept(device(), 64);
    std::optional<Linear> memory;
    const Graph first = Graph::capture(stream, [&] {
        memory = Linear::async(64, stream);
        fill(memory->view(), std::uint8_t{1}, stream);
    });
    first.launch(stream);
    stream.synchronize();
    const Graph second = Graph::capture(stream, [&] {
        expect_error([&] { memory->free(stream); }, ErrorCode::capturing, "texton::Linear", {"cannot be freed in it"});
        fill(kept.view(), std::uint8_t{2}, stream);
        memory.reset();
    });
    EXPECT_EQ(second.size(), 1u);
    for (int launch = 0; launch < 2; ++launch) second.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(kept.view()), 2));
}

TEST_P(GraphTest, SynchronizingTheDeviceDuringACaptureOfAnotherThreadIsRefused) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    const Graph graph = Graph::capture(stream, [&] {
        fill(memory.view(), std::uint8_t{1}, stream);
        std::thread([&] {
            expect_error([&] { device().synchronize(); }, ErrorCode::capturing, "texton::Device", {"another thread"});
        }).join();
    });
    EXPECT_EQ(graph.size(), 1u);
    device().synchronize();
}

TEST_P(GraphTest, OtherStreamsWorkDuringACapture) {
    const Stream stream(device());
    const Stream other(device());
    const Linear memory(device(), 4096);
    const Linear recorded(device(), 4096);
    const Event done(device(), EventTiming::off);
    const Graph graph = Graph::capture(stream, [&] {
        fill(recorded.view(), std::uint8_t{1}, stream);
        EXPECT_FALSE(other.capturing());
        fill(memory.view(), std::uint8_t{8}, other);
        done.record(other);
    });
    done.synchronize();
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 8));
    EXPECT_EQ(graph.size(), 1u);
}

// Without a lock, the driver crashed when it was queried in one thread and the capture ended in another.
TEST_P(GraphTest, ThreadsCanQueryWhetherAStreamIsCapturedWhileItsCapturesBeginAndEnd) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
        threads.emplace_back([&] {
            while (!stop) (void)stream.capturing();
        });
    }
    for (int round = 0; round < 200; ++round) {
        const Graph graph = Graph::capture(stream, [&] {
            fill(memory.view(), std::uint8_t{1}, stream);
            EXPECT_TRUE(stream.capturing());
        });
        EXPECT_FALSE(stream.capturing());
        EXPECT_EQ(graph.size(), 1u);
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
}

TEST_P(GraphTest, WaitingForAnEventRecordedInACaptureIsRefused) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    const Event event(device());
    try {
        (void)Graph::capture(stream, [&] {
            fill(memory.view(), std::uint8_t{1}, stream);
            event.record(stream);
            expect_error([&] { event.synchronize(); }, ErrorCode::capturing, "texton::Event");
        });
    } catch (const Error& error) {  // the call may end the capture, which then throws
        EXPECT_EQ(error.code(), ErrorCode::capturing) << error.what();
    }
    EXPECT_FALSE(stream.capturing());
    event.record(stream);
    event.synchronize();
    EXPECT_TRUE(event.done());
}

TEST_P(GraphTest, LaunchingAnEmptyGraphHasNoEffect) {
    const Stream stream(device());
    const Graph graph = Graph::capture(stream, [] {});
    EXPECT_EQ(graph.size(), 0u);
    graph.launch(stream);
    stream.synchronize();
}

TEST_P(GraphTest, CapturingWithoutAFunctionOrOnTheDefaultStreamIsRefused) {
    const Stream stream(device());
    expect_error([&] { (void)Graph::capture(stream, {}); }, ErrorCode::bad_argument, "texton::Graph");
    expect_error([&] { (void)Graph::capture(Stream::default_of(device()), [] {}); }, ErrorCode::capturing,
                 "texton::Graph", {"default"});
    EXPECT_FALSE(stream.capturing());
}

TEST_P(GraphTest, LaunchingOnAnotherDeviceIsRefused) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    const Graph graph = Graph::capture(stream, [&] { fill(memory.view(), std::uint8_t{1}, stream); });
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        const Stream elsewhere(other);
        expect_error([&] { graph.launch(elsewhere); }, ErrorCode::wrong_device, "texton::Graph");
    }
}

TEST_P(GraphTest, AGraphIsCapturedIntoAnotherGraphOrTheErrorGivesTheReason) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const Linear other(device(), 4096);
    const Graph inner = Graph::capture(stream, [&] { fill(memory.view(), std::uint8_t{6}, stream); });
    std::optional<Graph> outer;
    try {
        outer = Graph::capture(stream, [&] {
            inner.launch(stream);
            copy(other.view(), memory.view(), stream);
        });
    } catch (const Error& error) {  // a driver may not support capturing launches
        test::expect_well_formed(error);
        EXPECT_FALSE(on_cpu()) << error.what();
        EXPECT_FALSE(stream.capturing());
        return;
    }
    EXPECT_EQ(outer->size(), 2u);
    fill(memory.view(), std::uint8_t{0});
    outer->launch(stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(other.view()), 6));
}

TEST_P(GraphTest, DestroyingAGraphDestroysItsHostFunctions) {
    auto held = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = held;
    const Stream stream(device());
    {
        const Graph graph = Graph::capture(stream, [&] { stream.run([held = std::move(held)] { ++*held; }); });
        graph.launch(stream);
        graph.launch(stream);
        stream.synchronize();
        ASSERT_FALSE(watched.expired());
        EXPECT_EQ(*watched.lock(), 2);
    }
    device().synchronize();
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);  // a driver may release it on its own thread
    while (!watched.expired() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_TRUE(watched.expired());
}

}  // namespace
}  // namespace texton
