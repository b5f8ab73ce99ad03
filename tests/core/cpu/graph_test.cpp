// Operations that the CPU device records in graphs, and operations that it refuses to record.
#include <algorithm>
#include <atomic>
#include <thread>

#include "core/cpu/capture.h"
#include "tests/support/cpu_device.h"

namespace texton::detail {
namespace {

using CpuGraphTest = CpuDeviceTest;

TEST_F(CpuGraphTest, EachLaunchRunsTheRecordedWorkOfAllStreams) {
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

TEST_F(CpuGraphTest, AnUnjoinedStreamEndsTheCaptureWithAnError) {
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

TEST_F(CpuGraphTest, CallsThatWouldBreakACaptureAreRefusedAndTheCaptureContinues) {
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

TEST_F(CpuGraphTest, ACaptureThatAnotherThreadHasEndedIsLeftAsItIs) {
    const auto origin = std::make_shared<CpuStream>();
    const auto side = std::make_shared<CpuStream>();
    CpuCapture::begin(origin);
    const auto capture = origin->capture();
    const CpuCapture::Mark earlier = capture->mark(*origin);
    capture->abandon();  // between a call's query of the stream's capture and its use
    refused(ErrorCode::capturing, [&] { (void)capture->mark(*origin); });
    refused(ErrorCode::capturing, [&] { capture->join(side, earlier); });
    EXPECT_EQ(side->capture(), nullptr);
    refused(ErrorCode::capturing, [&] { (void)capture->end(*origin); });
}

TEST_F(CpuGraphTest, AnAbandonedCaptureDiscardsItsWork) {
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

TEST_F(CpuGraphTest, RecordedCopiesReadTheirSourceAtLaunch) {
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

TEST_F(CpuGraphTest, GraphMemoryKeepsItsAddressUntilGraphAndProgramReleaseIt) {
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

TEST_F(CpuGraphTest, MemoryAllocatedOutsideAGraphCannotBeFreedInIt) {
    const StreamHandle origin = stream();
    std::byte* outside = device().allocate_async(100, nullptr, origin);
    device().begin_capture(origin);
    refused(ErrorCode::capturing, [&] { device().free_async(outside, origin); });
    device().abandon_capture(origin);
    device().free_async(outside, origin);
}

}  // namespace
}  // namespace texton::detail
