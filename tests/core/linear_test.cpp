#include <texton/linear.h>

#include <limits>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/pool.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

class LinearTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, LinearTest, test::every_device(), test::device_label);

TEST_P(LinearTest, WrittenBytesAreReadBack) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{511}, std::size_t{4097}, std::size_t{3} << 20}) {
        const Linear memory(device(), bytes);
        EXPECT_EQ(memory.bytes(), bytes);
        EXPECT_EQ(memory.device(), device());
        EXPECT_NE(memory.data(), nullptr);
        EXPECT_EQ(memory.view().kind(), MemoryKind::linear);
        EXPECT_EQ(memory.view().extent(), Extent{bytes});
        const test::Bytes written = test::pattern(bytes, 3);
        test::upload(memory.view(), written);
        EXPECT_TRUE(test::same_bytes(test::download(memory.view()), written));
    }
}

TEST_P(LinearTest, MemoryIsAlignedForTextures) {
    const Linear first(device(), 1);
    const Linear second(device(), 1);
    for (const Linear* memory : {&first, &second}) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->data()) % device().limits().texture_alignment, 0u);
    }
    EXPECT_NE(first.data(), second.data());
}

TEST_P(LinearTest, TexelsArePacked) {
    const Linear memory(device(), Format::rgba16_float, {7, 5, 3});
    EXPECT_EQ(memory.bytes(), 7u * 5 * 3 * 8);
    const View view = memory.view(Format::rgba16_float, {7, 5, 3});
    EXPECT_EQ(view.pitch(), 56u);
    EXPECT_EQ(view.slice_pitch(), 280u);
    EXPECT_EQ(Linear(device(), Format::bc1_unorm, {5, 5}).bytes(), 32u);
    EXPECT_EQ(Linear(device(), Format::nv12, {64, 64}).bytes(), 6144u);
    EXPECT_EQ(memory.view(Format::r8_uint, {840}).extent(), Extent{840});
}

TEST_P(LinearTest, AViewLargerThanTheMemoryIsRefusedWithBothSizes) {
    const Linear memory(device(), 100);
    const Error error = expect_error(
        [&] {
            (void)memory.view(Format::r32_uint, {13, 2});
        },
        ErrorCode::out_of_bounds, "texton::Linear", {"13 x 2", "104", "100"});
    EXPECT_EQ(test::number_of(error, "bytes"), 104u);
    EXPECT_EQ(test::number_of(error, "size"), 100u);
    expect_error(
        [&] {
            (void)memory.view(Format::r8_uint, {0, 2});
        },
        ErrorCode::bad_argument, "texton::Linear", {"0 x 2"});
    expect_error([&] { (void)memory.view(Format::nv12, {8, 8}); }, ErrorCode::bad_argument, "texton::Linear", {"nv12"});
    expect_error([&] { (void)memory.view(Format::r8_uint, {kMax, kMax}); }, ErrorCode::overflow, "texton::");
}

TEST_P(LinearTest, ZeroBytesAreRefused) {
    const Stream stream(device());
    expect_error([&] { Linear memory(device(), 0); }, ErrorCode::bad_argument, "texton::Linear", {"0 bytes"});
    expect_error(
        [&] {
            Linear memory(device(), Format::r8_uint, {0, 8});
        },
        ErrorCode::bad_argument, "texton::Linear", {"0"});
    expect_error([&] { (void)Linear::async(0, stream); }, ErrorCode::bad_argument, "texton::Linear", {"0 bytes"});
}

TEST_P(LinearTest, AnOverflowingSizeIsRefused) {
    expect_error(
        [&] {
            Linear memory(device(), Format::rgba32_float, {std::size_t{1} << 32, std::size_t{1} << 32});
        },
        ErrorCode::overflow, "texton::", {"4294967296"});
}

TEST_P(LinearTest, OutOfMemoryReportsRequestedAndFreeBytes) {
    const std::size_t requested = device().properties().total_memory * 2;
    const std::size_t free_before = device().memory().free;
    const auto check = [&](const Error& error) {
        EXPECT_EQ(test::number_of(error, "bytes"), requested);
        const std::uint64_t free = test::number_of(error, "free");
        EXPECT_GT(free, 0u);
        EXPECT_LT(free, requested);
        EXPECT_NE(std::string(error.what()).find(std::to_string(free)), std::string::npos) << error.what();
        EXPECT_TRUE(!on_cpu() || error.call().empty()) << error.what();
    };
    check(expect_error([&] { Linear memory(device(), requested); }, ErrorCode::out_of_memory, "texton::Linear",
                       {std::to_string(requested)}));
    const Stream stream(device());
    check(expect_error([&] { (void)Linear::async(requested, stream); }, ErrorCode::out_of_memory, "texton::Linear",
                       {std::to_string(requested)}));
    expect_error([&] { Linear memory(device(), kMax); }, ErrorCode::out_of_memory, "texton::Linear");
    EXPECT_GE(device().memory().free + (on_cpu() ? 0 : std::size_t{8} << 20), free_before);
    const Linear afterwards(device(), 1 << 20);  // the device still works
    fill(afterwards.view(), std::uint8_t{1});
    EXPECT_TRUE(test::all_bytes(test::download(afterwards.view()), 1));
}

TEST_P(LinearTest, MovedFromMemoryIsEmptyAndItsUseIsRefused) {
    Linear from(device(), 64);
    const std::byte* address = from.data();
    const Linear to = std::move(from);
    EXPECT_EQ(to.data(), address);
    EXPECT_EQ(from.bytes(), 0u);  // NOLINT(bugprone-use-after-move): tests the moved-from state
    EXPECT_EQ(from.data(), nullptr);
    expect_error([&] { (void)from.view(); }, ErrorCode::released, "texton::Linear", {"moved from"});
    expect_error([&] { (void)from.view(Format::r8_uint, {1}); }, ErrorCode::released, "texton::Linear");
    expect_error([&] { (void)from.device(); }, ErrorCode::released, "texton::Linear");
    const Stream stream(device());
    expect_error([&] { from.free(stream); }, ErrorCode::released, "texton::Linear");
    const Linear never;
    expect_error([&] { (void)never.view(); }, ErrorCode::released, "texton::Linear");
}

TEST_P(LinearTest, AssignmentFreesThePreviousMemory) {
    constexpr std::size_t kBytes = 64 << 20;
    Linear memory(device(), kBytes);
    const std::size_t free_with_one = device().memory().free;
    for (int i = 0; i < 8; ++i) memory = Linear(device(), kBytes);
    // Tools that check memory may keep some of their own for each allocation that exists at the same time.
    EXPECT_GE(device().memory().free + 2 * kBytes, free_with_one);
    memory = Linear();
    EXPECT_EQ(memory.bytes(), 0u);
}

TEST_P(LinearTest, PoolMemoryIsWrittenAndReadInStreamOrder) {
    const Stream stream(device());
    const test::Bytes written = test::pattern(100'003, 4);
    test::Bytes seen(written.size());
    {
        const Linear memory = Linear::async(written.size(), stream);
        EXPECT_EQ(memory.bytes(), written.size());
        EXPECT_EQ(memory.device(), device());
        copy(memory.view(), host_view(std::span(written)), stream);
        copy(host_view(std::span(seen)), memory.view(), stream);
    }
    stream.synchronize();
    EXPECT_TRUE(test::same_bytes(seen, written));
}

TEST_P(LinearTest, FreeOnAStreamReleasesTheMemoryAndItsViews) {
    const Stream stream(device());
    Linear memory = Linear::async(4096, stream);
    const View view = memory.view();
    memory.free(stream);
    EXPECT_EQ(memory.bytes(), 0u);
    expect_error([&] { (void)memory.view(); }, ErrorCode::released, "texton::Linear");
    expect_error([&] { memory.free(stream); }, ErrorCode::released, "texton::Linear");
    expect_error([&] { fill(view, std::uint8_t{1}, stream); }, ErrorCode::released, "texton::fill");
    test::Bytes host(4096);
    expect_error([&] { copy(host_view(std::span(host)), view, stream); }, ErrorCode::released, "texton::copy");
    expect_error([&] { copy(view, host_view(std::span(host)), stream); }, ErrorCode::released, "texton::copy");
    stream.synchronize();
}

TEST_P(LinearTest, FreeingNonPoolMemoryOnAStreamIsRefused) {
    const Stream stream(device());
    Linear memory(device(), 4096);
    expect_error([&] { memory.free(stream); }, ErrorCode::not_permitted, "texton::Linear", {"pool"});
    EXPECT_EQ(memory.bytes(), 4096u);
    fill(memory.view(), std::uint8_t{3});
    EXPECT_TRUE(test::all_bytes(test::download(memory.view()), 3));
}

TEST_P(LinearTest, FreeOnAnotherStreamFollowsTheOrderOfTheOtherStream) {
    const Stream first(device());
    const Stream second(device());
    Linear memory = Linear::async(1 << 20, first);
    fill(memory.view(), std::uint8_t{9}, first);
    const Event filled(device(), EventTiming::off);
    filled.record(first);
    second.wait(filled);
    test::Bytes seen(1 << 20);
    copy(host_view(std::span(seen)), memory.view(), second);
    memory.free(second);
    second.synchronize();
    EXPECT_TRUE(test::all_bytes(seen, 9));
}

TEST_P(LinearTest, FreeOnAStreamOfAnotherKindOfDeviceIsRefused) {
    const auto devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
    const Stream own(device());
    const Stream other(device() == devices[0] ? devices[1] : devices[0]);
    Linear memory = Linear::async(4096, own);
    expect_error([&] { memory.free(other); }, ErrorCode::wrong_device, "texton::Linear");
    EXPECT_EQ(memory.bytes(), 4096u);
}

TEST_P(LinearTest, PoolMemoryOutlivesItsStreamHandle) {
    Linear memory;
    {
        const Stream stream(device());
        memory = Linear::async(1 << 16, stream);
        fill(memory.view(), std::uint8_t{5}, stream);
        stream.synchronize();
    }
    EXPECT_TRUE(test::all_bytes(test::download(memory.view()), 5));
}

}  // namespace
}  // namespace texton
