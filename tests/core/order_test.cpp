// The order of calls without a stream: after the work of the default stream, and done when they return.
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/registered.h>

#include "tests/support/default_stream.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/pages.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using namespace std::chrono_literals;
using test::after_default_stream;
using test::all_bytes;

class OrderTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, OrderTest, test::every_device(), test::device_label);

// Sizes below and above the one from which pageable memory passes through pinned buffers.
constexpr std::size_t kSizes[] = {4096, std::size_t{5} << 20};

TEST_P(OrderTest, DownloadWithoutStreamIsOrderedAfterTheDefaultStream) {
    for (const std::size_t bytes : kSizes) {
        const Linear memory(device(), bytes);
        fill(memory.view(), std::uint8_t{1});
        test::Bytes host(bytes);
        after_default_stream(
            device(), [&](const Stream& standard) { fill(memory.view(), std::uint8_t{2}, standard); },
            [&] { copy(host_view(std::span(host)), memory.view()); });
        EXPECT_TRUE(all_bytes(host, 2)) << bytes;
    }
}

TEST_P(OrderTest, UploadWithoutStreamIsOrderedAfterTheDefaultStream) {
    for (const std::size_t bytes : kSizes) {
        const Linear memory(device(), bytes);
        const test::Bytes host(bytes, std::byte{3});
        after_default_stream(
            device(), [&](const Stream& standard) { fill(memory.view(), std::uint8_t{2}, standard); },
            [&] { copy(memory.view(), host_view(std::span<const std::byte>(host))); });
        EXPECT_TRUE(all_bytes(test::download(memory.view()), 3)) << bytes;
    }
}

TEST_P(OrderTest, CopyWithinTheDeviceWithoutStreamIsOrderedAfterTheDefaultStream) {
    for (const std::size_t bytes : kSizes) {
        const Linear memory(device(), bytes);
        const Linear copied(device(), bytes);
        after_default_stream(
            device(), [&](const Stream& standard) { fill(memory.view(), std::uint8_t{2}, standard); },
            [&] { copy(copied.view(), memory.view()); });
        EXPECT_TRUE(all_bytes(test::download(copied.view()), 2)) << bytes;
    }
}

TEST_P(OrderTest, FillWithoutStreamIsOrderedAfterTheDefaultStream) {
    const Linear memory(device(), 4096);
    after_default_stream(
        device(), [&](const Stream& standard) { fill(memory.view(), std::uint8_t{2}, standard); },
        [&] { fill(memory.view(), std::uint8_t{3}); });
    EXPECT_TRUE(all_bytes(test::download(memory.view()), 3));
}

TEST_P(OrderTest, PinnedMemoryIsCopiedAndFilledAfterTheDefaultStreamOfItsDevice) {
    const Pinned pinned(device(), 4096);
    test::Bytes host(4096);
    after_default_stream(
        device(), [&](const Stream& standard) { fill(pinned.view(), std::uint8_t{2}, standard); },
        [&] { copy(host_view(std::span(host)), pinned.view()); });
    EXPECT_TRUE(all_bytes(host, 2));
    after_default_stream(
        device(), [&](const Stream& standard) { fill(pinned.view(), std::uint8_t{4}, standard); },
        [&] { fill(pinned.view(), std::uint8_t{3}); });
    EXPECT_TRUE(all_bytes(pinned.read(), 3));
}

TEST_P(OrderTest, PageLockedMemoryGivenByItsAddressIsCopiedAndFilledAfterTheDefaultStreamOfItsDevice) {
    // The first CPU device executes the copies and fills, and the memory belongs to another device.
    const std::optional<Device> owner = on_cpu() ? peer() : device();
    if (!owner) GTEST_SKIP() << "needs a second device of the kind";
    const Pinned pinned(*owner, 4096);
    const test::Pages pages(1);
    const Registered registered(*owner, pages.all());
    const Linear elsewhere(Device::cpu(), 4096);
    for (const View& memory : {pinned.view(), registered.view()}) {
        SCOPED_TRACE(name(memory.kind()));
        const View by_address = host_view(std::span(memory.data(), 4096));
        after_default_stream(
            *owner, [&](const Stream& standard) { fill(memory, std::uint8_t{2}, standard); },
            [&] { copy(elsewhere.view(), by_address); });
        EXPECT_TRUE(all_bytes(test::download(elsewhere.view()), 2));
        after_default_stream(
            *owner, [&](const Stream& standard) { fill(memory, std::uint8_t{3}, standard); },
            [&] { copy(by_address, elsewhere.view()); });
        EXPECT_TRUE(all_bytes(std::span(memory.data(), 4096), 2));
        after_default_stream(
            *owner, [&](const Stream& standard) { fill(memory, std::uint8_t{4}, standard); },
            [&] { fill(by_address, std::uint8_t{5}); });
        EXPECT_TRUE(all_bytes(std::span(memory.data(), 4096), 5));
    }
}

TEST_P(OrderTest, CopyBetweenDevicesWithoutStreamIsOrderedAfterBothDefaultStreams) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    const Linear here(device(), 4096);
    const Linear there(*other, 4096);
    for (const Device& writer : {device(), *other}) {
        const Linear& from = writer == device() ? here : there;
        const Linear& to = writer == device() ? there : here;
        after_default_stream(
            writer, [&](const Stream& standard) { fill(from.view(), std::uint8_t{2}, standard); },
            [&] { copy(to.view(), from.view()); });
        EXPECT_TRUE(all_bytes(test::download(to.view()), 2));
        after_default_stream(
            writer, [&](const Stream& standard) { fill(from.view(), std::uint8_t{4}, standard); },
            [&] { copy(from.view(), to.view()); });
        EXPECT_TRUE(all_bytes(test::download(from.view()), 2));
    }
}

TEST_P(OrderTest, CallsWithoutStreamDoNotWaitForOtherStreams) {
    for (const std::size_t bytes : kSizes) {
        const Linear memory(device(), bytes);
        test::Bytes host(bytes, std::byte{3});
        const Stream held(device());
        copy(memory.view(), host_view(std::span<const std::byte>(host)));  // allocates what copies keep
        const test::Gate gate;
        gate.close(held);
        copy(memory.view(), host_view(std::span<const std::byte>(host)));
        fill(memory.view(), std::uint8_t{4});
        copy(host_view(std::span(host)), memory.view());
        EXPECT_TRUE(all_bytes(host, 4));
        EXPECT_FALSE(held.idle());
        gate.open();
        held.synchronize();
    }
}

TEST_P(OrderTest, CallsWithAStreamDoNotWaitForTheDefaultStream) {
    for (const std::size_t bytes : kSizes) {
        const Linear memory(device(), bytes);
        test::Bytes host(bytes, std::byte{3});
        const Stream stream(device());
        const Stream standard = Stream::default_of(device());
        copy(memory.view(), host_view(std::span<const std::byte>(host)), stream);  // allocates what copies keep
        stream.synchronize();
        const test::Gate gate;
        gate.close(standard);
        copy(memory.view(), host_view(std::span<const std::byte>(host)), stream);
        fill(memory.view(), std::uint8_t{4}, stream);
        copy(host_view(std::span(host)), memory.view(), stream);
        EXPECT_TRUE(all_bytes(host, 4));
        EXPECT_FALSE(standard.idle());
        gate.open();
        standard.synchronize();
    }
}

TEST_P(OrderTest, CallsWithoutStreamDoNotBreakACaptureInAnotherThread) {
    const Linear memory(device(), kSizes[1]);
    const Linear recorded(device(), 4096);
    test::Bytes host(memory.bytes(), std::byte{3});
    const Stream stream(device());
    const Graph graph = Graph::capture(stream, [&] {
        fill(recorded.view(), std::uint8_t{1}, stream);
        std::thread([&] {
            copy(memory.view(), host_view(std::span<const std::byte>(host)));
            fill(memory.view(), std::uint8_t{4});
            copy(host_view(std::span(host)), memory.view());
        }).join();
        fill(recorded.view(), std::uint8_t{2}, stream);
    });
    EXPECT_TRUE(all_bytes(host, 4));
    EXPECT_EQ(graph.size(), 2u);
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(test::download(recorded.view()), 2));
}

TEST_P(OrderTest, PageableMemoryIsFilledInStreamOrderBeforeTheCallReturns) {
    const Stream stream(device());
    test::Bytes host(4096);
    std::vector<std::byte> seen;
    std::atomic<bool> begun{false};
    stream.run([&] {
        while (!begun) std::this_thread::yield();
        std::this_thread::sleep_for(20ms);
        seen.push_back(host.back());
    });
    begun = true;
    fill(host_view(std::span(host)), std::uint8_t{5}, stream);
    EXPECT_TRUE(all_bytes(host, 5));
    stream.synchronize();
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0], std::byte{0});
}

}  // namespace
}  // namespace texton
