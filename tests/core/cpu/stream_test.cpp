// Streams of the CPU device. They are real queues, so a missing wait becomes visible.
#include <algorithm>
#include <array>
#include <atomic>
#include <cfenv>
#include <cstring>
#include <new>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "core/parallel.h"
#include "tests/support/cpu_device.h"

namespace texton::detail {
namespace {

using namespace std::chrono_literals;

using CpuStreamTest = CpuDeviceTest;

// --- streams and events ---

TEST_F(CpuStreamTest, StreamsRunConcurrently) {
    const StreamHandle one = stream();
    const StreamHandle other = stream();
    std::promise<void> from_other;
    std::atomic<bool> met{false};
    device().run_on_host(one, [&] { met = from_other.get_future().wait_for(20s) == std::future_status::ready; });
    device().run_on_host(other, [&] { from_other.set_value(); });
    device().synchronize();
    EXPECT_TRUE(met);
}

TEST_F(CpuStreamTest, OnlyAWaitForAnEventOrdersTwoStreams) {
    std::byte* memory = device().allocate(4096);
    std::byte* seen = device().allocate(4096);
    std::memset(memory, 1, 4096);
    Hold hold;
    const StreamHandle writes = stream();
    const StreamHandle reads = stream();
    hold.on(device(), writes);
    fill(memory, 4096, 2, writes);
    const EventHandle written = recorded(writes);
    copy(seen, memory, 4096, reads);
    device().synchronize_stream(reads);
    EXPECT_EQ(seen[4095], std::byte{1});
    EXPECT_FALSE(device().event_done(written));
    EXPECT_FALSE(device().stream_idle(writes));

    device().stream_wait(reads, written);
    copy(seen, memory, 4096, reads);
    EXPECT_FALSE(device().stream_idle(reads));
    hold.open();
    device().synchronize_stream(reads);
    EXPECT_EQ(seen[4095], std::byte{2});
    EXPECT_TRUE(device().event_done(written));
    device().free(seen);
    device().free(memory);
}

TEST_F(CpuStreamTest, AWaitUsesTheLastRecordBeforeTheCall) {
    Hold hold;
    const StreamHandle quick = stream();
    const StreamHandle held = stream();
    const StreamHandle waits = stream();
    const EventHandle mark = recorded(quick);
    device().stream_wait(waits, mark);
    hold.on(device(), held);
    device().record_event(mark, held);
    device().synchronize_stream(waits);  // does not wait for the second record
    EXPECT_FALSE(device().event_done(mark));
    hold.open();
    device().synchronize_event(mark);
    EXPECT_TRUE(device().event_done(mark));
}

TEST_F(CpuStreamTest, AnUnrecordedEventIsDone) {
    const EventHandle mark = event();
    EXPECT_TRUE(device().event_done(mark));
    device().synchronize_event(mark);
    device().stream_wait(stream(), mark);
    refused(ErrorCode::bad_argument, [&] { device().elapsed_milliseconds(mark, mark); });
}

TEST_F(CpuStreamTest, EventTimesAreTakenWhenTheStreamReachesTheEvents) {
    const StreamHandle on = stream();
    const EventHandle begin = recorded(on);
    device().run_on_host(on, [] { std::this_thread::sleep_for(20ms); });
    const EventHandle end = recorded(on);
    device().synchronize_event(end);
    EXPECT_GE(device().elapsed_milliseconds(begin, end), 20.0F);
    EXPECT_LE(device().elapsed_milliseconds(end, begin), -20.0F);
}

TEST_F(CpuStreamTest, WorkOfADestroyedStreamStillRuns) {
    std::promise<void> opened;
    std::atomic<int> ran{0};
    const StreamHandle ended = device().create_stream(0);
    device().run_on_host(ended, [&, future = opened.get_future().share()] { future.wait_for(20s); });
    for (int i = 0; i < 10; ++i) device().run_on_host(ended, [&] { ++ran; });
    const EventHandle last = recorded(ended);
    device().destroy_stream(ended);
    EXPECT_EQ(ran, 0);
    opened.set_value();
    device().synchronize_event(last);
    EXPECT_EQ(ran, 10);
}

TEST_F(CpuStreamTest, TheDeviceWaitsForADestroyedStream) {
    std::atomic<bool> ran{false};
    const StreamHandle ended = device().create_stream(0);
    device().run_on_host(ended, [&] {
        std::this_thread::sleep_for(30ms);
        ran = true;
    });
    device().destroy_stream(ended);
    device().synchronize();
    EXPECT_TRUE(ran);
}

TEST_F(CpuStreamTest, StreamsOfManyThreadsKeepTheirOrder) {
    constexpr int kThreads = 4;
    constexpr int kOperations = 500;
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    const StreamHandle shared = stream();
    std::atomic<int> on_shared{0};
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            const StreamHandle own_stream = device().create_stream(0);
            const EventHandle mark = device().create_event(EventTiming::off);
            auto count = std::make_shared<int>(0);
            for (int i = 0; i < kOperations; ++i) {
                device().run_on_host(own_stream, [&wrong, count, i] { wrong += (*count)++ == i ? 0 : 1; });
                device().run_on_host(shared, [&] { ++on_shared; });
                if (i % 10 != 0) continue;
                device().record_event(mark, own_stream);
                device().stream_wait(shared, mark);
                std::byte* memory = device().allocate_async(1000, nullptr, own_stream);
                device().free_async(memory, own_stream);
            }
            device().synchronize_stream(own_stream);
            wrong += *count == kOperations ? 0 : 1;
            device().destroy_event(mark);
            device().destroy_stream(own_stream);
        });
    }
    for (std::thread& thread : threads) thread.join();
    device().synchronize();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(on_shared, kThreads * kOperations);
}

// --- which thread does the work --------------------------------------------------------------------------------------

// A waiting thread executes tasks that the stream's own thread has not begun. Which thread executes a task varies, so
// the tests repeat.
constexpr int kTimes = 200;

TEST_F(CpuStreamTest, WaitingForAnEventIgnoresLaterWork) {
    const StreamHandle on = stream();
    for (int i = 0; i < kTimes; ++i) {
        Hold hold;
        bool ran = false;
        device().run_on_host(on, [&] { ran = true; });
        const EventHandle here = recorded(on);
        hold.on(device(), on);
        device().synchronize_event(here);
        EXPECT_TRUE(ran);
        EXPECT_FALSE(device().stream_idle(on));
        hold.open();
        device().synchronize_stream(on);
    }
}

TEST_F(CpuStreamTest, ThreadsWaitingForOneStreamRunItsWorkInOrderAndOnce) {
    constexpr int kThreads = 4;
    const StreamHandle shared = stream();
    std::atomic<int> inside{0};
    std::atomic<int> wrong{0};
    int count = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < kTimes; ++i) {
                std::atomic<bool> ran{false};
                device().run_on_host(shared, [&] {
                    wrong += inside++ == 0 ? 0 : 1;
                    ++count;
                    ran = true;
                    --inside;
                });
                device().synchronize_stream(shared);
                wrong += ran ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(count, kThreads * kTimes);
}

TEST_F(CpuStreamTest, AHostFunctionCanWaitForItsOwnStreamAndOtherStreams) {
    const StreamHandle outer = stream();
    const StreamHandle inner = stream();
    for (int i = 0; i < kTimes; ++i) {
        bool inner_ran = false;
        bool seen = false;
        device().run_on_host(outer, [&] {
            device().run_on_host(inner, [&] {
                device().synchronize_stream(inner);
                inner_ran = true;
            });
            device().synchronize_stream(inner);
            device().synchronize_stream(outer);
            seen = inner_ran;
        });
        device().synchronize_stream(outer);
        EXPECT_TRUE(seen);
    }
}

TEST_F(CpuStreamTest, WorkUsesDefaultFloatModesAndWaitingThreadsKeepTheirOwn) {
    constexpr std::size_t kPieces = 256;
    const auto quotient = [] {
        const volatile float five = 5;
        const volatile float three = 3;
        return five / three;
    };
    const float nearest = quotient();
    std::fesetround(FE_UPWARD);  // threads created here and tasks inherit this mode
    const float upward = quotient();
    const StreamHandle on = stream();
    std::atomic<std::size_t> wrong{0};
    for (int i = 0; i < kTimes; ++i) {
        device().run_on_host(
            on, [&] { run_in_parallel(kPieces, [&](std::size_t) { wrong += quotient() == nearest ? 0 : 1; }); });
        device().synchronize_stream(on);
    }
    const int mode = std::fegetround();
    std::fesetround(FE_TONEAREST);
    EXPECT_NE(upward, nearest);
    EXPECT_EQ(wrong, 0U);
    EXPECT_EQ(mode, FE_UPWARD);
}

TEST_F(CpuStreamTest, TheWorkOfADeviceUsesItsOwnThreads) {
    for (const int threads : {1, 3}) {
        const auto other = make_cpu_device(6, kDeviceBytes, threads);
        const std::array<StreamHandle, 2> streams{other->create_stream(0), other->create_stream(0)};
        std::atomic<int> working{0};
        std::atomic<int> at_once{0};
        std::atomic<int> ran{0};
        std::array<std::size_t, 2> cores{};
        for (std::size_t i = 0; i < streams.size(); ++i) {
            other->run_on_host(streams[i], [&, i] {
                cores[i] = cpu_cores();
                run_in_parallel(32, [&](std::size_t) {
                    const int now = ++working;
                    for (int seen = at_once; seen < now && !at_once.compare_exchange_weak(seen, now);) {
                    }
                    std::this_thread::sleep_for(1ms);
                    --working;
                    ++ran;
                });
            });
        }
        other->synchronize();
        EXPECT_THAT(cores, testing::Each(threads));
        EXPECT_EQ(ran, 64);
        EXPECT_LE(at_once, threads) << "the streams of a device share its threads";
        for (const StreamHandle each : streams) other->destroy_stream(each);
    }
    EXPECT_EQ(cpu_cores(), static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()));
}

TEST_F(CpuStreamTest, ADeviceWithOneThreadRunsStreamsThatWaitForEachOther) {
    const auto other = make_cpu_device(6, kDeviceBytes, 1);
    const StreamHandle first = other->create_stream(0);
    const StreamHandle second = other->create_stream(0);
    const EventHandle mark = other->create_event(EventTiming::off);
    int order = 0;
    std::array<int, 2> seen{};
    for (int i = 0; i < kTimes; ++i) {
        other->run_on_host(second, [&] { run_in_parallel(4, [&](std::size_t) { seen[0] = ++order; }); });
        other->record_event(mark, second);
        other->stream_wait(first, mark);
        other->run_on_host(first, [&] { run_in_parallel(4, [&](std::size_t) { seen[1] = ++order; }); });
        other->synchronize_stream(first);
        EXPECT_EQ(seen[1], seen[0] + 4);
    }
    other->destroy_event(mark);
    for (const StreamHandle each : {first, second}) other->destroy_stream(each);
}

TEST_F(CpuStreamTest, AWaitingTaskDoesNotRunOtherTasks) {
    constexpr std::size_t kBytes = 8 * kMega;  // large enough that all cores take part in the copy
    std::byte* from = device().allocate(kBytes);
    std::byte* to = device().allocate(kBytes);
    const StreamHandle on = stream();
    std::atomic<int> entered_again{0};
    tbb::parallel_for(0, 64, [&](int) {
        thread_local bool inside = false;
        if (std::exchange(inside, true)) ++entered_again;
        copy(to, from, kBytes, on);
        device().synchronize_stream(on);
        inside = false;
    });
    EXPECT_EQ(entered_again, 0);
    device().free(to);
    device().free(from);
}

// --- failures --------------------------------------------------------------------------------------------------------

TEST_F(CpuStreamTest, WorkWithoutMemoryFailsTheStreamOnce) {
    const StreamHandle on = stream();
    int later = 0;
    const auto fail = [&](StreamHandle handle) {
        device().run_on_host(handle, [] { throw std::bad_alloc(); });
        device().run_on_host(handle, [&] { ++later; });
    };
    const auto expect_failure = [&](auto&& wait) {
        EXPECT_THAT(refused(ErrorCode::out_of_memory, wait), testing::HasSubstr("earlier work"));
    };
    fail(on);
    expect_failure([&] { device().synchronize_stream(on); });
    EXPECT_EQ(later, 1);  // the work behind it has run
    device().synchronize_stream(on);
    EXPECT_TRUE(device().stream_idle(on));

    fail(on);
    expect_failure([&] { device().synchronize(); });
    device().synchronize();

    fail(on);
    const EventHandle behind = recorded(on);
    const auto idle = [&] {
        while (!device().stream_idle(on)) std::this_thread::yield();
    };
    const auto done = [&] {
        while (!device().event_done(behind)) std::this_thread::yield();
    };
    for (int i = 0; i < 2; ++i) {  // only synchronizing the stream or the device ends the failure
        expect_failure([&] { device().synchronize_event(behind); });
        expect_failure(idle);
        expect_failure(done);
    }
    EXPECT_EQ(later, 3);
    expect_failure([&] { device().synchronize_stream(on); });
    device().synchronize_event(behind);
    idle();
    done();
}

TEST_F(CpuStreamTest, CallsThatWaitForFailedWorkThrow) {
    std::byte* memory = device().allocate(4096);
    std::vector<std::byte> host(4096, std::byte{3});
    const MemoryLocation here = at(memory, 4096);
    const MemoryLocation there = at(host.data(), 4096, MemoryKind::host);
    const auto fail = [](Backend& on, StreamHandle handle) {
        on.run_on_host(handle, [] { throw std::runtime_error("an exception of a test"); });
    };
    const auto expect_failure = [](auto&& wait) {
        EXPECT_THAT(refused(ErrorCode::device_failure, wait), testing::HasSubstr("an exception of a test"));
    };
    const StreamHandle on = stream();
    const CopyRequest request{&here, &there, {4096}};
    fail(device(), on);
    expect_failure([&] { device().copy(request, &on); });
    expect_failure([&] { device().copy_batch({&request, 1}, on); });
    expect_failure([&] { device().fill({&there, {4096}, {}, 1}, &on); });
    expect_failure([&] { device().synchronize_stream(on); });
    device().copy(request, &on);
    // A call without a stream does not run after failed work of the default stream.
    std::memset(memory, 9, 4096);
    fail(device(), nullptr);
    expect_failure([&] { device().fill({&here, {4096}, {}, 1}, nullptr); });
    expect_failure([&] { device().copy(request, nullptr); });
    EXPECT_EQ(memory[0], std::byte{9});
    expect_failure([&] { device().synchronize(); });
    device().fill({&here, {4096}, {}, 1}, nullptr);
    EXPECT_EQ(memory[0], std::byte{0});
    device().free(memory);
}

TEST_F(CpuStreamTest, AFailurePassesToStreamsThatWaitForIt) {
    const StreamHandle fails = stream();
    const StreamHandle waits = stream();
    const StreamHandle unrelated = stream();
    for (const bool pending : {true, false}) {
        Hold hold;
        if (pending) hold.on(device(), fails);
        const EventHandle before = recorded(fails);
        device().run_on_host(fails, [] { throw 1; });
        const EventHandle behind = recorded(fails);
        if (!pending) {
            refused(ErrorCode::device_failure, [&] {
                while (!device().event_done(behind)) std::this_thread::yield();
            });
        }
        device().stream_wait(waits, behind);
        device().stream_wait(unrelated, before);
        hold.open();
        refused(ErrorCode::device_failure, [&] { device().synchronize_stream(waits); });
        device().synchronize_stream(waits);
        device().synchronize_stream(unrelated);
        device().synchronize_event(before);
        refused(ErrorCode::device_failure, [&] { device().synchronize_stream(fails); });
    }
}

TEST_F(CpuStreamTest, AFailureInAGraphFailsTheStreamThatLaunchesIt) {
    const StreamHandle on = stream();
    device().begin_capture(on);
    device().run_on_host(on, [] { throw std::bad_alloc(); });
    const GraphHandle graph = device().end_capture(on);
    for (int i = 0; i < 2; ++i) {
        device().launch_graph(graph, on);
        refused(ErrorCode::out_of_memory, [&] { device().synchronize_stream(on); });
    }
    device().destroy_graph(graph);
}

TEST_F(CpuStreamTest, MemoryThatWorkReleasesIsFreedOnceTheDeviceIsIdle) {
    const std::size_t before = device().memory_info().free;
    const StreamHandle on = stream();
    const StreamHandle held = stream();
    Hold hold;
    hold.on(device(), held);
    for (int i = 0; i < 20; ++i) {
        device().run_on_host(on, [this, memory = device().allocate(kMega)] { device().free(memory); });
    }
    device().synchronize_stream(on);
    EXPECT_EQ(device().memory_info().free, before - 20 * kMega);  // work of the other stream may use it
    hold.open();
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (device().memory_info().free != before && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    EXPECT_EQ(device().memory_info().free, before);
}

TEST_F(CpuStreamTest, TheDefaultStreamCannotJoinACapture) {
    const StreamHandle origin = stream();
    device().begin_capture(origin);
    const EventHandle mark = recorded(origin);
    refused(ErrorCode::capturing, [&] { device().stream_wait(nullptr, mark); });
    device().destroy_graph(device().end_capture(origin));
    EXPECT_FALSE(device().stream_capturing(nullptr));
}

// --- copy and fill ---

TEST_F(CpuStreamTest, PageableCopiesBlockAndPinnedCopiesDoNot) {
    std::byte* memory = device().allocate(4096);
    std::byte* pinned = device().allocate_host(4096, {});
    std::vector<std::byte> pageable(4096, std::byte{9});
    const StreamHandle on = stream();
    copy(memory, pageable.data(), 4096, on, MemoryKind::host);
    EXPECT_EQ(memory[4095], std::byte{9});
    Hold hold;
    hold.on(device(), on);
    std::memset(pinned, 5, 4096);
    copy(memory, pinned, 4096, on, MemoryKind::pinned);
    EXPECT_FALSE(device().stream_idle(on));
    hold.open();
    device().synchronize_stream(on);
    EXPECT_EQ(memory[4095], std::byte{5});
    device().free_host(pinned);
    device().free(memory);
}

TEST_F(CpuStreamTest, CopiesWithoutAStreamDoNotWaitForOtherStreams) {
    std::byte* memory = device().allocate(4096);
    std::vector<std::byte> host(4096, std::byte{3});
    Hold hold;
    hold.on(device(), stream());
    const MemoryLocation to = at(memory, 4096);
    const MemoryLocation from = at(host.data(), 4096, MemoryKind::host);
    device().copy({&to, &from, {4096}}, nullptr);
    EXPECT_EQ(memory[4095], std::byte{3});
    hold.open();
    device().free(memory);
}

// Each shape is larger than the size from which copies are divided among cores. The shapes differ in whether rows and
// slices are contiguous.
TEST_F(CpuStreamTest, LargeBoxesAreCopiedCompletelyWithoutChangingPadding) {
    struct Shape {
        std::size_t row, pitch, rows, slice_rows, slices;
    };
    for (const Shape& shape :
         {Shape{3 * kMega + 17, 3 * kMega + 17, 1, 1, 1}, Shape{1000, 1000, 1500, 1500, 2},
          Shape{1001, 1024, 1500, 1501, 2}, Shape{1024, 1024, 700, 701, 3}, Shape{7, 64, 99991, 99991, 2}}) {
        const std::size_t slice_pitch = shape.pitch * shape.slice_rows;
        std::vector<std::byte> source(slice_pitch * shape.slices);
        std::vector<std::byte> target(source.size(), std::byte{0xEE});
        for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 2654435761U >> 13);
        MemoryLocation to = at(target.data(), shape.pitch, MemoryKind::host);
        MemoryLocation from = at(source.data(), shape.pitch, MemoryKind::host);
        to.slice_pitch = from.slice_pitch = slice_pitch;
        device().copy({&to, &from, {shape.row, shape.rows, shape.slices}}, nullptr);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < source.size(); ++i) {
            const bool inside = i % shape.pitch < shape.row && i % slice_pitch / shape.pitch < shape.rows;
            wrong += target[i] == (inside ? source[i] : std::byte{0xEE}) ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0U) << shape.row << " of " << shape.pitch;
    }
}

TEST_F(CpuStreamTest, FillsRepeatTheirPatternWithoutChangingPadding) {
    const std::size_t pitch = 2048, rows = 1200, row = 2000;
    std::array<std::byte, 16> pattern{};
    for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(i + 1);
    for (const int bytes : {1, 2, 4, 8, 16}) {
        std::vector<std::byte> target(pitch * rows, std::byte{0xEE});
        const MemoryLocation to = at(target.data(), pitch, MemoryKind::host);
        device().fill({&to, {row, rows}, pattern, bytes}, nullptr);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < target.size(); ++i) {
            const std::size_t x = i % pitch;
            const auto expected =
                x < row ? static_cast<std::byte>(x % static_cast<std::size_t>(bytes) + 1) : std::byte{0xEE};
            wrong += target[i] == expected ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0U) << bytes;
    }
}

}  // namespace
}  // namespace texton::detail
