#include <texton/registered.h>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>
#include <texton/pinned.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/pages.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

using test::kPage;
using test::Pages;

class RegisteredTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, RegisteredTest, test::every_device(), test::device_label);

TEST_P(RegisteredTest, EveryFlagWorksOrIsRefusedWithTheReason) {
    const Pages pages(4);
    const Linear there(device(), pages.size());
    for (unsigned flags = 0; flags < 8; ++flags) {
        const RegisterOptions options{
            .portable = (flags & 1) != 0, .mapped = (flags & 2) != 0, .read_only = (flags & 4) != 0};
        SCOPED_TRACE(flags);
        if (options.read_only && !device().properties().host_register_read_only) {
            expect_error([&] { Registered memory(device(), pages.all(), options); }, ErrorCode::unsupported,
                         "texton::Registered", {"read"});
            continue;
        }
        const test::Bytes bytes = test::pattern(pages.size(), flags);
        std::copy(bytes.begin(), bytes.end(), pages.data());
        const Registered memory(device(), pages.all(), options);
        EXPECT_EQ(memory.data(), pages.data());
        EXPECT_EQ(memory.bytes(), pages.size());
        EXPECT_EQ(memory.device(), device());
        EXPECT_EQ(memory.view().kind(), MemoryKind::registered);
        copy(there.view(), memory.view());
        EXPECT_TRUE(test::same_bytes(test::download(there.view()), bytes));
    }
}

TEST_P(RegisteredTest, OrdinaryMemoryIsRefusedAsIoMemoryOrAccepted) {
    const Pages pages(1);
    try {
        const Registered memory(device(), pages.all(), {.io_memory = true});
        EXPECT_EQ(memory.bytes(), pages.size());  // a driver may also accept ordinary memory
    } catch (const Error& error) {
        test::expect_well_formed(error);
        EXPECT_EQ(error.object(), "texton::Registered");
    }
    const Registered afterwards(device(), pages.all());  // the memory is not left registered
    EXPECT_EQ(afterwards.bytes(), pages.size());
}

TEST_P(RegisteredTest, MappedMemoryHasADevicePointer) {
    const Pages pages(1);
    const Registered memory(device(), pages.all(), {.mapped = true});
    EXPECT_NE(memory.device_pointer(), nullptr);
    EXPECT_EQ(device_pointer(device(), pages.data() + 8), memory.device_pointer() + 8);
}

TEST_P(RegisteredTest, OrdinaryMemoryHasNoDevicePointer) {
    std::vector<std::byte> ordinary(64);
    expect_error([&] { (void)device_pointer(device(), ordinary.data()); }, ErrorCode::not_registered,
                 "texton::device_pointer");
    expect_error([&] { (void)device_pointer(device(), nullptr); }, ErrorCode::not_registered, "texton::device_pointer");
}

TEST_P(RegisteredTest, OverlappingRegistrationsAreRefused) {
    const Pages pages(4);
    const Registered memory(device(), static_cast<void*>(pages.data() + kPage), 2 * kPage);
    const auto refused = [&](std::size_t first, std::size_t count) {
        expect_error([&] { Registered again(device(), static_cast<void*>(pages.data() + first), count); },
                     ErrorCode::bad_argument, "texton::Registered", {"registered"});
    };
    refused(kPage, 2 * kPage);      // the same range
    refused(0, 2 * kPage);          // its beginning
    refused(2 * kPage, 2 * kPage);  // its end
    refused(kPage + 64, 64);        // inside
    refused(0, 4 * kPage);          // around it
    const Registered before(device(), static_cast<void*>(pages.data()), kPage);
    const Registered after(device(), static_cast<void*>(pages.data() + 3 * kPage), kPage);
    EXPECT_EQ(before.bytes() + after.bytes(), 2 * kPage);
}

TEST_P(RegisteredTest, RegisteringPinnedMemoryIsRefused) {
    const Pinned memory(device(), 4 * kPage);
    expect_error([&] { Registered again(device(), static_cast<void*>(memory.data() + kPage), kPage); },
                 ErrorCode::bad_argument, "texton::Registered", {"pinned"});
}

TEST_P(RegisteredTest, MemoryCanBeRegisteredAgainAfterItsRelease) {
    const Pages pages(2);
    for (int i = 0; i < 3; ++i) {
        const Registered memory(device(), pages.all());
        EXPECT_EQ(memory.bytes(), pages.size());
    }
    expect_error([&] { (void)device_pointer(device(), pages.data()); }, ErrorCode::not_registered,
                 "texton::device_pointer");
}

TEST_P(RegisteredTest, CopyingAPartlyRegisteredRangeIsRefused) {
    const Pages pages(4);
    const Registered memory(device(), static_cast<void*>(pages.data() + kPage), 2 * kPage);
    const Linear there(device(), pages.size());
    const Stream stream(device());
    const auto refused = [&](std::size_t first, std::size_t count) {
        const View host = pages.view(first, count);
        const View part = there.view().region({{}, {count}});
        expect_error([&] { copy(part, host); }, ErrorCode::not_registered, "texton::copy", {"registered"});
        expect_error([&] { copy(host, part); }, ErrorCode::not_registered, "texton::copy", {"registered"});
        expect_error([&] { copy(part, host, stream); }, ErrorCode::not_registered, "texton::copy", {"registered"});
        CopyBatch batch;
        expect_error([&] { batch.add(part, host); }, ErrorCode::not_registered, "texton::", {"registered"});
        expect_error([&] { fill(host, std::uint8_t{1}); }, ErrorCode::not_registered, "texton::fill", {"registered"});
    };
    refused(0, 2 * kPage);
    refused(0, 4 * kPage);
    refused(kPage - 1, 2);
    refused(3 * kPage - 1, 2);
    // Ranges completely inside or outside the registered memory are allowed.
    for (const std::size_t first : {std::size_t{0}, kPage, 3 * kPage}) {
        const View host = pages.view(first, kPage);
        const test::Bytes bytes = test::pattern(kPage, static_cast<unsigned>(first));
        test::upload(host, bytes);
        const View part = there.view().region({{}, {kPage}});
        copy(part, host);
        EXPECT_TRUE(test::same_bytes(test::download(part), bytes));
    }
}

TEST_P(RegisteredTest, CopyingAcrossTwoAdjacentRegistrationsIsRefused) {
    const Pages pages(2);
    const Registered first(device(), static_cast<void*>(pages.data()), kPage);
    const Registered second(device(), static_cast<void*>(pages.data() + kPage), kPage);
    const Linear there(device(), pages.size());
    expect_error([&] { copy(there.view(), pages.view(0, 2 * kPage)); }, ErrorCode::not_registered, "texton::copy");
}

TEST_P(RegisteredTest, NullPointersAndZeroBytesAreRefused) {
    const Pages pages(1);
    expect_error([&] { Registered memory(device(), nullptr, kPage); }, ErrorCode::bad_argument, "texton::Registered",
                 {"null"});
    expect_error([&] { Registered memory(device(), static_cast<void*>(pages.data()), 0); }, ErrorCode::bad_argument,
                 "texton::Registered", {"0 bytes"});
}

TEST_P(RegisteredTest, BytesPastAllAddressesAreRefused) {
    const Pages pages(2);
    const Registered first(device(), static_cast<void*>(pages.data()), kPage);
    expect_error([&] { Registered memory(device(), static_cast<void*>(pages.data() + kPage), SIZE_MAX - kPage); },
                 ErrorCode::overflow, "texton::Registered", {"address space"});
}

TEST_P(RegisteredTest, AMovedFromObjectIsEmptyAndItsUseIsRefused) {
    const Pages pages(1);
    Registered from(device(), pages.all());
    const Registered to = std::move(from);
    EXPECT_EQ(from.bytes(), 0u);  // NOLINT(bugprone-use-after-move): tests the moved-from state
    expect_error([&] { (void)from.view(); }, ErrorCode::released, "texton::Registered");
    expect_error([&] { (void)from.device_pointer(); }, ErrorCode::released, "texton::Registered");
    expect_error([&] { (void)from.device(); }, ErrorCode::released, "texton::Registered");
    EXPECT_EQ(to.bytes(), pages.size());
}

}  // namespace
}  // namespace texton
