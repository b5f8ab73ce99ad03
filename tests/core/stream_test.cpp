#include <texton/stream.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>

#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using namespace std::chrono_literals;
using test::all_bytes;
using test::expect_error;
using test::Gate;

class StreamTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, StreamTest, test::every_device(), test::device_label);

// Waits at most 20 seconds for a condition that another thread makes true.
template <class Condition>
bool soon(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::yield();
    }
    return true;
}

TEST_P(StreamTest, HostFunctionsRunInOrder) {
    const Stream stream(device());
    std::vector<int> order;
    for (int i = 0; i < 200; ++i) stream.run([&order, i] { order.push_back(i); });
    stream.synchronize();
    ASSERT_EQ(order.size(), 200u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(StreamTest, HostFunctionsNeverRunOnAThreadThatEnqueuesOrWaits) {
    const Stream stream(device());
    const Stream waiting(device());
    const Event event(device(), EventTiming::off);
    const Linear memory(device(), 64);
    std::atomic<int> here{0};
    std::atomic<int> ran{0};
    const auto count = [&, caller = std::this_thread::get_id()] {
        here += std::this_thread::get_id() == caller ? 1 : 0;
        ++ran;
    };
    const Graph graph = Graph::capture(stream, [&] {
        fill(memory.view(), std::uint8_t{1}, stream);
        stream.run(count);
    });
    constexpr int kTimes = 100;  // which thread does the work varies
    for (int i = 0; i < kTimes; ++i) {
        stream.run(count);
        stream.synchronize();
        fill(memory.view(), std::uint8_t{2}, stream);
        graph.launch(stream);
        stream.synchronize();
        stream.run(count);
        event.record(stream);
        waiting.wait(event);
        fill(memory.view(), std::uint8_t{3}, waiting);
        waiting.synchronize();
        stream.run(count);
        device().synchronize();
    }
    EXPECT_EQ(ran.load(), 4 * kTimes);
    EXPECT_EQ(here.load(), 0);
}

TEST_P(StreamTest, CopiesAndFillsRunInOrderWithHostFunctions) {
    const Linear memory(device(), 4096);
    const Pinned host(device(), 4096);
    const Stream stream(device());
    std::vector<unsigned> seen;
    for (unsigned value = 0; value < 50; ++value) {
        fill(memory.view(), static_cast<std::uint8_t>(value), stream);
        copy(host.view(), memory.view(), stream);
        stream.run([&] { seen.push_back(static_cast<unsigned>(host.data()[4095])); });
    }
    stream.synchronize();
    ASSERT_EQ(seen.size(), 50u);
    for (unsigned value = 0; value < 50; ++value) EXPECT_EQ(seen[value], value);
}

TEST_P(StreamTest, AStreamDoesNotWaitForOtherStreams) {
    const Linear memory(device(), 4096);
    const Pinned host(device(), 4096);
    const Stream held(device());
    const Stream free_running(device());
    const Gate gate;
    gate.close(held);
    fill(memory.view(), std::uint8_t{0x21}, free_running);
    copy(host.view(), memory.view(), free_running);
    free_running.synchronize();
    EXPECT_TRUE(all_bytes(host.read(), 0x21));
    EXPECT_TRUE(free_running.idle());
    EXPECT_FALSE(held.idle());
    gate.open();
    held.synchronize();
    EXPECT_TRUE(held.idle());
}

TEST_P(StreamTest, EnqueuingWorkDoesNotBlockTheHost) {
    const Linear memory(device(), 1 << 20);
    const Pinned host(device(), 1 << 20);
    std::memset(host.data(), 1, host.bytes());
    const Stream stream(device());
    const Gate gate;
    gate.close(stream);
    fill(memory.view(), std::uint8_t{2}, stream);
    copy(host.view(), memory.view(), stream);
    // The work is only enqueued, so the host memory is unchanged.
    EXPECT_TRUE(all_bytes(host.read(), 1));
    EXPECT_FALSE(stream.idle());
    gate.open();
    stream.synchronize();
    EXPECT_TRUE(all_bytes(host.read(), 2));
}

TEST_P(StreamTest, OnlyAWaitForAnEventOrdersTwoStreams) {
    const Linear memory(device(), 4096);
    const Pinned before(device(), 4096);
    const Pinned after(device(), 4096);
    fill(memory.view(), std::uint8_t{1});
    const Stream writer(device());
    const Stream reader(device());
    const Event written(device(), EventTiming::off);
    const Gate gate;
    gate.close(writer);
    fill(memory.view(), std::uint8_t{2}, writer);
    written.record(writer);
    copy(before.view(), memory.view(), reader);
    reader.synchronize();
    EXPECT_TRUE(all_bytes(before.read(), 1));
    EXPECT_FALSE(written.done());
    reader.wait(written);
    copy(after.view(), memory.view(), reader);
    EXPECT_FALSE(reader.idle());
    gate.open();
    reader.synchronize();
    EXPECT_TRUE(written.done());
    EXPECT_TRUE(all_bytes(after.read(), 2));
}

TEST_P(StreamTest, AWaitUsesTheLastRecordBeforeTheCall) {
    const Stream first(device());
    const Stream second(device());
    const Event event(device(), EventTiming::off);
    event.record(first);
    second.wait(event);
    const Gate gate;
    gate.close(first);
    event.record(first);  // recorded after the wait, so the second stream does not wait for it
    second.synchronize();
    EXPECT_TRUE(second.idle());
    EXPECT_FALSE(event.done());
    gate.open();
    event.synchronize();
    EXPECT_TRUE(event.done());
}

TEST_P(StreamTest, WaitsOrderAChainOfStreams) {
    const Linear memory(device(), 1 << 16);
    const Pinned host(device(), 1 << 16);
    std::vector<Stream> streams;
    std::vector<Event> events;
    for (int i = 0; i < 8; ++i) {
        streams.emplace_back(device());
        events.emplace_back(device(), EventTiming::off);
    }
    const Gate gate;
    gate.close(streams[0]);
    for (std::size_t i = 0; i < streams.size(); ++i) {
        if (i > 0) streams[i].wait(events[i - 1]);
        fill(memory.view(), static_cast<std::uint8_t>(i + 1), streams[i]);
        events[i].record(streams[i]);
    }
    copy(host.view(), memory.view(), streams.back());
    gate.open();
    streams.back().synchronize();
    EXPECT_TRUE(all_bytes(host.read(), 8));
    for (const Stream& stream : streams) EXPECT_TRUE(stream.idle());
}

TEST_P(StreamTest, AStreamWaitsForAnEventOfAnotherDevice) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    const Stream there(*other);
    const Stream here(device());
    const Event event(*other, EventTiming::off);
    std::atomic<bool> opened{false};
    std::atomic<bool> opened_before{false};
    const Gate gate;
    gate.close(there);
    there.run([&] { opened = true; });
    event.record(there);
    here.wait(event);
    here.run([&] { opened_before = opened.load(); });
    EXPECT_FALSE(here.idle());
    gate.open();
    here.synchronize();
    EXPECT_TRUE(opened_before);
}

TEST_P(StreamTest, PageableMemoryIsReadDuringTheCall) {
    const Linear memory(device(), 100'000);
    const Stream stream(device());
    test::Bytes host = test::pattern(100'000, 1);
    const test::Bytes sent = host;
    copy(memory.view(), host_view(std::span(host)), stream);
    std::fill(host.begin(), host.end(), std::byte{0});
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(test::download(memory.view()), sent));
}

TEST_P(StreamTest, PageableMemoryIsWrittenBeforeTheCallReturns) {
    const Linear memory(device(), 100'000);
    const Stream stream(device());
    test::Bytes host(100'000);
    fill(memory.view(), std::uint8_t{0x77}, stream);
    copy(host_view(std::span(host)), memory.view(), stream);
    EXPECT_TRUE(all_bytes(host, 0x77));
}

TEST_P(StreamTest, CopiesOfAHandleShareTheStream) {
    const Stream stream(device());
    const Stream copy_of_it = stream;  // NOLINT(performance-unnecessary-copy-initialization): tests the copy
    EXPECT_EQ(stream, copy_of_it);
    EXPECT_NE(stream, Stream(device()));
    EXPECT_EQ(stream.device(), device());
    std::vector<int> order;
    stream.run([&] { order.push_back(1); });
    copy_of_it.run([&] { order.push_back(2); });
    stream.run([&] { order.push_back(3); });
    copy_of_it.synchronize();
    EXPECT_THAT(order, testing::ElementsAre(1, 2, 3));
}

TEST_P(StreamTest, AMovedFromHandleStillRefersToTheStream) {
    Stream stream(device());
    const Stream moved = std::move(stream);
    Event event(device());
    const Event moved_event = std::move(event);
    int ran = 0;
    stream.run([&] { ++ran; });  // NOLINT(bugprone-use-after-move): tests the moved-from state
    event.record(stream);        // NOLINT(bugprone-use-after-move)
    moved_event.synchronize();
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(stream, moved);
}

TEST_P(StreamTest, PendingWorkRunsAfterTheLastHandleIsDestroyed) {
    std::atomic<int> ran{0};
    const Gate gate;
    {
        const Stream stream(device());
        gate.close(stream);
        stream.run([&] { ++ran; });
    }
    EXPECT_EQ(ran.load(), 0);
    gate.open();
    EXPECT_TRUE(soon([&] { return ran.load() == 1; }));
    device().synchronize();
}

TEST_P(StreamTest, TheDefaultStreamWorksLikeAnyOtherStream) {
    const Stream stream = Stream::default_of(device());
    EXPECT_EQ(stream.device(), device());
    const Linear memory(device(), 4096);
    const Pinned host(device(), 4096);
    std::atomic<int> ran{0};
    fill(memory.view(), std::uint8_t{0x42}, stream);
    copy(host.view(), memory.view(), stream);
    stream.run([&] { ++ran; });
    const Event event(device());
    event.record(stream);
    event.synchronize();
    stream.synchronize();
    EXPECT_TRUE(stream.idle());
    EXPECT_FALSE(stream.capturing());
    EXPECT_EQ(ran.load(), 1);
    EXPECT_TRUE(all_bytes(host.read(), 0x42));
}

TEST_P(StreamTest, HandlesOfTheDefaultStreamAreEqual) {
    EXPECT_EQ(Stream::default_of(device()), Stream::default_of(device()));
}

TEST_P(StreamTest, StreamsOfTextonDoNotWaitForTheDefaultStream) {
    const Stream held = Stream::default_of(device());
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const Gate gate;
    gate.close(held);
    fill(memory.view(), std::uint8_t{1}, stream);
    stream.synchronize();
    EXPECT_TRUE(stream.idle());
    EXPECT_FALSE(held.idle());
    gate.open();
    held.synchronize();
}

TEST_P(StreamTest, PrioritiesOutOfRangeAreClamped) {
    for (const int priority : {-1000, -1, 0, 1, 1000}) {
        const Stream stream(device(), priority);
        int ran = 0;
        stream.run([&] { ++ran; });
        stream.synchronize();
        EXPECT_EQ(ran, 1);
    }
}

TEST_P(StreamTest, AnEmptyFunctionIsRefused) {
    const Stream stream(device());
    expect_error([&] { stream.run({}); }, ErrorCode::bad_argument, "texton::Stream", {"empty"});
}

TEST_P(StreamTest, AHostFunctionIsDestroyedAfterItsRun) {
    auto held = std::make_shared<int>(7);
    const std::weak_ptr<int> watched = held;
    const Stream stream(device());
    int seen = 0;
    stream.run([held = std::move(held), &seen] { seen = *held; });
    stream.synchronize();
    EXPECT_EQ(seen, 7);
    EXPECT_TRUE(soon([&] { return watched.expired(); }));
}

TEST_P(StreamTest, WaitingForACapturedStreamIsRefused) {
    const Stream stream(device());
    const Linear memory(device(), 64);
    const Graph graph = Graph::capture(stream, [&] {
        EXPECT_TRUE(stream.capturing());
        expect_error([&] { stream.synchronize(); }, ErrorCode::capturing, "texton::Stream", {"capture"});
        expect_error([&] { (void)stream.idle(); }, ErrorCode::capturing, "texton::Stream", {"capture"});
        fill(memory.view(), std::uint8_t{1}, stream);
    });
    EXPECT_FALSE(stream.capturing());
    EXPECT_EQ(graph.size(), 1u);
}

TEST_P(StreamTest, ManyThreadsUseManyStreamsConcurrently) {
    constexpr int kThreads = 4;
    constexpr int kRounds = 50;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            const Stream stream(device());
            const Linear memory(device(), 4096);
            test::Bytes seen(4096);
            for (int round = 0; round < kRounds; ++round) {
                const auto value = static_cast<std::uint8_t>(t * kRounds + round);
                fill(memory.view(), value, stream);
                copy(host_view(std::span(seen)), memory.view(), stream);
                stream.synchronize();
                if (!all_bytes(seen, value)) ++wrong;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong.load(), 0);
}

class EventTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, EventTest, test::every_device(), test::device_label);

TEST_P(EventTest, AnUnrecordedEventIsDoneAndBlocksNothing) {
    const Event event(device());
    const Stream stream(device());
    EXPECT_EQ(event.device(), device());
    EXPECT_TRUE(event.done());
    event.synchronize();
    stream.wait(event);
    int ran = 0;
    stream.run([&] { ++ran; });
    stream.synchronize();
    EXPECT_EQ(ran, 1);
}

TEST_P(EventTest, AnEventIsDoneAfterThePrecedingWork) {
    const Stream stream(device());
    const Event event(device(), EventTiming::off);
    const Event copy_of_it = event;
    const Gate gate;
    gate.close(stream);
    event.record(stream);
    EXPECT_FALSE(event.done());
    EXPECT_FALSE(copy_of_it.done());
    gate.open();
    event.synchronize();
    EXPECT_TRUE(copy_of_it.done());
}

TEST_P(EventTest, EventsMeasureTheTimeBetweenTwoRecords) {
    const Stream stream(device());
    const Event begin(device());
    const Event end(device());
    begin.record(stream);
    stream.run([] { std::this_thread::sleep_for(30ms); });
    end.record(stream);
    end.synchronize();
    const float elapsed = end.milliseconds_since(begin);
    EXPECT_GE(elapsed, 29.0f);
    EXPECT_LT(elapsed, 5000.0f);
    EXPECT_EQ(begin.milliseconds_since(begin), 0.0f);
}

TEST_P(EventTest, RecordingAgainReplacesThePreviousRecord) {
    const Stream stream(device());
    const Event begin(device());
    const Event end(device());
    end.record(stream);
    begin.record(stream);
    stream.run([] { std::this_thread::sleep_for(10ms); });
    end.record(stream);
    end.synchronize();
    EXPECT_GE(end.milliseconds_since(begin), 9.0f);
}

TEST_P(EventTest, TimesOfUnrecordedPendingOrUntimedEventsAreRefused) {
    const Stream stream(device());
    const Event recorded(device());
    recorded.record(stream);
    recorded.synchronize();
    const Event never(device());
    expect_error([&] { (void)never.milliseconds_since(recorded); }, ErrorCode::bad_argument, "texton::Event",
                 {"never recorded"});
    expect_error([&] { (void)recorded.milliseconds_since(never); }, ErrorCode::bad_argument, "texton::Event",
                 {"never recorded"});
    const Event untimed(device(), EventTiming::off);
    untimed.record(stream);
    untimed.synchronize();
    expect_error([&] { (void)untimed.milliseconds_since(recorded); }, ErrorCode::bad_argument, "texton::Event",
                 {"timing"});
    expect_error([&] { (void)recorded.milliseconds_since(untimed); }, ErrorCode::bad_argument, "texton::Event",
                 {"timing"});
    const Event pending(device());
    const Gate gate;
    gate.close(stream);
    pending.record(stream);
    expect_error([&] { (void)pending.milliseconds_since(recorded); }, ErrorCode::bad_argument, "texton::Event",
                 {"done"});
    gate.open();
    pending.synchronize();
    EXPECT_GE(pending.milliseconds_since(recorded), 0.0f);
}

TEST_P(EventTest, RecordingOnAStreamOfAnotherDeviceIsRefused) {
    const Event event(device());
    for (const Device& other : Device::list()) {
        if (other == device()) continue;
        const Stream stream(other);
        expect_error([&] { event.record(stream); }, ErrorCode::wrong_device, "texton::Event");
    }
    EXPECT_TRUE(event.done());
    const auto devices = test::one_of_each_kind();
    if (devices.size() == 2) {
        const Stream stream(devices[device() == devices[0] ? 1 : 0]);
        expect_error([&] { stream.wait(event); }, ErrorCode::wrong_device, "texton::Stream");
    }
}

}  // namespace
}  // namespace texton
