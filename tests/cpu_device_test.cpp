// What is particular to the CPU device, asked through the seam. Each test makes a device of its own with little memory.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <numeric>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include <texton/error.h>

#include "core/backend.h"
#include "core/cpu_symbols.h"

namespace texton::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr std::size_t kDeviceBytes = 512 * kMega;

/// Expects an Error of the code; returns its problem.
template <class Action>
std::string refused(ErrorCode code, Action&& action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(name(error.code()), name(code)) << error.what();
        EXPECT_FALSE(error.remedy().empty()) << error.what();
        return error.problem();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

Place at(std::byte* address, std::size_t pitch, MemoryKind kind = MemoryKind::linear) {
    Place place;
    place.address = address;
    place.pitch = pitch;
    place.slice_pitch = pitch;
    place.kind = kind;
    return place;
}

/// Holds streams until it is opened, or goes.
class Hold {
public:
    ~Hold() { open(); }
    void on(Backend& device, StreamHandle stream) {
        device.run_on_host(stream, [opened = opened_] { opened.wait_for(20s); });
    }
    void open() {
        if (std::exchange(closed_, false)) promise_.set_value();
    }

private:
    std::promise<void> promise_;
    std::shared_future<void> opened_ = promise_.get_future().share();
    bool closed_ = true;
};

class CpuDeviceTest : public testing::Test {
protected:
    ~CpuDeviceTest() override {
        for (StreamHandle stream : streams_) device_->destroy_stream(stream);
        for (EventHandle event : events_) device_->destroy_event(event);
    }
    Backend& device() { return *device_; }
    StreamHandle stream() { return streams_.emplace_back(device_->create_stream(0)); }
    EventHandle event() { return events_.emplace_back(device_->create_event(EventTiming::on)); }
    EventHandle recorded(StreamHandle stream) {
        const EventHandle made = event();
        device_->record_event(made, stream);
        return made;
    }
    void fill(std::byte* address, std::size_t bytes, unsigned value, StreamHandle stream) {
        const Place place = at(address, bytes);
        device_->fill({&place, {bytes}, value, 1}, &stream);
    }
    void copy(std::byte* to, std::byte* from, std::size_t bytes, StreamHandle stream,
              MemoryKind from_kind = MemoryKind::linear) {
        const Place destination = at(to, bytes);
        const Place source = at(from, bytes, from_kind);
        device_->copy({&destination, &source, {bytes}}, &stream);
    }
    PoolHandle pool(std::size_t max_bytes = 0, HandleType handle = HandleType::none) {
        return device_->create_pool({.location = own(), .handle = handle, .max_bytes = max_bytes});
    }
    std::uint64_t get(PoolHandle pool, PoolAttribute attribute) { return device_->pool_attribute(pool, attribute); }
    Location own() { return {LocationKind::device, device_->properties().index, DeviceKind::cpu}; }
    void reuse(PoolHandle pool, bool follow, bool opportunistic, bool internal) {
        device_->set_pool_attribute(pool, PoolAttribute::reuse_follow_event_dependencies, follow);
        device_->set_pool_attribute(pool, PoolAttribute::reuse_opportunistic, opportunistic);
        device_->set_pool_attribute(pool, PoolAttribute::reuse_internal_dependencies, internal);
    }

private:
    std::unique_ptr<Backend> device_ = make_cpu_device(7, kDeviceBytes);
    std::vector<StreamHandle> streams_;
    std::vector<EventHandle> events_;
};

// --- memory ---

TEST_F(CpuDeviceTest, FreeMemoryIsTheClaimedMemoryLessWhatIsHeld) {
    EXPECT_EQ(device().memory_info().total, kDeviceBytes);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
    std::byte* memory = device().allocate(kMega + 1);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes - kMega - 512);
    device().free(memory);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, MoreThanIsFreeIsRefusedWithBothNumbersAndNothingIsLost) {
    std::byte* memory = device().allocate(kDeviceBytes - kMega);
    const std::string problem = refused(ErrorCode::out_of_memory, [&] { device().allocate(kMega + 1); });
    EXPECT_EQ(problem, "1048577 bytes were asked for, but 1048576 are free");
    refused(ErrorCode::out_of_memory, [&] { device().allocate(SIZE_MAX); });
    refused(ErrorCode::out_of_memory, [&] { device().allocate_pitched_3d(SIZE_MAX / 4, 3, 3); });
    refused(ErrorCode::out_of_memory, [&] { device().allocate_managed(2 * kMega, Attach::global); });
    refused(ErrorCode::out_of_memory, [&] { device().create_physical(2 * kMega, {.location = own()}); });
    EXPECT_EQ(device().memory_info().free, kMega);
    device().free(memory);
}

TEST_F(CpuDeviceTest, TheMachinesMemoryIsTheDefaultAndMoreIsNeverGiven) {
    const auto whole = make_cpu_device(6, 0);
    const MemoryInfo info = whole->memory_info();
    EXPECT_GT(info.free, 0U);
    EXPECT_LE(info.free, info.total);
    refused(ErrorCode::out_of_memory, [&] { whole->allocate(info.total + 1); });
    refused(ErrorCode::out_of_memory, [&] { whole->allocate_host(SIZE_MAX / 2, {}); });
    const auto boastful = make_cpu_device(5, std::size_t{1} << 50);
    refused(ErrorCode::out_of_memory, [&] { boastful->allocate(std::size_t{1} << 49); });
}

TEST_F(CpuDeviceTest, AddressesAndPitchesAreMultiplesOf512) {
    for (const std::size_t bytes : {1UL, 513UL, 3 * kMega}) {
        std::byte* memory = device().allocate(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 512, 0U);
        device().free(memory);
    }
    const PitchedMemory rows = device().allocate_pitched_2d(513, 3);
    EXPECT_EQ(rows.pitch, 1024U);
    std::memset(rows.address, 1, 3 * 1024);
    device().free(rows.address);
    const PitchedMemory slices = device().allocate_pitched_3d(512, 3, 5);
    EXPECT_EQ(slices.pitch, 512U);
    std::memset(slices.address, 1, 3 * 5 * 512);
    device().free(slices.address);
}

TEST_F(CpuDeviceTest, FreeWaitsForWorkOfAllStreams) {
    std::byte* memory = device().allocate(kMega);
    Hold hold;
    const StreamHandle busy = stream();
    hold.on(device(), busy);
    fill(memory, kMega, 1, busy);
    std::atomic<bool> freed{false};
    std::thread frees([&] {
        device().free(memory);
        freed = true;
    });
    std::this_thread::sleep_for(30ms);
    EXPECT_FALSE(freed);
    hold.open();
    frees.join();
    EXPECT_TRUE(freed);
}

TEST_F(CpuDeviceTest, FreeWaitsForDevicesThatWereGivenAccess) {
    const auto peer = make_cpu_device(6, kDeviceBytes);
    ASSERT_TRUE(peer->can_access_peer(device()));
    EXPECT_FALSE(peer->can_access_peer(*peer));
    peer->set_peer_access(device(), true);
    peer->set_peer_access(device(), true);
    std::byte* memory = device().allocate(kMega);
    Hold hold;
    hold.on(*peer, nullptr);
    std::atomic<bool> freed{false};
    std::thread frees([&] {
        device().free(memory);
        freed = true;
    });
    std::this_thread::sleep_for(30ms);
    EXPECT_FALSE(freed);
    hold.open();
    frees.join();
}

TEST_F(CpuDeviceTest, AStreamsOwnThreadMayFreeAndIsNotWaitedForByItself) {
    std::byte* memory = device().allocate(kMega);
    device().run_on_host(stream(), [&] { device().free(memory); });
    for (int i = 0; i < 1000 && device().memory_info().free != kDeviceBytes; ++i) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, KnowsItsOwnMemoryAlone) {
    const auto other = make_cpu_device(6, kDeviceBytes);
    std::byte* memory = device().allocate(100);
    std::byte* managed = device().allocate_managed(100, Attach::global);
    std::byte* pooled = device().allocate_async(100, nullptr, nullptr);
    for (std::byte* address : {memory, managed, pooled}) {
        EXPECT_TRUE(device().knows(address));
        EXPECT_TRUE(device().knows(address + 99));
        EXPECT_FALSE(other->knows(address));
    }
    int local = 0;
    EXPECT_FALSE(device().knows(&local));
    EXPECT_FALSE(device().knows(nullptr));
    device().free_async(pooled, nullptr);
    EXPECT_FALSE(device().knows(pooled));
    device().free(managed);
    device().free(memory);
    EXPECT_FALSE(device().knows(memory));
}

TEST_F(CpuDeviceTest, DevicesHaveDistinctStableUuids) {
    const auto other = make_cpu_device(6, kMega);
    const auto same = make_cpu_device(7, kMega);
    EXPECT_NE(device().properties().uuid, other->properties().uuid);
    EXPECT_EQ(device().properties().uuid, same->properties().uuid);
    EXPECT_TRUE(device().properties().name.starts_with("CPU device 7 (")) << device().properties().name;
}

// --- host memory ---

TEST_F(CpuDeviceTest, PinnedMemoryIsCountedApartAndKeepsItsOptions) {
    std::byte* pinned = device().allocate_host(kMega, {.write_combined = true});
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pinned) % 4096, 0U);
    EXPECT_EQ(device().host_options(pinned), (PinnedOptions{.mapped = true, .write_combined = true}));
    EXPECT_EQ(device().host_device_pointer(pinned + 5), pinned + 5);
    refused(ErrorCode::not_registered, [&] { device().host_device_pointer(pinned + kMega); });
    device().free_host(pinned);
    refused(ErrorCode::not_registered, [&] { device().host_device_pointer(pinned); });
}

TEST_F(CpuDeviceTest, RegisteringAByteTwiceIsRefused) {
    std::vector<std::byte> memory(300);
    device().register_host(memory.data() + 100, 100, {.read_only = true});
    EXPECT_EQ(device().host_device_pointer(memory.data() + 199), memory.data() + 199);
    for (const std::size_t offset : {1UL, 100UL, 199UL}) {
        refused(ErrorCode::bad_argument, [&] { device().register_host(memory.data() + offset, 100, {}); });
    }
    device().register_host(memory.data(), 100, {});
    device().register_host(memory.data() + 200, 100, {});
    for (const std::size_t offset : {0UL, 100UL, 200UL}) device().unregister_host(memory.data() + offset);
    refused(ErrorCode::not_registered, [&] { device().host_device_pointer(memory.data() + 150); });
    refused(ErrorCode::unsupported, [&] { device().register_host(memory.data(), 1, {.io_memory = true}); });
}

// --- streams and events ---

TEST_F(CpuDeviceTest, StreamsRunBesideEachOther) {
    const StreamHandle one = stream();
    const StreamHandle other = stream();
    std::promise<void> from_other;
    std::atomic<bool> met{false};
    device().run_on_host(one, [&] { met = from_other.get_future().wait_for(20s) == std::future_status::ready; });
    device().run_on_host(other, [&] { from_other.set_value(); });
    device().synchronize();
    EXPECT_TRUE(met);
}

TEST_F(CpuDeviceTest, AMissingWaitIsSeenAndAnEventMendsIt) {
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

TEST_F(CpuDeviceTest, AWaitHoldsForTheRecordOfItsTime) {
    Hold hold;
    const StreamHandle quick = stream();
    const StreamHandle held = stream();
    const StreamHandle waits = stream();
    const EventHandle mark = recorded(quick);
    device().stream_wait(waits, mark);
    hold.on(device(), held);
    device().record_event(mark, held);
    device().synchronize_stream(waits);  // not held by the second record
    EXPECT_FALSE(device().event_done(mark));
    hold.open();
    device().synchronize_event(mark);
    EXPECT_TRUE(device().event_done(mark));
}

TEST_F(CpuDeviceTest, AnEventThatWasNeverRecordedIsDone) {
    const EventHandle mark = event();
    EXPECT_TRUE(device().event_done(mark));
    device().synchronize_event(mark);
    device().stream_wait(stream(), mark);
    refused(ErrorCode::bad_argument, [&] { device().elapsed_milliseconds(mark, mark); });
}

TEST_F(CpuDeviceTest, EventsMeasureWhenTheStreamReachesThem) {
    const StreamHandle on = stream();
    const EventHandle begin = recorded(on);
    device().run_on_host(on, [] { std::this_thread::sleep_for(20ms); });
    const EventHandle end = recorded(on);
    device().synchronize_event(end);
    EXPECT_GE(device().elapsed_milliseconds(begin, end), 20.0F);
    EXPECT_LE(device().elapsed_milliseconds(end, begin), -20.0F);
}

TEST_F(CpuDeviceTest, WorkOfADestroyedStreamStillRuns) {
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

TEST_F(CpuDeviceTest, TheDeviceWaitsForADestroyedStream) {
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

TEST_F(CpuDeviceTest, ManyThreadsKeepTheOrderOfTheirStreams) {
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

// --- copy and fill ---

TEST_F(CpuDeviceTest, APageableCopyIsDoneAtReturnAndAPinnedOneIsNot) {
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

TEST_F(CpuDeviceTest, CopiesWithoutAStreamWaitForNoStream) {
    std::byte* memory = device().allocate(4096);
    std::vector<std::byte> host(4096, std::byte{3});
    Hold hold;
    hold.on(device(), nullptr);
    const Place to = at(memory, 4096);
    const Place from = at(host.data(), 4096, MemoryKind::host);
    device().copy({&to, &from, {4096}}, nullptr);
    EXPECT_EQ(memory[4095], std::byte{3});
    hold.open();
    device().free(memory);
}

// Each of these is larger than what is split over cores, and has its own way of touching or not.
TEST_F(CpuDeviceTest, LargeBoxesArriveWholeAndTouchNoPadding) {
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
        Place to = at(target.data(), shape.pitch, MemoryKind::host);
        Place from = at(source.data(), shape.pitch, MemoryKind::host);
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

TEST_F(CpuDeviceTest, FillsRepeatTheirPatternAndTouchNoPadding) {
    const std::size_t pitch = 2048, rows = 1200, row = 2000;
    for (const int bytes : {1, 2, 4}) {
        std::vector<std::byte> target(pitch * rows, std::byte{0xEE});
        const Place to = at(target.data(), pitch, MemoryKind::host);
        const std::uint32_t pattern = 0x04030201;
        device().fill({&to, {row, rows}, bytes == 4 ? pattern : pattern & ((1U << (8 * bytes)) - 1), bytes}, nullptr);
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

// --- graphs ---

TEST_F(CpuDeviceTest, AGraphRunsWhatItsStreamsRecordedEachTimeItIsLaunched) {
    const StreamHandle origin = stream();
    const StreamHandle side = stream();
    std::vector<int> order;
    device().begin_capture(origin);
    EXPECT_TRUE(device().stream_capturing(origin));
    device().run_on_host(origin, [&] { order.push_back(1); });
    device().stream_wait(side, recorded(origin));
    EXPECT_TRUE(device().stream_capturing(side));
    device().run_on_host(side, [&] { order.push_back(2); });
    device().stream_wait(origin, recorded(side));
    device().run_on_host(origin, [&] { order.push_back(3); });
    const GraphHandle graph = device().end_capture(origin);
    EXPECT_FALSE(device().stream_capturing(origin));
    EXPECT_FALSE(device().stream_capturing(side));
    EXPECT_TRUE(order.empty());
    EXPECT_EQ(device().graph_size(graph), 3U);
    device().launch_graph(graph, side);
    device().launch_graph(graph, side);
    device().destroy_graph(graph);
    device().synchronize_stream(side);
    EXPECT_EQ(order, (std::vector{1, 2, 3, 1, 2, 3}));
}

TEST_F(CpuDeviceTest, AStreamThatIsNotJoinedBackEndsTheCaptureWithAnError) {
    const StreamHandle origin = stream();
    const StreamHandle side = stream();
    device().begin_capture(origin);
    device().stream_wait(side, recorded(origin));
    device().run_on_host(side, [] {});
    device().stream_wait(origin, recorded(side));
    device().run_on_host(side, [] {});  // after the join
    refused(ErrorCode::capturing, [&] { device().end_capture(origin); });
    EXPECT_FALSE(device().stream_capturing(origin));
    EXPECT_FALSE(device().stream_capturing(side));
    device().synchronize();
}

TEST_F(CpuDeviceTest, WhatWouldBreakACaptureIsRefusedAndLeavesItWhole) {
    const StreamHandle origin = stream();
    const StreamHandle side = stream();
    const EventHandle outside = recorded(side);
    device().begin_capture(origin);
    const EventHandle inside = recorded(origin);
    device().stream_wait(side, inside);
    for (const StreamHandle captured : {origin, side}) {
        refused(ErrorCode::capturing, [&] { device().synchronize_stream(captured); });
        refused(ErrorCode::capturing, [&] { device().stream_idle(captured); });
    }
    refused(ErrorCode::capturing, [&] { device().synchronize(); });
    refused(ErrorCode::capturing, [&] { device().event_done(inside); });
    refused(ErrorCode::capturing, [&] { device().synchronize_event(inside); });
    refused(ErrorCode::capturing, [&] { device().stream_wait(origin, outside); });
    refused(ErrorCode::capturing, [&] { device().begin_capture(origin); });
    refused(ErrorCode::capturing, [&] { device().end_capture(side); });
    std::thread([&] { refused(ErrorCode::capturing, [&] { device().end_capture(origin); }); }).join();
    device().run_on_host(origin, [] {});
    const GraphHandle graph = device().end_capture(origin);
    EXPECT_EQ(device().graph_size(graph), 1U);
    device().destroy_graph(graph);
    refused(ErrorCode::capturing, [&] { device().event_done(inside); });
    refused(ErrorCode::capturing, [&] { device().stream_wait(side, inside); });
    refused(ErrorCode::capturing, [&] { device().end_capture(origin); });
}

TEST_F(CpuDeviceTest, AnAbandonedCaptureKeepsNothing) {
    const StreamHandle origin = stream();
    std::atomic<int> ran{0};
    device().begin_capture(origin);
    device().run_on_host(origin, [&] { ++ran; });
    device().abandon_capture(origin);
    device().synchronize_stream(origin);
    EXPECT_EQ(ran, 0);
    device().run_on_host(origin, [&] { ++ran; });
    device().synchronize_stream(origin);
    EXPECT_EQ(ran, 1);
}

TEST_F(CpuDeviceTest, RecordedCopiesReadAtLaunch) {
    std::byte* memory = device().allocate(16);
    std::vector<std::byte> host(16, std::byte{1});
    const StreamHandle origin = stream();
    device().begin_capture(origin);
    copy(memory, host.data(), 16, origin, MemoryKind::host);
    const GraphHandle graph = device().end_capture(origin);
    for (const std::byte value : {std::byte{2}, std::byte{3}}) {
        std::fill(host.begin(), host.end(), value);
        device().launch_graph(graph, origin);
        device().synchronize_stream(origin);
        EXPECT_EQ(memory[15], value);
    }
    device().destroy_graph(graph);
    device().free(memory);
}

TEST_F(CpuDeviceTest, MemoryOfAGraphKeepsItsAddressUntilGraphAndProgramLetGo) {
    const StreamHandle origin = stream();
    const std::size_t before = device().memory_info().free;
    device().begin_capture(origin);
    std::byte* freed_inside = device().allocate_async(kMega, nullptr, origin);
    std::byte* kept = device().allocate_async(kMega, nullptr, origin);
    fill(freed_inside, kMega, 7, origin);
    copy(kept, freed_inside, kMega, origin);
    device().free_async(freed_inside, origin);
    const GraphHandle graph = device().end_capture(origin);
    EXPECT_EQ(device().graph_size(graph), 5U);
    EXPECT_NE(freed_inside, kept);
    device().launch_graph(graph, origin);
    device().synchronize_stream(origin);
    EXPECT_EQ(kept[kMega - 1], std::byte{7});
    EXPECT_EQ(device().memory_info().free, before - 2 * kMega);
    device().destroy_graph(graph);
    EXPECT_EQ(device().memory_info().free, before - kMega);
    device().free_async(kept, origin);
    device().synchronize_stream(origin);
    EXPECT_EQ(device().memory_info().free, before);
    refused(ErrorCode::bad_argument, [&] { device().free_async(kept, origin); });
}

TEST_F(CpuDeviceTest, MemoryFromOutsideCannotBeFreedInAGraph) {
    const StreamHandle origin = stream();
    std::byte* outside = device().allocate_async(100, nullptr, origin);
    device().begin_capture(origin);
    refused(ErrorCode::capturing, [&] { device().free_async(outside, origin); });
    device().abandon_capture(origin);
    device().free_async(outside, origin);
}

// --- pools ---

TEST_F(CpuDeviceTest, MarksOfAPoolFollowWhatIsUsedAndHeld) {
    const PoolHandle made = pool();
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 0U);
    std::byte* memory = device().allocate_async(kMega, made, nullptr);
    EXPECT_EQ(get(made, PoolAttribute::used_current), kMega);
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 32 * kMega);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes - 32 * kMega);
    std::byte* more = device().allocate_async(40 * kMega, made, nullptr);
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 64 * kMega);
    device().free_async(more, nullptr);
    EXPECT_EQ(get(made, PoolAttribute::used_current), kMega);
    EXPECT_EQ(get(made, PoolAttribute::used_high), 41 * kMega);
    device().set_pool_attribute(made, PoolAttribute::used_high, 0);
    EXPECT_EQ(get(made, PoolAttribute::used_high), kMega);
    device().synchronize();  // the threshold is 0: all but the unit in use goes
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 2 * kMega);
    EXPECT_EQ(get(made, PoolAttribute::reserved_high), 64 * kMega);
    device().set_pool_attribute(made, PoolAttribute::reserved_high, 0);
    EXPECT_EQ(get(made, PoolAttribute::reserved_high), 2 * kMega);
    refused(ErrorCode::bad_argument, [&] { device().set_pool_attribute(made, PoolAttribute::used_high, 5); });
    refused(ErrorCode::bad_argument, [&] { device().set_pool_attribute(made, PoolAttribute::used_current, 0); });
    device().free_async(memory, nullptr);
    refused(ErrorCode::bad_argument, [&] { device().free_async(memory, nullptr); });
    device().destroy_pool(made);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, APoolKeepsItsThresholdWhenSomethingIsWaitedFor) {
    const PoolHandle made = pool();
    device().set_pool_attribute(made, PoolAttribute::release_threshold, 10 * kMega);
    const StreamHandle on = stream();
    const auto use = [&] { device().free_async(device().allocate_async(60 * kMega, made, on), on); };
    use();
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 64 * kMega);
    device().synchronize_stream(on);
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 10 * kMega);
    use();
    device().synchronize_event(recorded(on));
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 10 * kMega);
    device().trim_pool(made, 5 * kMega);
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 6 * kMega);
    device().trim_pool(made, 0);
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 0U);
    device().destroy_pool(made);
}

TEST_F(CpuDeviceTest, TrimLeavesWhatIsInUseAsItIs) {
    const PoolHandle made = pool();
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 20; ++i) blocks.push_back(device().allocate_async(kMega, made, nullptr));
    for (std::size_t i = 0; i < blocks.size(); ++i) std::memset(blocks[i], static_cast<int>(i), kMega);
    for (std::size_t i = 0; i < blocks.size(); i += 5) device().free_async(blocks[i], nullptr);
    for (std::size_t i = 12; i < 15; ++i) device().free_async(blocks[i], nullptr);
    device().trim_pool(made, 0);
    EXPECT_EQ(get(made, PoolAttribute::used_current), 13 * kMega);
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 16 * kMega);  // 12 of the end and 4 in the middle went
    const std::set<std::size_t> freed{0, 5, 10, 15, 12, 13, 14};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (freed.contains(i)) continue;
        EXPECT_EQ(blocks[i][0], static_cast<std::byte>(i));
        EXPECT_EQ(blocks[i][kMega - 1], static_cast<std::byte>(i));
        device().free_async(blocks[i], nullptr);
    }
    std::byte* whole = device().allocate_async(30 * kMega, made, nullptr);  // across holes and free parts
    std::memset(whole, 1, 30 * kMega);
    EXPECT_EQ(get(made, PoolAttribute::used_current), 30 * kMega);
    EXPECT_GE(get(made, PoolAttribute::reserved_current), 30 * kMega);
    device().free_async(whole, nullptr);
    device().destroy_pool(made);
}

TEST_F(CpuDeviceTest, TheSameStreamReusesItsMemoryAtOnce) {
    const PoolHandle made = pool();
    reuse(made, false, false, false);
    const StreamHandle on = stream();
    Hold hold;
    hold.on(device(), on);
    std::byte* first = device().allocate_async(kMega, made, on);
    device().free_async(first, on);
    EXPECT_EQ(device().allocate_async(kMega, made, on), first);
    device().free_async(first, on);
    hold.open();
    device().destroy_pool(made);
}

TEST_F(CpuDeviceTest, OpportunisticReuseNeedsTheFreeToBeDone) {
    const PoolHandle made = pool();
    reuse(made, false, true, false);
    const StreamHandle frees = stream();
    const StreamHandle allocates = stream();
    Hold hold;
    hold.on(device(), frees);
    std::byte* first = device().allocate_async(kMega, made, frees);
    device().free_async(first, frees);
    std::byte* second = device().allocate_async(kMega, made, allocates);
    EXPECT_NE(second, first);
    hold.open();
    while (!device().stream_idle(frees)) std::this_thread::yield();  // done, and no host was told to wait
    EXPECT_EQ(device().allocate_async(kMega, made, allocates), first);
    device().free_async(first, allocates);
    device().free_async(second, allocates);
    device().destroy_pool(made);
}

TEST_F(CpuDeviceTest, WithoutOpportunisticReuseDoneIsNotEnoughUntilTheHostHasWaited) {
    const PoolHandle made = pool();
    reuse(made, false, false, false);
    device().set_pool_attribute(made, PoolAttribute::release_threshold, kDeviceBytes);
    const StreamHandle frees = stream();
    const StreamHandle allocates = stream();
    std::byte* first = device().allocate_async(kMega, made, frees);
    device().free_async(first, frees);
    std::byte* second = device().allocate_async(kMega, made, allocates);
    EXPECT_NE(second, first);
    device().synchronize_stream(frees);
    EXPECT_EQ(device().allocate_async(kMega, made, allocates), first);
    device().free_async(first, allocates);
    device().free_async(second, allocates);
    device().destroy_pool(made);
}

TEST_F(CpuDeviceTest, FollowedEventsAllowReuseAlsoThroughAChain) {
    const PoolHandle made = pool();
    reuse(made, true, false, false);
    const StreamHandle frees = stream();
    const StreamHandle between = stream();
    const StreamHandle allocates = stream();
    Hold hold;
    hold.on(device(), frees);
    std::byte* first = device().allocate_async(kMega, made, frees);
    const EventHandle too_early = recorded(frees);
    fill(first, kMega, 1, frees);
    device().free_async(first, frees);
    device().stream_wait(allocates, too_early);
    std::byte* second = device().allocate_async(kMega, made, allocates);
    EXPECT_NE(second, first);
    device().stream_wait(between, recorded(frees));
    device().stream_wait(allocates, recorded(between));
    EXPECT_EQ(device().allocate_async(kMega, made, allocates), first);
    device().set_pool_attribute(made, PoolAttribute::reuse_follow_event_dependencies, 0);
    device().free_async(second, between);
    device().stream_wait(allocates, recorded(between));
    EXPECT_NE(device().allocate_async(kMega, made, allocates), second);
    hold.open();
    device().synchronize();
}

TEST_F(CpuDeviceTest, InternalDependenciesMakeTheAllocatingStreamWait) {
    const PoolHandle made = pool(2 * kMega);  // no room for a second block
    const StreamHandle frees = stream();
    const StreamHandle allocates = stream();
    Hold hold;
    hold.on(device(), frees);
    std::byte* first = device().allocate_async(2 * kMega, made, frees);
    fill(first, 2 * kMega, 1, frees);
    device().free_async(first, frees);
    reuse(made, true, true, false);
    refused(ErrorCode::out_of_memory, [&] { device().allocate_async(2 * kMega, made, allocates); });
    reuse(made, true, true, true);
    std::byte* second = device().allocate_async(2 * kMega, made, allocates);
    EXPECT_EQ(second, first);
    fill(second, 2 * kMega, 2, allocates);
    EXPECT_FALSE(device().stream_idle(allocates));
    hold.open();
    device().synchronize_stream(allocates);
    EXPECT_EQ(second[2 * kMega - 1], std::byte{2});
    device().free_async(second, allocates);
    device().destroy_pool(made);
}

TEST_F(CpuDeviceTest, APoolNeverExceedsItsLimitNorTheDevice) {
    const PoolHandle limited = pool(10 * kMega);
    std::byte* memory = device().allocate_async(8 * kMega, limited, nullptr);
    refused(ErrorCode::out_of_memory, [&] { device().allocate_async(3 * kMega, limited, nullptr); });
    EXPECT_LE(get(limited, PoolAttribute::reserved_current), 10 * kMega);
    device().free_async(memory, nullptr);
    memory = device().allocate_async(10 * kMega, limited, nullptr);
    device().free_async(memory, nullptr);
    device().destroy_pool(limited);
    refused(ErrorCode::out_of_memory, [&] { device().allocate_async(kDeviceBytes + 1, nullptr, nullptr); });
    memory = device().allocate_async(kDeviceBytes, nullptr, nullptr);
    refused(ErrorCode::out_of_memory, [&] { device().allocate_async(1, nullptr, nullptr); });
    refused(ErrorCode::out_of_memory, [&] { device().allocate_async(SIZE_MAX, nullptr, nullptr); });
    device().free_async(memory, nullptr);
    device().synchronize();
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, RandomAllocationsNeverShareAByte) {
    const PoolHandle made = pool(96 * kMega);
    const std::array<StreamHandle, 3> on{stream(), stream(), stream()};
    struct Held {
        std::byte* address;
        std::size_t bytes;
    };
    std::vector<Held> held;
    unsigned state = 12345;
    const auto random = [&](unsigned below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
    std::size_t used = 0;
    for (int step = 0; step < 3000; ++step) {
        if (random(3) != 0 && held.size() < 60) {
            const std::size_t bytes = 1 + random(2) * random(3000000) + random(5000);
            std::byte* address = nullptr;
            try {
                address = device().allocate_async(bytes, made, on[random(3)]);
            } catch (const Error&) {
                continue;
            }
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(address) % 256, 0U);
            for (const Held& other : held) {
                ASSERT_TRUE(address + bytes <= other.address || other.address + other.bytes <= address);
            }
            address[0] = address[bytes - 1] = std::byte{1};
            held.push_back({address, bytes});
            used += (bytes + 511) / 512 * 512;
        } else if (!held.empty()) {
            const std::size_t i = random(static_cast<unsigned>(held.size()));
            device().free_async(held[i].address, on[random(3)]);
            used -= (held[i].bytes + 511) / 512 * 512;
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
        }
        if (random(50) == 0) device().synchronize_stream(on[random(3)]);
        if (random(50) == 0) device().trim_pool(made, random(64) * kMega);
        ASSERT_EQ(get(made, PoolAttribute::used_current), used);
        ASSERT_GE(get(made, PoolAttribute::reserved_current), used);
        ASSERT_LE(get(made, PoolAttribute::reserved_current), 96 * kMega);
    }
    for (const Held& each : held) device().free_async(each.address, on[0]);
    device().synchronize();
    EXPECT_EQ(get(made, PoolAttribute::reserved_current), 0U);
    device().destroy_pool(made);
}

TEST_F(CpuDeviceTest, ADestroyedPoolLastsUntilItsMemoryIsFreedAndTheFreeIsDone) {
    const PoolHandle made = pool();
    const StreamHandle on = stream();
    std::byte* memory = device().allocate_async(kMega, made, on);
    Hold hold;
    hold.on(device(), on);
    fill(memory, kMega, 1, on);
    device().destroy_pool(made);
    EXPECT_LT(device().memory_info().free, kDeviceBytes);
    device().free_async(memory, on);
    EXPECT_LT(device().memory_info().free, kDeviceBytes);  // the fill is still to come
    hold.open();
    device().synchronize_stream(on);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, DefaultAndCurrentPoolsAreKeptByLocationAndType) {
    const PoolHandle usual = device().default_pool(own(), PoolType::pinned);
    std::set<PoolHandle> distinct{usual};
    distinct.insert(device().default_pool(Location::host(), PoolType::pinned));
    distinct.insert(device().default_pool(Location::host_numa(0), PoolType::pinned));
    for (const Location& location : {own(), Location::host(), Location::none()}) {
        distinct.insert(device().default_pool(location, PoolType::managed));
    }
    EXPECT_EQ(distinct.size(), 6U);
    EXPECT_EQ(device().default_pool(own(), PoolType::pinned), usual);
    const PoolHandle mine = pool();
    device().set_current_pool(own(), PoolType::pinned, mine);
    EXPECT_EQ(device().current_pool(own(), PoolType::pinned), mine);
    EXPECT_EQ(device().default_pool(own(), PoolType::pinned), usual);
    device().free_async(device().allocate_async(kMega, nullptr, nullptr), nullptr);
    EXPECT_EQ(get(mine, PoolAttribute::used_high), kMega);
    refused(ErrorCode::bad_argument, [&] { device().set_current_pool(Location::host(), PoolType::pinned, mine); });
    refused(ErrorCode::wrong_location, [&] { device().default_pool(Location::host_numa(999), PoolType::pinned); });
    device().destroy_pool(mine);
    EXPECT_EQ(device().current_pool(own(), PoolType::pinned), usual);
}

TEST_F(CpuDeviceTest, HostPoolsHoldNoDeviceMemory) {
    const PoolHandle host = device().create_pool({.location = Location::host_numa(0)});
    std::byte* memory = device().allocate_async(kMega, host, nullptr);
    std::memset(memory, 1, kMega);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
    EXPECT_EQ(device().pool_access(host, Location::host()), Access::read_write);
    EXPECT_EQ(device().pool_access(host, own()), Access::none);
    device().free_async(memory, nullptr);
    device().destroy_pool(host);
}

TEST_F(CpuDeviceTest, AccessToAPoolIsGivenToDevicesAlone) {
    const auto peer = make_cpu_device(6, kDeviceBytes);
    const Location other{LocationKind::device, 6, DeviceKind::cpu};
    const PoolHandle made = pool();
    EXPECT_EQ(device().pool_access(made, own()), Access::read_write);
    EXPECT_EQ(device().pool_access(made, other), Access::none);
    for (const Access access : {Access::read_write, Access::read, Access::none}) {
        const AccessGrant grant{other, access};
        device().set_pool_access(made, {&grant, 1});
        EXPECT_EQ(device().pool_access(made, other), access);
    }
    const AccessGrant host{Location::host(), Access::read_write};
    refused(ErrorCode::wrong_location, [&] { device().set_pool_access(made, {&host, 1}); });
    const AccessGrant nobody{{LocationKind::device, 77, DeviceKind::cpu}, Access::read_write};
    refused(ErrorCode::wrong_location, [&] { device().set_pool_access(made, {&nobody, 1}); });
    device().destroy_pool(made);
}

// --- other processes ---

TEST_F(CpuDeviceTest, AnotherProcessWritesIntoAnImportedPool) {
    const PoolHandle shared = pool(0, HandleType::file_descriptor);
    std::byte* padding = device().allocate_async(3 * kMega, shared, nullptr);
    std::byte* memory = device().allocate_async(kMega, shared, nullptr);
    std::memset(memory, 5, kMega);
    const ShareableHandle handle = device().export_pool(shared, HandleType::file_descriptor);
    const PointerExport pointer = device().export_pointer(memory);
    const pid_t child = fork();
    if (child == 0) {
        int status = 1;
        try {
            const PoolHandle imported = device().import_pool(handle);
            std::byte* theirs = device().import_pointer(imported, pointer);
            if (theirs != memory && theirs[kMega - 1] == std::byte{5}) status = 0;
            std::memset(theirs, 6, kMega);
        } catch (const std::exception&) {
            status = 2;
        }
        _exit(status);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(std::count(memory, memory + kMega, std::byte{6}), static_cast<std::ptrdiff_t>(kMega));
    close(handle.file_descriptor);
    device().free_async(memory, nullptr);
    device().free_async(padding, nullptr);
    device().destroy_pool(shared);
}

TEST_F(CpuDeviceTest, ImportedPointersAreFreedOnceAndKeepThePool) {
    const PoolHandle shared = pool(64 * kMega, HandleType::file_descriptor);
    std::byte* memory = device().allocate_async(kMega, shared, nullptr);
    const ShareableHandle handle = device().export_pool(shared, HandleType::file_descriptor);
    const PointerExport pointer = device().export_pointer(memory);
    const PoolHandle imported = device().import_pool(handle);
    close(handle.file_descriptor);
    std::byte* one = device().import_pointer(imported, pointer);
    std::byte* two = device().import_pointer(imported, pointer);
    EXPECT_EQ(one, two);
    std::memset(memory, 8, kMega);
    EXPECT_EQ(one[kMega - 1], std::byte{8});
    device().destroy_pool(imported);
    device().free(one);  // as plain memory, or in stream order
    EXPECT_EQ(two[0], std::byte{8});
    device().free_async(two, nullptr);
    refused(ErrorCode::bad_argument, [&] { device().free_async(two, nullptr); });
    device().free_async(memory, nullptr);
    device().destroy_pool(shared);
}

TEST_F(CpuDeviceTest, DamagedHandlesAreRefused) {
    const PoolHandle shared = pool(64 * kMega, HandleType::file_descriptor);
    const PoolHandle other = pool(64 * kMega, HandleType::file_descriptor);
    std::byte* memory = device().allocate_async(kMega, shared, nullptr);
    const ShareableHandle handle = device().export_pool(shared, HandleType::file_descriptor);
    const ShareableHandle other_handle = device().export_pool(other, HandleType::file_descriptor);
    const PointerExport pointer = device().export_pointer(memory);
    const PoolHandle imported = device().import_pool(handle);
    const PoolHandle other_imported = device().import_pool(other_handle);
    for (std::size_t i = 0; i < pointer.bytes.size(); ++i) {
        PointerExport damaged = pointer;
        damaged.bytes[i] ^= 0x40;
        refused(ErrorCode::bad_argument, [&] { device().import_pointer(imported, damaged); });
    }
    refused(ErrorCode::bad_argument, [&] { device().import_pointer(imported, PointerExport{}); });
    refused(ErrorCode::bad_argument, [&] { device().import_pointer(other_imported, pointer); });
    refused(ErrorCode::bad_argument, [&] { device().import_pointer(shared, pointer); });
    refused(ErrorCode::bad_argument, [&] { device().export_pointer(memory + 512); });

    const auto import = [&](int descriptor) {
        const ShareableHandle wrong{.type = HandleType::file_descriptor, .file_descriptor = descriptor};
        refused(ErrorCode::bad_argument, [&] { device().import_pool(wrong); });
        refused(ErrorCode::bad_argument, [&] { device().import_physical(wrong, 2 * kMega); });
    };
    import(-1);
    import(9999);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    import(ends[0]);
    const int plain = memfd_create("texton-pool", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(plain, 4 << 20), 0);
    import(plain);
    for (const int descriptor : {ends[0], ends[1], plain}) close(descriptor);
    const PhysicalHandle physical =
        device().create_physical(2 * kMega, {.location = own(), .handle = HandleType::file_descriptor});
    const ShareableHandle physical_handle = device().export_physical(physical, HandleType::file_descriptor);
    refused(ErrorCode::bad_argument, [&] { device().import_pool(physical_handle); });
    refused(ErrorCode::bad_argument, [&] { device().import_physical(handle, 2 * kMega); });
    refused(ErrorCode::bad_argument, [&] { device().import_physical(physical_handle, 4 * kMega); });
    refused(ErrorCode::not_permitted, [&] { device().export_pool(shared, HandleType::fabric); });
    refused(ErrorCode::not_permitted, [&] { device().import_pool({.type = HandleType::fabric}); });
    refused(ErrorCode::not_permitted, [&] { pool(0, HandleType::fabric); });
    refused(ErrorCode::not_permitted,
            [&] { device().export_pool(device().default_pool(own(), PoolType::pinned), HandleType::file_descriptor); });
    for (const ShareableHandle& each : {handle, other_handle, physical_handle}) close(each.file_descriptor);
    device().release_physical(physical);
    device().free_async(memory, nullptr);
    for (const PoolHandle each : {shared, other, imported, other_imported}) device().destroy_pool(each);
}

// --- physical memory ---

TEST_F(CpuDeviceTest, OnePieceOfMemoryIsSeenAtEveryPlaceItIsMappedTo) {
    const std::size_t unit = device().physical_granularity({.location = own()}, Granularity::minimum);
    EXPECT_EQ(unit, 2 * kMega);
    const PhysicalHandle memory = device().create_physical(2 * unit, {.location = own()});
    EXPECT_EQ(device().memory_info().free, kDeviceBytes - 2 * unit);
    std::byte* addresses = device().reserve_addresses(4 * unit, 8 * unit);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(addresses) % (8 * unit), 0U);
    const AccessGrant grant{own(), Access::read_write};
    device().map_physical(addresses, 2 * unit, memory, 0);
    device().map_physical(addresses + 2 * unit, unit, memory, unit);
    EXPECT_FALSE(device().knows(addresses));
    device().set_mapped_access(addresses, 3 * unit, {&grant, 1});
    EXPECT_TRUE(device().knows(addresses));
    refused(ErrorCode::bad_argument, [&] { device().set_mapped_access(addresses, 4 * unit, {&grant, 1}); });
    fill(addresses + unit, unit, 9, nullptr);
    device().synchronize();
    EXPECT_EQ(addresses[3 * unit - 1], std::byte{9});
    addresses[2 * unit] = std::byte{1};
    EXPECT_EQ(addresses[unit], std::byte{1});

    device().unmap_physical(addresses, 2 * unit);
    EXPECT_FALSE(device().knows(addresses));
    device().map_physical(addresses, unit, memory, unit);
    device().set_mapped_access(addresses, unit, {&grant, 1});
    EXPECT_EQ(addresses[0], std::byte{1});  // it kept its contents
    std::byte outside{};
    refused(ErrorCode::bad_argument, [&] { device().map_physical(&outside, unit, memory, 0); });
    const AccessGrant host{Location::host_numa(0), Access::read_write};
    refused(ErrorCode::wrong_location, [&] { device().set_mapped_access(addresses, unit, {&host, 1}); });
    device().unmap_physical(addresses, unit);
    device().unmap_physical(addresses + 2 * unit, unit);
    device().free_addresses(addresses, 4 * unit);
    device().release_physical(memory);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, PhysicalMemoryOfTheHostIsMadeOnNodesThatExist) {
    const PhysicalHandle memory = device().create_physical(2 * kMega, {.location = Location::host_numa(0)});
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
    device().release_physical(memory);
    refused(ErrorCode::wrong_location,
            [&] { device().create_physical(2 * kMega, {.location = Location::host_numa(77)}); });
    const PhysicalHandle tiles = device().create_physical(2 * kMega, {.location = own(), .tile_pool = true});
    device().release_physical(tiles);
    refused(ErrorCode::not_permitted,
            [&] { device().create_physical(2 * kMega, {.location = own(), .handle = HandleType::fabric}); });
}

TEST_F(CpuDeviceTest, ImportedMemoryIsTheExportedOne) {
    const PhysicalHandle memory =
        device().create_physical(2 * kMega, {.location = own(), .handle = HandleType::file_descriptor});
    const ShareableHandle handle = device().export_physical(memory, HandleType::file_descriptor);
    const PhysicalHandle imported = device().import_physical(handle, 2 * kMega);
    close(handle.file_descriptor);
    std::byte* addresses = device().reserve_addresses(4 * kMega, 0);
    device().map_physical(addresses, 2 * kMega, memory, 0);
    device().map_physical(addresses + 2 * kMega, 2 * kMega, imported, 0);
    const AccessGrant grant{own(), Access::read_write};
    device().set_mapped_access(addresses, 4 * kMega, {&grant, 1});
    addresses[5] = std::byte{77};
    EXPECT_EQ(addresses[2 * kMega + 5], std::byte{77});
    device().free_addresses(addresses, 4 * kMega);
    device().release_physical(imported);
    device().release_physical(memory);
}

TEST_F(CpuDeviceTest, UnmappedAddressesCannotBeTouched) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::byte* addresses = device().reserve_addresses(2 * kMega, 0);
    EXPECT_DEATH(addresses[0] = std::byte{1}, "");
    device().free_addresses(addresses, 2 * kMega);
}

// --- managed memory ---

TEST_F(CpuDeviceTest, ARangeHasAnAttributeOnlyIfAllOfItAgrees) {
    constexpr std::size_t kPage = 64 << 10;
    std::byte* memory = device().allocate_managed(4 * kPage, Attach::global);
    EXPECT_FALSE(device().read_mostly(memory, 4 * kPage));
    EXPECT_EQ(device().preferred_location(memory, 4 * kPage), std::nullopt);
    EXPECT_TRUE(device().accessed_by(memory, 4 * kPage).empty());
    EXPECT_EQ(device().last_prefetch(memory, 4 * kPage), std::nullopt);

    device().advise(memory, 2 * kPage, Advice::set_read_mostly, Location::none());
    EXPECT_TRUE(device().read_mostly(memory, 2 * kPage));
    EXPECT_FALSE(device().read_mostly(memory, 2 * kPage + 1));
    device().advise(memory, 4 * kPage, Advice::set_preferred_location, own());
    EXPECT_EQ(device().preferred_location(memory, 4 * kPage), own());
    device().advise(memory + kPage, 1, Advice::set_preferred_location, Location::host());
    EXPECT_EQ(device().preferred_location(memory, 4 * kPage), std::nullopt);
    EXPECT_EQ(device().preferred_location(memory + kPage, kPage), Location::host());
    device().advise(memory, 4 * kPage, Advice::set_accessed_by, own());
    device().advise(memory, kPage, Advice::set_accessed_by, Location::host());
    EXPECT_EQ(device().accessed_by(memory, 4 * kPage), std::vector{own()});
    EXPECT_EQ(device().accessed_by(memory, kPage), (std::vector{own(), Location::host()}));
    device().advise(memory, 4 * kPage, Advice::unset_accessed_by, own());
    device().prefetch(memory, 4 * kPage, Location::host_numa(0), nullptr);
    const RangeAttributes all = device().range_attributes(memory, kPage);
    EXPECT_TRUE(all.read_mostly);
    EXPECT_EQ(all.preferred_location, own());
    EXPECT_EQ(all.accessed_by, std::vector{Location::host()});
    EXPECT_EQ(all.last_prefetch, Location::host_numa(0));
    refused(ErrorCode::wrong_location,
            [&] { device().advise(memory, 1, Advice::set_preferred_location, Location::host_numa(77)); });
    refused(ErrorCode::not_registered, [&] { device().read_mostly(memory, 4 * kPage + 1); });
    device().free(memory);
    refused(ErrorCode::not_registered, [&] { device().read_mostly(memory, 1); });
}

// --- symbols, arrays, textures ---

TEST_F(CpuDeviceTest, SymbolsAreFoundWhileTheyAreRegistered) {
    int variable = 0;
    refused(ErrorCode::not_registered, [&] { device().find_symbol(&variable); });
    add_cpu_symbol(&variable, sizeof(variable));
    EXPECT_EQ(device().find_symbol(&variable).address, reinterpret_cast<std::byte*>(&variable));
    EXPECT_EQ(device().find_symbol(&variable).bytes, sizeof(variable));
    remove_cpu_symbol(&variable);
    refused(ErrorCode::not_registered, [&] { device().find_symbol(&variable); });
}

class CpuTextureTest : public CpuDeviceTest {
protected:
    /// The texel of a 1 x 1 texture.
    std::array<float, 4> fetched(Format format, std::vector<std::uint8_t> bytes) {
        const ArrayHandle array = device().create_array(format, {1, 1, 1});
        Place to;
        to.array = array;
        to.kind = MemoryKind::array;
        to.format = format;
        const Place from = at(reinterpret_cast<std::byte*>(bytes.data()), bytes.size(), MemoryKind::host);
        device().copy({&to, &from, {bytes.size()}}, nullptr);
        const TextureHandle texture = device().create_texture(array, format);
        std::array<float, 4> result{-9, -9, -9, -9};
        const std::array<float, 2> position{0.5F, 0.5F};
        device().sample(texture, format, position, result);
        device().destroy_texture(texture);
        device().destroy_array(array);
        return result;
    }
    using Texel = std::array<float, 4>;
};

TEST_F(CpuTextureTest, EachKindOfTexelReadsAsItShould) {
    EXPECT_EQ(fetched(Format::r8_uint, {200}), (Texel{200, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rg8_sint, {0x80, 0x7F}), (Texel{-128, 127, 0, 1}));
    EXPECT_EQ(fetched(Format::r16_sint, {0xFF, 0xFF}), (Texel{-1, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::r32_uint, {0, 0, 0, 0x80}), (Texel{2147483648.0F, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rgba8_unorm, {0, 255, 51, 128}), (Texel{0, 1, 51.0F / 255.0F, 128.0F / 255.0F}));
    EXPECT_EQ(fetched(Format::r16_unorm, {0xFF, 0xFF}), (Texel{1, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rg8_snorm, {0x80, 0x81}), (Texel{-1, -1, 0, 1}));
    EXPECT_EQ(fetched(Format::r16_snorm, {0xFF, 0x7F}), (Texel{1, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rg16_float, {0x00, 0xBC, 0x01, 0x00}), (Texel{-1, 0x1p-24F, 0, 1}));
    EXPECT_EQ(fetched(Format::rg16_float, {0x00, 0x7C, 0xFF, 0x7B}), (Texel{INFINITY, 65504, 0, 1}));
    EXPECT_EQ(fetched(Format::r32_float, {0, 0, 0xC0, 0x3F}), (Texel{1.5F, 0, 0, 1}));
    EXPECT_EQ(fetched(Format::rgba8_srgb, {0, 255, 0, 51}), (Texel{0, 1, 0, 0.2F}));
    EXPECT_NEAR(fetched(Format::r8_srgb, {188})[0], 0.5028865F, 1e-6F);
    // 1 in red, 1023 in green, 0 in blue, 2 in alpha.
    EXPECT_EQ(fetched(Format::rgb10a2_unorm, {0x01, 0xFC, 0x0F, 0x80}), (Texel{1.0F / 1023.0F, 1, 0, 2.0F / 3.0F}));
    EXPECT_TRUE(std::isnan(fetched(Format::r16_float, {0x01, 0x7E})[0]));
}

TEST_F(CpuTextureTest, EveryPlainFormatIsRead) {
    for (const FormatInfo& row : formats()) {
        if (row.layout == FormatLayout::block || row.layout == FormatLayout::planar) {
            refused(ErrorCode::unsupported, [&] { device().create_array(row.format, {4, 4, 1}); });
            continue;
        }
        const Texel texel = fetched(row.format, std::vector<std::uint8_t>(row.bytes, 0));
        EXPECT_EQ(texel, (Texel{0, 0, 0, row.channels == 4 ? 0.0F : 1.0F})) << row.name;
    }
}

TEST_F(CpuTextureTest, FetchesFloorTheirCoordinatesAndClampThemToTheEdge) {
    const ArrayHandle array = device().create_array(Format::r8_uint, {3, 2, 1});
    std::vector<std::byte> texels(12, std::byte{0xEE});  // rows of 6, so that the array's own pitch shows
    for (std::size_t y = 0; y < 2; ++y) {
        for (std::size_t x = 0; x < 3; ++x) texels[y * 6 + x] = static_cast<std::byte>(10 * y + x);
    }
    Place to;
    to.array = array;
    to.kind = MemoryKind::array;
    const Place from = at(texels.data(), 6, MemoryKind::host);
    device().copy({&to, &from, {3, 2}}, nullptr);
    std::byte last{99};
    to.array_offset = {2, 1, 0};
    const Place one = at(&last, 1, MemoryKind::host);
    device().copy({&to, &one, {1}}, nullptr);
    const TextureHandle texture = device().create_texture(array, Format::r8_uint);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> coordinates{0.99F, 0,   1, 1.5F,     -5,        1,      1e30F,
                                         1e30F, nan, 0, INFINITY, -INFINITY, 2.999F, 0.999F};
    std::vector<float> results(coordinates.size() * 2);
    device().sample(texture, Format::r8_uint, coordinates, results);
    std::vector<float> first;
    for (std::size_t i = 0; i < results.size(); i += 4) first.push_back(results[i]);
    EXPECT_EQ(first, (std::vector<float>{0, 11, 10, 99, 0, 2, 2}));
    device().destroy_texture(texture);
    device().destroy_array(array);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

}  // namespace
}  // namespace texton::detail
