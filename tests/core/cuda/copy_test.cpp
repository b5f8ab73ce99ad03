// Compares every shape of copy and fill that has its own CUDA call with a byte-by-byte reference.
#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/graph.h>
#include <texton/linear.h>
#include <texton/pinned.h>
#include <texton/pitched.h>

#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

class CudaCopyTest : public test::OnEveryDevice {
protected:
    // Copies, and waits for the stream if there is one.
    void copied(const View& to, const ConstView& from, const Stream* stream) const {
        if (stream == nullptr) return copy(to, from);
        copy(to, from, *stream);
        stream->synchronize();
    }
    template <class Pattern>
    void filled(const View& to, Pattern pattern, const Stream* stream) const {
        if (stream == nullptr) return fill(to, pattern);
        fill(to, pattern, *stream);
        stream->synchronize();
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, CudaCopyTest, testing::Values(DeviceKind::cuda), test::device_label);

constexpr Extent kVolume{19, 7, 5};
constexpr Region kInside{{3, 2, 1}, {11, 4, 3}};

TEST_P(CudaCopyTest, BoxesOfEveryDimensionAreCopiedInEveryDirection) {
    const Stream own(device());
    const Stream standard = Stream::default_of(device());
    for (const Stream* stream : {static_cast<const Stream*>(nullptr), &own, &standard}) {
        for (const Region part : {Region{{}, {19, 1, 1}}, Region{{3, 2, 1}, {11, 4, 1}}, kInside}) {
            SCOPED_TRACE(to_string(part));
            const Pitched3D first(device(), Format::r32_uint, kVolume);
            const Pitched3D second(device(), Format::r32_uint, kVolume);
            filled(first.view(), std::uint8_t{0}, stream);
            filled(second.view(), std::uint8_t{0}, stream);
            const test::Bytes image = test::pattern(packed_bytes(Format::r32_uint, kVolume), 4);
            const ConstView host = host_view(image.data(), Format::r32_uint, kVolume);
            copied(first.view().region(part), host.region(part), stream);
            copied(second.view().region(part), first.view().region(part), stream);
            test::Bytes read(image.size());
            const View back = host_view(read.data(), Format::r32_uint, kVolume);
            copied(back.region(part), second.view().region(part), stream);

            test::Bytes expected(image.size());
            const std::size_t offset = (part.offset.z * 7 + part.offset.y) * 76 + part.offset.x * 4;
            test::reference_copy(expected, {offset, 76, 532}, image, {offset, 76, 532}, part.extent.width * 4,
                                 part.extent.height, part.extent.depth);
            EXPECT_TRUE(test::same_bytes(read, expected));
            EXPECT_TRUE(test::same_bytes(test::download(second.view()), expected))
                << "the copy changed bytes outside its region";
        }
    }
}

TEST_P(CudaCopyTest, PatternsOfEveryWidthFillBoxesOfEveryDimension) {
    const Stream own(device());
    const Stream standard = Stream::default_of(device());
    const auto check = [&](auto pattern, Format format, const Stream* stream) {
        for (const Region part : {Region{{}, {19, 1, 1}}, Region{{3, 2, 1}, {11, 4, 1}}, kInside}) {
            SCOPED_TRACE(to_string(part));
            const Pitched3D memory(device(), format, kVolume);
            filled(memory.view(), std::uint8_t{0xEE}, stream);
            filled(memory.view().region(part), pattern, stream);
            test::Bytes expected(packed_bytes(format, kVolume), std::byte{0xEE});
            for (std::size_t z = 0; z < part.extent.depth; ++z) {
                for (std::size_t y = 0; y < part.extent.height; ++y) {
                    for (std::size_t x = 0; x < part.extent.width; ++x) {
                        const std::size_t texel =
                            ((z + part.offset.z) * 7 + y + part.offset.y) * 19 + x + part.offset.x;
                        std::memcpy(expected.data() + texel * sizeof(pattern), &pattern, sizeof(pattern));
                    }
                }
            }
            EXPECT_TRUE(test::same_bytes(test::download(memory.view()), expected));
        }
    };
    for (const Stream* stream : {static_cast<const Stream*>(nullptr), &own, &standard}) {
        check(std::uint8_t{0xA5}, Format::r8_uint, stream);
        check(std::uint16_t{0xA5C3}, Format::r16_uint, stream);
        check(std::uint32_t{0xA5C3127F}, Format::r32_uint, stream);
    }
}

TEST_P(CudaCopyTest, CopiesAndFillsWithoutAStreamAreDoneWhenTheCallReturns) {
    // A non-blocking stream does not wait for the default stream, so it would show a copy that is not yet done.
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    const Linear first(device(), kBytes);
    const Linear second(device(), kBytes);
    const Pinned seen(device(), 2);
    const Stream stream(device());
    const auto last = [&] {
        copy(seen.view(Format::r8_uint, {1}), second.view().region({{kBytes - 1, 0, 0}, {1}}), stream);
        stream.synchronize();
        return seen.read()[0];
    };
    for (unsigned round = 1; round <= 4; ++round) {
        fill(first.view(), static_cast<std::uint8_t>(round));
        copy(second.view(), first.view());
        ASSERT_EQ(last(), std::byte{static_cast<unsigned char>(round)});
        fill(second.view(), static_cast<std::uint16_t>(round * 0x1111u));
        ASSERT_EQ(last(), std::byte{static_cast<unsigned char>(round * 0x11)});
    }
}

TEST_P(CudaCopyTest, PageableMemoryIsReadDuringTheCallAndWrittenBeforeItReturns) {
    const Stream stream(device());
    for (const std::size_t bytes : {std::size_t{64}, std::size_t{100} << 10, std::size_t{1} << 20}) {
        const Linear memory(device(), bytes);
        test::Bytes host(bytes, std::byte{1});
        copy(memory.view(), host_view(std::span<const std::byte>(host)), stream);
        std::fill(host.begin(), host.end(), std::byte{2});
        fill(memory.view().region({{0, 0, 0}, {1}}), std::uint8_t{3}, stream);
        copy(host_view(std::span(host)), memory.view(), stream);
        EXPECT_EQ(host.front(), std::byte{3});
        EXPECT_TRUE(test::all_bytes(std::span(host).subspan(1), 1));
    }
}

TEST_P(CudaCopyTest, HostMemoryIsFilledInStreamOrder) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const Pinned pinned(device(), 4096);
    test::Bytes pageable(4096);
    fill(memory.view(), std::uint8_t{1}, stream);
    copy(pinned.view(), memory.view(), stream);
    fill(pinned.view().region({{0, 0, 0}, {2048}}), std::uint8_t{2}, stream);
    copy(host_view(std::span(pageable)), memory.view(), stream);
    fill(host_view(std::span(pageable).first(1024)), std::uint16_t{0x0303}, stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(pinned.read().first(2048), 2));
    EXPECT_TRUE(test::all_bytes(pinned.read().last(2048), 1));
    EXPECT_TRUE(test::all_bytes(std::span(pageable).first(1024), 3));
    EXPECT_TRUE(test::all_bytes(std::span(pageable).last(3072), 1));
}

TEST_P(CudaCopyTest, AGraphCopiesAndFillsAtEachLaunch) {
    const Stream stream(device());
    const Linear memory(device(), 4096);
    const Pinned from(device(), 4096);
    test::Bytes to(4096);
    int calls = 0;
    const Graph graph = Graph::capture(stream, [&] {
        copy(memory.view(), from.view(), stream);
        fill(memory.view().region({{1024, 0, 0}, {1024}}), std::uint32_t{0x07070707}, stream);
        copy(host_view(std::span(to)), memory.view(), stream);
        fill(host_view(std::span(to).last(16)), std::uint8_t{9}, stream);
        stream.run([&calls] { ++calls; });
    });
    EXPECT_EQ(graph.size(), 5u);
    for (unsigned round = 1; round <= 3; ++round) {
        std::memset(from.data(), static_cast<int>(round), from.bytes());
        graph.launch(stream);
        stream.synchronize();
        EXPECT_TRUE(test::all_bytes(std::span(to).first(1024), round));
        EXPECT_TRUE(test::all_bytes(std::span(to).subspan(1024, 1024), 7));
        EXPECT_TRUE(test::all_bytes(std::span(to).subspan(2048, 2032), round));
        EXPECT_TRUE(test::all_bytes(std::span(to).last(16), 9));
    }
    EXPECT_EQ(calls, 3);
}

TEST_P(CudaCopyTest, ABatchOfMixedShapesMatchesSingleCopies) {
    const Stream own(device());
    const Stream standard = Stream::default_of(device());
    for (const Stream& stream : {own, standard}) {
        const Pitched3D source(device(), Format::r32_uint, kVolume);
        const Pitched3D boxes(device(), Format::r32_uint, kVolume);
        const Pitched2D rows(device(), Format::r32_uint, {19, 7});
        const Linear line(device(), 4096);
        const Linear other(device(), 4096);
        const Pinned pinned(device(), 4096);
        test::Bytes pageable(4096);
        const test::Bytes image = test::pattern(packed_bytes(Format::r32_uint, kVolume), 8);
        const test::Bytes bytes = test::pattern(4096, 9);
        test::upload(source.view(), image);
        fill(boxes.view(), std::uint8_t{0});
        fill(rows.view(), std::uint8_t{0});
        std::memcpy(pinned.data(), bytes.data(), 4096);
        CopyBatch first;
        first.add(boxes.view().region(kInside), source.view().region(kInside));
        first.add(rows.view().region({{1, 1, 0}, {9, 3}}), source.view().region({{0, 0, 4}, {9, 3}}));
        first.add(line.view(), pinned.view());
        first.add(other.view().region({{0, 0, 0}, {2048}}), host_view(std::span(bytes).first(2048)));
        first.add(other.view().region({{2048, 0, 0}, {2048}}), host_view(std::span(bytes).last(2048)));
        first.run(stream);
        CopyBatch second;
        second.add(host_view(std::span(pageable)), line.view());
        second.add(pinned.view(), other.view());
        second.run(stream);
        stream.synchronize();
        EXPECT_TRUE(test::same_bytes(pageable, bytes));
        EXPECT_TRUE(test::same_bytes(pinned.read(), bytes));
        test::Bytes expected(image.size());
        const std::size_t at = (1 * 7 + 2) * 76 + 3 * 4;
        test::reference_copy(expected, {at, 76, 532}, image, {at, 76, 532}, 44, 4, 3);
        EXPECT_TRUE(test::same_bytes(test::download(boxes.view()), expected));
        test::Bytes expected_rows(19 * 7 * 4);
        test::reference_copy(expected_rows, {76 + 4, 76, 0}, image, {4 * 532, 76, 0}, 36, 3, 1);
        EXPECT_TRUE(test::same_bytes(test::download(rows.view()), expected_rows));
    }
}

TEST_P(CudaCopyTest, ABatchIsCapturedIntoAGraph) {
    const Stream stream(device());
    const Linear first(device(), 4096);
    const Linear second(device(), 4096);
    const Pinned from(device(), 8192);
    CopyBatch batch;
    batch.add(first.view(), from.view().region({{0, 0, 0}, {4096}}));
    batch.add(second.view(), from.view().region({{4096, 0, 0}, {4096}}));
    const Graph graph = Graph::capture(stream, [&] { batch.run(stream); });
    const test::Bytes bytes = test::pattern(8192, 2);
    std::memcpy(from.data(), bytes.data(), bytes.size());
    graph.launch(stream);
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(test::download(first.view()), std::span(bytes).first(4096)));
    EXPECT_TRUE(test::same_bytes(test::download(second.view()), std::span(bytes).last(4096)));
}

// The thread's current device is another one, which has no access to the memory of the pool.
TEST_P(CudaCopyTest, MemoryOfAPoolOfTheSecondDeviceIsFilledAndCopied) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    const Linear current(device(), 16);  // makes the first device current
    const Stream stream(*other);
    constexpr Extent kExtent{300, 7};
    const Linear memory = Linear::async(packed_bytes(Format::rg16_uint, kExtent), stream);
    const View image = memory.view(Format::rg16_uint, kExtent);
    const test::Bytes bytes = test::pattern(packed_bytes(Format::rg16_uint, kExtent), 4);
    test::Bytes read(bytes.size());
    const auto read_back = [&] {
        copy(host_view(read.data(), Format::rg16_uint, kExtent), image, stream);
        stream.synchronize();
        return read;
    };
    copy(image, host_view(std::as_const(bytes).data(), Format::rg16_uint, kExtent), stream);
    EXPECT_TRUE(test::same_bytes(read_back(), bytes));
    for (const unsigned size : {1u, 2u, 4u}) {
        fill(image, std::uint8_t{0}, stream);
        if (size == 1) fill(image, std::uint8_t{0x5a}, stream);
        if (size == 2) fill(image, std::uint16_t{0x5a5a}, stream);
        if (size == 4) fill(image, std::uint32_t{0x5a5a5a5a}, stream);
        EXPECT_TRUE(test::same_bytes(read_back(), test::Bytes(bytes.size(), std::byte{0x5a}))) << size;
    }
    CopyBatch batch;
    const Pinned from(device(), 2 * 4096);
    const Linear first = Linear::async(4096, stream), second = Linear::async(4096, stream);
    std::memcpy(from.data(), bytes.data(), 2 * 4096);
    batch.add(first.view(), from.view().region({{0, 0, 0}, {4096}}));
    batch.add(second.view(), from.view().region({{4096, 0, 0}, {4096}}));
    batch.run(stream);
    test::Bytes joined(2 * 4096);
    copy(host_view(joined.data(), Format::r8_uint, {4096}), first.view(), stream);
    copy(host_view(joined.data() + 4096, Format::r8_uint, {4096}), second.view(), stream);
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(joined, std::span(bytes).first(2 * 4096)));
}

TEST_P(CudaCopyTest, DevicesExchangeRowsAndBoxesWithAndWithoutPeerAccess) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    const Stream own(device());
    for (const bool direct : {false, true}) {
        if (direct) {
            if (!device().can_access(*other)) break;
            device().enable_access(*other);
        }
        for (const Stream* stream : {static_cast<const Stream*>(nullptr), &own}) {
            const Linear here(device(), 1 << 20);
            const Linear there(*other, 1 << 20);
            const test::Bytes bytes = test::pattern(1 << 20, 3);
            test::upload(here.view(), bytes);
            copied(there.view(), here.view(), stream);
            EXPECT_TRUE(test::same_bytes(test::download(there.view()), bytes));

            const Pitched3D near(device(), Format::r32_uint, kVolume);
            const Pitched3D far(*other, Format::r32_uint, kVolume);
            const test::Bytes image = test::pattern(packed_bytes(Format::r32_uint, kVolume), 5);
            test::upload(near.view(), image);
            fill(far.view(), std::uint8_t{0});
            copied(far.view().region(kInside), near.view().region(kInside), stream);
            test::Bytes expected(image.size());
            const std::size_t at = (1 * 7 + 2) * 76 + 3 * 4;
            test::reference_copy(expected, {at, 76, 532}, image, {at, 76, 532}, 44, 4, 3);
            EXPECT_TRUE(test::same_bytes(test::download(far.view()), expected));
        }
    }
    if (device().can_access(*other)) device().disable_access(*other);
}

}  // namespace
}  // namespace texton
