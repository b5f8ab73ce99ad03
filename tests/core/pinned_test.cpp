#include <texton/pinned.h>

#include <cstring>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/registered.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

class PinnedTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, PinnedTest, test::every_device(), test::device_label);

TEST_P(PinnedTest, EveryCombinationOfFlagsWorks) {
    const test::Bytes bytes = test::pattern(10'007, 1);
    const Linear there(device(), bytes.size());
    for (unsigned flags = 0; flags < 8; ++flags) {
        SCOPED_TRACE(flags);
        const PinnedOptions options{
            .portable = (flags & 1) != 0, .mapped = (flags & 2) != 0, .write_combined = (flags & 4) != 0};
        const Pinned memory(device(), bytes.size(), options);
        EXPECT_EQ(memory.bytes(), bytes.size());
        EXPECT_EQ(memory.device(), device());
        EXPECT_EQ(memory.view().kind(), MemoryKind::pinned);
        std::memcpy(memory.data(), bytes.data(), bytes.size());
        copy(there.view(), memory.view());
        EXPECT_TRUE(test::same_bytes(test::download(there.view()), bytes));

        // A device with unified addressing may report more options than requested, but never fewer.
        const PinnedOptions is = memory.options();
        EXPECT_TRUE(is.portable || !options.portable);
        EXPECT_TRUE(is.mapped || !options.mapped);
        EXPECT_EQ(is.write_combined, options.write_combined);
    }
}

TEST_P(PinnedTest, TheHostReadsAndWritesPinnedMemory) {
    const Pinned memory(device(), 1000);
    const test::Bytes bytes = test::pattern(1000, 2);
    std::memcpy(memory.data(), bytes.data(), bytes.size());
    EXPECT_TRUE(test::same_bytes(memory.read(), bytes));
    EXPECT_EQ(memory.read().data(), memory.data());
}

TEST_P(PinnedTest, MappedMemoryHasAUsableDevicePointer) {
    const Pinned memory(device(), 4096, {.mapped = true});
    std::byte* address = memory.device_pointer();
    ASSERT_NE(address, nullptr);
    EXPECT_TRUE(address == memory.data() || !device().properties().host_pointer_is_device_pointer);
    EXPECT_EQ(device_pointer(device(), memory.data()), address);
    EXPECT_EQ(device_pointer(device(), memory.data() + 100), address + 100);
}

TEST_P(PinnedTest, ReadingWriteCombinedMemoryNeedsPermission) {
    const Pinned memory(device(), 256, {.write_combined = true});
    std::memset(memory.data(), 0x5A, 256);
    expect_error([&] { (void)memory.read(); }, ErrorCode::not_permitted, "texton::Pinned",
                 {"write-combined", "SlowReads::allowed"});
    EXPECT_TRUE(test::all_bytes(memory.read(SlowReads::allowed), 0x5A));
}

TEST_P(PinnedTest, CopyingWriteCombinedMemoryOnTheHostIsRefused) {
    const Pinned slow(device(), 256, {.write_combined = true});
    std::memset(slow.data(), 0x5B, 256);
    test::Bytes host(256);
    expect_error([&] { copy(host_view(std::span(host)), slow.view()); }, ErrorCode::not_permitted, "texton::copy",
                 {"write-combined"});
    // A device may read write-combined memory.
    const Linear there(device(), 256);
    copy(there.view(), slow.view());
    EXPECT_TRUE(test::all_bytes(test::download(there.view()), 0x5B));
    // Writes to write-combined memory are allowed from everywhere.
    copy(slow.view(), host_view(std::span(host)));
    copy(slow.view(), there.view());
    EXPECT_TRUE(test::all_bytes(slow.read(SlowReads::allowed), 0x5B));
}

TEST_P(PinnedTest, AHostPointerIntoPinnedMemoryCanBeCopied) {
    const Pinned memory(device(), 4096);
    const test::Bytes bytes = test::pattern(1000, 3);
    const Linear there(device(), bytes.size());
    const View inside = host_view(static_cast<void*>(memory.data() + 99), Format::r8_uint, {bytes.size()});
    test::upload(inside, bytes);
    const Stream stream(device());
    copy(there.view(), inside, stream);
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(test::download(there.view()), bytes));
}

TEST_P(PinnedTest, TexelsArePackedAndViewsOutOfBoundsAreRefused) {
    const Pinned memory(device(), 100);
    EXPECT_EQ(memory.view(Format::r32_uint, {5, 5}).pitch(), 20u);
    expect_error([&] { (void)memory.view(Format::r32_uint, {26}); }, ErrorCode::out_of_bounds, "texton::Pinned",
                 {"104", "100"});
}

TEST_P(PinnedTest, ZeroBytesAreRefused) {
    expect_error([&] { Pinned memory(device(), 0); }, ErrorCode::bad_argument, "texton::Pinned", {"0 bytes"});
}

TEST_P(PinnedTest, TooLargeAnAllocationIsRefusedWithTheSizes) {
    const std::size_t requested = std::size_t{1} << 50;
    const Error error = expect_error([&] { Pinned memory(device(), requested); }, ErrorCode::out_of_memory,
                                     "texton::Pinned", {std::to_string(requested)});
    EXPECT_EQ(test::number_of(error, "bytes"), requested);
    const Pinned afterwards(device(), 1 << 20);
    EXPECT_EQ(afterwards.bytes(), std::size_t{1} << 20);
}

TEST_P(PinnedTest, MovedFromMemoryIsEmptyAndItsUseIsRefused) {
    Pinned from(device(), 64);
    const Pinned to = std::move(from);
    EXPECT_EQ(from.bytes(), 0u);  // NOLINT(bugprone-use-after-move): tests the moved-from state
    EXPECT_EQ(from.data(), nullptr);
    expect_error([&] { (void)from.read(); }, ErrorCode::released, "texton::Pinned");
    expect_error([&] { (void)from.view(); }, ErrorCode::released, "texton::Pinned");
    expect_error([&] { (void)from.options(); }, ErrorCode::released, "texton::Pinned");
    expect_error([&] { (void)from.device_pointer(); }, ErrorCode::released, "texton::Pinned");
    expect_error([&] { (void)from.device(); }, ErrorCode::released, "texton::Pinned");
    EXPECT_EQ(to.bytes(), 64u);
}

}  // namespace
}  // namespace texton
