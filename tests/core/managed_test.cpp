#include <texton/managed.h>

#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::all_bytes;
using test::download;
using test::expect_error;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

class ManagedTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        if (!device().properties().concurrent_managed_access)
            GTEST_SKIP() << "the host and the device cannot access managed memory concurrently";
    }
    Location here() const { return Location::device(device()); }
};
INSTANTIATE_TEST_SUITE_P(Devices, ManagedTest, test::every_device(), test::device_label);

TEST_P(ManagedTest, HostAndDeviceUseTheSameAddress) {
    const Managed memory(device(), kMiB);
    EXPECT_EQ(memory.bytes(), kMiB);
    EXPECT_EQ(memory.device(), device());
    EXPECT_EQ(memory.view().kind(), MemoryKind::managed);
    EXPECT_EQ(memory.view().data(), memory.data());
    std::memset(memory.data(), 0x3A, kMiB);
    const Linear there(device(), kMiB);
    copy(there.view(), memory.view());
    EXPECT_TRUE(all_bytes(download(there.view()), 0x3A));
    const Stream stream(device());
    fill(memory.view(), std::uint8_t{0x3B}, stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes({memory.data(), kMiB}, 0x3B));
}

TEST_P(ManagedTest, TexelsArePackedAndViewsOutOfBoundsAreRefused) {
    const Managed memory(device(), 100);
    EXPECT_EQ(memory.view(Format::r32_uint, {5, 5}).pitch(), 20u);
    expect_error([&] { (void)memory.view(Format::r32_uint, {26}); }, ErrorCode::out_of_bounds, "texton::Managed",
                 {"104", "100"});
}

TEST_P(ManagedTest, EveryAttachmentWorks) {
    const Stream stream(device());
    const Managed global(device(), kMiB, Attach::global);
    const Managed host(device(), kMiB, Attach::host);
    std::memset(host.data(), 1, kMiB);
    host.attach(stream, Attach::single);
    stream.synchronize();
    fill(host.view(), std::uint8_t{2}, stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes({host.data(), kMiB}, 2));
    host.attach(stream, Attach::host);
    stream.synchronize();
    std::memset(host.data(), 3, kMiB);
    host.attach(stream, Attach::global);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(download(host.view()), 3));
    global.attach(Stream::default_of(device()), Attach::host);
    Stream::default_of(device()).synchronize();
    expect_error([&] { global.attach(Stream::default_of(device()), Attach::single); }, ErrorCode::bad_argument,
                 "texton::Managed", {"stream"});
    expect_error([&] { Managed memory(device(), kMiB, Attach::single); }, ErrorCode::bad_argument, "texton::Managed",
                 {"single"});
}

TEST_P(ManagedTest, NewMemoryHasNoAdvice) {
    const Managed memory(device(), 4 * kMiB);
    EXPECT_FALSE(memory.read_mostly());
    EXPECT_EQ(memory.preferred_location(), std::nullopt);
    EXPECT_THAT(memory.accessed_by(), IsEmpty());
    EXPECT_EQ(memory.last_prefetch(), std::nullopt);
    const RangeAttributes all = memory.attributes();
    EXPECT_FALSE(all.read_mostly);
    EXPECT_EQ(all.preferred_location, std::nullopt);
    EXPECT_THAT(all.accessed_by, IsEmpty());
    EXPECT_EQ(all.last_prefetch, std::nullopt);
}

TEST_P(ManagedTest, ReadMostlyIsSetAndUnset) {
    const Managed memory(device(), 4 * kMiB);
    memory.advise(Advice::set_read_mostly);
    EXPECT_TRUE(memory.read_mostly());
    EXPECT_TRUE(memory.attributes().read_mostly);
    memory.advise(Advice::unset_read_mostly);
    EXPECT_FALSE(memory.read_mostly());
    EXPECT_FALSE(memory.attributes().read_mostly);
}

TEST_P(ManagedTest, EveryPreferredLocationIsSetAndUnset) {
    const Managed memory(device(), 4 * kMiB);
    for (const Location& location : {here(), Location::host(), Location::host_numa(0)}) {
        SCOPED_TRACE(to_string(location));
        memory.advise(Advice::set_preferred_location, location);
        const auto told = memory.preferred_location();
        EXPECT_EQ(memory.attributes().preferred_location, told);
        const bool untold = device().kind() == DeviceKind::cuda && location.kind == LocationKind::host_numa && !told;
        EXPECT_TRUE(told == location || untold);
        memory.advise(Advice::unset_preferred_location);
        EXPECT_EQ(memory.preferred_location(), std::nullopt);
    }
    memory.advise(Advice::set_preferred_location, Location::host_numa_current());
    if (on_cpu()) {
        EXPECT_NE(memory.preferred_location(), std::nullopt);
    }
    memory.advise(Advice::unset_preferred_location, Location::host_numa_current());
    EXPECT_EQ(memory.preferred_location(), std::nullopt);
}

TEST_P(ManagedTest, EveryAccessorIsSetAndUnset) {
    const Managed memory(device(), 4 * kMiB);
    memory.advise(Advice::set_accessed_by, here());
    EXPECT_THAT(memory.accessed_by(), ElementsAre(here()));
    memory.advise(Advice::set_accessed_by, Location::host());
    EXPECT_THAT(memory.accessed_by(), UnorderedElementsAre(here(), Location::host()));
    EXPECT_THAT(memory.attributes().accessed_by, UnorderedElementsAre(here(), Location::host()));
    memory.advise(Advice::unset_accessed_by, here());
    EXPECT_THAT(memory.accessed_by(), ElementsAre(Location::host()));
    memory.advise(Advice::unset_accessed_by, Location::host());
    EXPECT_THAT(memory.accessed_by(), IsEmpty());
}

TEST_P(ManagedTest, AdviceCanNameAnotherDevice) {
    const auto other = other_hardware();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    const Managed memory(device(), 4 * kMiB);
    memory.advise(Advice::set_accessed_by, Location::device(*other));
    memory.advise(Advice::set_preferred_location, Location::device(*other));
    EXPECT_THAT(memory.accessed_by(), ElementsAre(Location::device(*other)));
    EXPECT_EQ(memory.preferred_location(), Location::device(*other));
}

TEST_P(ManagedTest, PrefetchWorksForEveryLocationAndReportsTheLastLocation) {
    const Managed memory(device(), 4 * kMiB);
    const Stream stream(device());
    std::memset(memory.data(), 0x4D, memory.bytes());
    for (const Location& location : {here(), Location::host(), Location::host_numa(0), here()}) {
        SCOPED_TRACE(to_string(location));
        memory.prefetch(location, stream);
        stream.synchronize();
        EXPECT_EQ(memory.last_prefetch(), location);
        EXPECT_EQ(memory.attributes().last_prefetch, location);
        EXPECT_TRUE(all_bytes(download(memory.view()), 0x4D));
    }
    memory.prefetch(Location::host_numa_current(), stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes({memory.data(), memory.bytes()}, 0x4D));
}

TEST_P(ManagedTest, AdviceCanApplyToAPartOfTheMemory) {
    const Managed memory(device(), 8 * kMiB);
    const ByteRange first{0, 4 * kMiB};
    const ByteRange second{4 * kMiB, 0};  // up to the end
    const Stream stream(device());
    memory.advise(Advice::set_read_mostly, Location::none(), first);
    EXPECT_TRUE(memory.read_mostly(first));
    EXPECT_FALSE(memory.read_mostly(second));
    EXPECT_FALSE(memory.read_mostly());  // true only if all of the memory has the advice
    memory.advise(Advice::set_preferred_location, here(), first);
    EXPECT_EQ(memory.preferred_location(first), here());
    EXPECT_EQ(memory.preferred_location(second), std::nullopt);
    EXPECT_EQ(memory.preferred_location(), std::nullopt);
    memory.advise(Advice::set_accessed_by, Location::host(), second);
    EXPECT_THAT(memory.accessed_by(second), ElementsAre(Location::host()));
    EXPECT_THAT(memory.accessed_by(first), IsEmpty());
    EXPECT_THAT(memory.accessed_by(), IsEmpty());
    memory.prefetch(here(), stream, second);
    stream.synchronize();
    EXPECT_EQ(memory.last_prefetch(second), here());
    EXPECT_EQ(memory.last_prefetch(first), std::nullopt);
    EXPECT_EQ(memory.last_prefetch(), std::nullopt);

    const RangeAttributes a = memory.attributes(first);
    EXPECT_TRUE(a.read_mostly);
    EXPECT_EQ(a.preferred_location, here());
    EXPECT_THAT(a.accessed_by, IsEmpty());
    const RangeAttributes b = memory.attributes(second);
    EXPECT_FALSE(b.read_mostly);
    EXPECT_THAT(b.accessed_by, ElementsAre(Location::host()));
    EXPECT_EQ(b.last_prefetch, here());
}

TEST_P(ManagedTest, WrongLocationsAreRefused) {
    const Managed memory(device(), kMiB);
    const Stream stream(device());
    const Location foreign{LocationKind::device, 0, on_cpu() ? DeviceKind::cuda : DeviceKind::cpu};
    const auto advise = [&](Advice advice, const Location& location) {
        SCOPED_TRACE(to_string(location));
        expect_error([&] { memory.advise(advice, location); }, ErrorCode::wrong_location, "texton::Managed",
                     {to_string(location)});
    };
    for (const Location& location : {Location::none(), foreign}) {
        advise(Advice::set_preferred_location, location);
        advise(Advice::set_accessed_by, location);
        advise(Advice::unset_accessed_by, location);
        expect_error([&] { memory.prefetch(location, stream); }, ErrorCode::wrong_location, "texton::Managed");
    }
    for (const Location& location : {Location::host_numa(0), Location::host_numa_current()}) {
        advise(Advice::set_accessed_by, location);
        advise(Advice::unset_accessed_by, location);
    }
    EXPECT_THAT(memory.accessed_by(), IsEmpty());
    EXPECT_EQ(memory.preferred_location(), std::nullopt);
}

TEST_P(ManagedTest, MissingDevicesAndNumaNodesAreRefused) {
    const Managed memory(device(), kMiB);
    const Stream stream(device());
    for (const Location& location : {Location{LocationKind::device, 63, device().kind()}, Location::host_numa(900)}) {
        SCOPED_TRACE(to_string(location));
        for (const auto& action :
             {std::function<void()>([&] { memory.advise(Advice::set_preferred_location, location); }),
              std::function<void()>([&] { memory.prefetch(location, stream); })}) {
            try {
                action();
                ADD_FAILURE() << "nothing was thrown";
            } catch (const Error& error) {
                test::expect_well_formed(error);
                EXPECT_EQ(error.object(), "texton::Managed");
            }
        }
    }
}

TEST_P(ManagedTest, RangesOutOfBoundsAreRefused) {
    const Managed memory(device(), kMiB);
    const Stream stream(device());
    for (const ByteRange& range : {ByteRange{kMiB, 0}, ByteRange{kMiB - 1, 2}, ByteRange{0, kMiB + 1},
                                   ByteRange{kMax, 2}, ByteRange{1, kMax}, ByteRange{kMax, 0}}) {
        const auto refused = [&](const std::function<void()>& action) {
            expect_error(action, ErrorCode::out_of_bounds, "texton::Managed", {std::to_string(kMiB)});
        };
        refused([&] { memory.advise(Advice::set_read_mostly, Location::none(), range); });
        refused([&] { memory.prefetch(here(), stream, range); });
        refused([&] { (void)memory.read_mostly(range); });
        refused([&] { (void)memory.preferred_location(range); });
        refused([&] { (void)memory.accessed_by(range); });
        refused([&] { (void)memory.last_prefetch(range); });
        refused([&] { (void)memory.attributes(range); });
    }
}

TEST_P(ManagedTest, AStreamOfAnotherKindOfDeviceIsRefused) {
    const auto devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
    const Managed memory(device(), kMiB);
    const Stream other(on_cpu() ? devices[1] : devices[0]);
    expect_error([&] { memory.prefetch(here(), other); }, ErrorCode::wrong_device, "texton::Managed");
    expect_error([&] { memory.attach(other, Attach::global); }, ErrorCode::wrong_device, "texton::Managed");
}

TEST_P(ManagedTest, ZeroBytesAndSizesAboveTheFreeMemoryAreRefused) {
    expect_error([&] { Managed memory(device(), 0); }, ErrorCode::bad_argument, "texton::Managed", {"0 bytes"});
    const std::size_t requested = device().properties().total_memory * 2;
    const std::size_t before = device().memory().free;
    const Error error = expect_error([&] { Managed memory(device(), requested); }, ErrorCode::out_of_memory,
                                     "texton::Managed", {std::to_string(requested)});
    EXPECT_EQ(test::number_of(error, "bytes"), requested);
    EXPECT_LT(test::number_of(error, "free"), requested);
    EXPECT_GE(device().memory().free + (on_cpu() ? 0 : 8 * kMiB), before);
}

TEST_P(ManagedTest, MovedFromMemoryIsEmptyAndItsUseIsRefused) {
    Managed from(device(), kMiB);
    const Managed to = std::move(from);
    const Stream stream(device());
    EXPECT_EQ(from.bytes(), 0u);  // NOLINT(bugprone-use-after-move): tests the moved-from state
    EXPECT_EQ(from.data(), nullptr);
    const auto released = [](const std::function<void()>& action) {
        expect_error(action, ErrorCode::released, "texton::Managed");
    };
    released([&] { (void)from.view(); });
    released([&] { (void)from.device(); });
    released([&] { from.advise(Advice::set_read_mostly); });
    released([&] { from.prefetch(here(), stream); });
    released([&] { from.attach(stream, Attach::global); });
    released([&] { (void)from.read_mostly(); });
    released([&] { (void)from.preferred_location(); });
    released([&] { (void)from.accessed_by(); });
    released([&] { (void)from.last_prefetch(); });
    released([&] { (void)from.attributes(); });
    EXPECT_EQ(to.bytes(), kMiB);
}

}  // namespace
}  // namespace texton
