#include <texton/physical.h>

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::all_bytes;
using test::download;
using test::expect_error;
using test::same_bytes;

class PhysicalTest : public test::OnEveryDevice {
protected:
    void SetUp() override {
        OnEveryDevice::SetUp();
        if (IsSkipped() || HasFatalFailure()) return;
        if (!device().properties().virtual_memory) GTEST_SKIP() << "the device cannot map memory to addresses";
        unit_ = Physical::granularity(device());
    }
    std::size_t unit() const { return unit_; }

private:
    std::size_t unit_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, PhysicalTest, test::every_device(), test::device_label);

TEST_P(PhysicalTest, GranularityIsAPowerOfTwoForEveryUse) {
    std::vector<PhysicalInfo> uses{{}, {.handle = HandleType::file_descriptor}, {.tile_pool = true}};
    if (device().properties().host_numa_pools) uses.push_back({.location = Location::host_numa(0)});
    for (const PhysicalInfo& use : uses) {
        const std::size_t minimum = Physical::granularity(device(), use);
        const std::size_t recommended = Physical::granularity(device(), use, Granularity::recommended);
        EXPECT_GT(minimum, 0u);
        EXPECT_EQ(minimum & (minimum - 1), 0u);
        EXPECT_GE(recommended, minimum);
        EXPECT_EQ(recommended % minimum, 0u);
    }
    EXPECT_EQ(unit(), std::size_t{2} << 20);
}

TEST_P(PhysicalTest, MemoryReportsItsSizeDeviceAndInfo) {
    const Physical memory(device(), unit() * 2, {.handle = HandleType::file_descriptor});
    EXPECT_EQ(memory.bytes(), unit() * 2);
    EXPECT_EQ(memory.device(), device());
    EXPECT_EQ(memory.info().location, Location::device(device()));
    EXPECT_EQ(memory.info().handle, HandleType::file_descriptor);
    EXPECT_FALSE(memory.info().tile_pool);
}

TEST_P(PhysicalTest, ASizeOffTheGranularityIsRefusedAndTheNextValidSizeIsNamed) {
    const Error error = expect_error([&] { Physical memory(device(), unit() + 1); }, ErrorCode::bad_argument,
                                     "texton::Physical", {std::to_string(unit() + 1), std::to_string(unit() * 2)});
    EXPECT_EQ(test::number_of(error, "granularity"), unit());
    EXPECT_EQ(test::number_of(error, "next"), unit() * 2);
    expect_error([&] { Physical memory(device(), 0); }, ErrorCode::bad_argument, "texton::Physical", {"0 bytes"});
    expect_error([&] { AddressRange range(device(), unit() / 2); }, ErrorCode::bad_argument, "texton::AddressRange");
    expect_error([&] { AddressRange range(device(), 0); }, ErrorCode::bad_argument, "texton::AddressRange",
                 {"0 bytes"});
    expect_error([&] { AddressRange range(device(), unit(), 3 * unit()); }, ErrorCode::bad_argument,
                 "texton::AddressRange");
}

TEST_P(PhysicalTest, MappedMemoryKeepsWrittenBytes) {
    const Physical memory(device(), unit() * 2);
    AddressRange range(device(), unit() * 4);
    EXPECT_EQ(range.bytes(), unit() * 4);
    EXPECT_EQ(range.device(), device());
    range.map(unit(), memory);
    range.set_access();
    const View all = range.view(Format::r8_uint, {unit() * 2}, unit());
    EXPECT_EQ(all.kind(), MemoryKind::mapped);
    EXPECT_EQ(all.data(), range.data() + unit());
    const test::Bytes bytes = test::pattern(unit() * 2, 1);
    test::upload(all, bytes);
    EXPECT_TRUE(same_bytes(download(all), bytes));
    const View texels = range.view(Format::rgba8_unorm, {100, 50}, unit() + 400);
    EXPECT_TRUE(same_bytes(download(texels), std::span(bytes).subspan(400, 20'000)));
}

TEST_P(PhysicalTest, AddressesHaveTheRequestedAlignment) {
    for (const std::size_t alignment : {std::size_t{0}, unit(), unit() * 8}) {
        const AddressRange range(device(), unit(), alignment);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.data()) % (alignment == 0 ? unit() : alignment), 0u);
    }
}

TEST_P(PhysicalTest, MemoryMappedAtTwoAddressesIsShared) {
    const Physical memory(device(), unit());
    AddressRange range(device(), unit() * 3);
    range.map(0, memory);
    range.map(unit() * 2, memory);
    range.set_access();
    const View low = range.view(Format::r8_uint, {unit()});
    const View high = range.view(Format::r8_uint, {unit()}, unit() * 2);
    const test::Bytes bytes = test::pattern(unit(), 2);
    test::upload(low, bytes);
    EXPECT_TRUE(same_bytes(download(high), bytes));
    fill(high, std::uint8_t{0x12});
    EXPECT_TRUE(all_bytes(download(low), 0x12));
}

TEST_P(PhysicalTest, AdjacentMappingsFormOneContiguousRange) {
    AddressRange range(device(), unit() * 3);
    for (std::size_t i = 0; i < 3; ++i) range.map(i * unit(), Physical(device(), unit()));
    range.set_access();
    const View all = range.view(Format::r8_uint, {unit() * 3});
    const test::Bytes bytes = test::pattern(unit() * 3, 3);
    test::upload(all, bytes);
    EXPECT_TRUE(same_bytes(download(all), bytes));
}

TEST_P(PhysicalTest, AMappingKeepsItsMemoryAlive) {
    AddressRange range(device(), unit());
    {
        const Physical memory(device(), unit());
        range.map(0, memory);
    }
    range.set_access();
    const View view = range.view(Format::r8_uint, {unit()});
    fill(view, std::uint8_t{0x99});
    EXPECT_TRUE(all_bytes(download(view), 0x99));
}

TEST_P(PhysicalTest, ContentsOutliveTheMapping) {
    const Physical memory(device(), unit());
    const test::Bytes bytes = test::pattern(unit(), 5);
    {
        AddressRange range(device(), unit());
        range.map(0, memory);
        range.set_access();
        test::upload(range.view(Format::r8_uint, {unit()}), bytes);
    }
    AddressRange range(device(), unit());
    range.map(0, memory);
    range.set_access();
    EXPECT_TRUE(same_bytes(download(range.view(Format::r8_uint, {unit()})), bytes));
}

TEST_P(PhysicalTest, ViewingMemoryWithoutMappingOrAccessIsRefused) {
    const Physical memory(device(), unit());
    AddressRange range(device(), unit() * 2);
    expect_error([&] { (void)range.view(Format::r8_uint, {1}); }, ErrorCode::not_permitted, "texton::AddressRange",
                 {"no access", "map()"});
    range.map(0, memory);
    expect_error([&] { (void)range.view(Format::r8_uint, {1}); }, ErrorCode::not_permitted, "texton::AddressRange",
                 {"access"});
    range.set_access();
    EXPECT_EQ(range.view(Format::r8_uint, {unit()}).extent(), Extent{unit()});
    expect_error([&] { (void)range.view(Format::r8_uint, {unit() + 1}); }, ErrorCode::not_permitted,
                 "texton::AddressRange", {std::to_string(unit())});
    expect_error([&] { (void)range.view(Format::r8_uint, {unit() * 2 + 1}); }, ErrorCode::out_of_bounds,
                 "texton::AddressRange");
    expect_error([&] { (void)range.view(Format::r8_uint, {1}, unit() * 2); }, ErrorCode::out_of_bounds,
                 "texton::AddressRange");
    expect_error([&] { (void)range.view(Format::r8_uint, {0}); }, ErrorCode::bad_argument, "texton::AddressRange");
}

TEST_P(PhysicalTest, UnmappingReleasesOnlyTheViewsOfTheUnmappedRange) {
    AddressRange range(device(), unit() * 2);
    range.map(0, Physical(device(), unit()));
    range.map(unit(), Physical(device(), unit()));
    range.set_access();
    const View low = range.view(Format::r8_uint, {unit()});
    const View high = range.view(Format::r8_uint, {unit()}, unit());
    const View both = range.view(Format::r8_uint, {2}, unit() - 1);
    fill(high, std::uint8_t{4});
    range.unmap(0);
    expect_error([&] { fill(low, std::uint8_t{1}); }, ErrorCode::released, "texton::fill", {"unmapped"});
    expect_error([&] { (void)download(both); }, ErrorCode::released, "texton::copy", {"unmapped"});
    EXPECT_TRUE(all_bytes(download(high), 4));
    expect_error([&] { (void)range.view(Format::r8_uint, {1}); }, ErrorCode::not_permitted, "texton::AddressRange");
    // Views of the old mapping stay released after memory is mapped again.
    range.map(0, Physical(device(), unit()));
    range.set_access();
    expect_error([&] { fill(low, std::uint8_t{1}); }, ErrorCode::released, "texton::fill");
    fill(range.view(Format::r8_uint, {unit()}), std::uint8_t{5});
}

TEST_P(PhysicalTest, InvalidMappingsAreRefused) {
    const Physical memory(device(), unit() * 2);
    AddressRange range(device(), unit() * 4);
    range.map(unit(), memory);
    const auto refused = [&](ErrorCode code, std::size_t offset) {
        expect_error([&] { range.map(offset, memory); }, code, "texton::AddressRange");
    };
    refused(ErrorCode::overlap, unit());
    refused(ErrorCode::overlap, 0);
    refused(ErrorCode::overlap, unit() * 2);
    refused(ErrorCode::out_of_bounds, unit() * 3);
    refused(ErrorCode::out_of_bounds, unit() * 4);
    refused(ErrorCode::out_of_bounds, std::size_t{0} - unit());
    refused(ErrorCode::bad_argument, unit() + 1);
    refused(ErrorCode::bad_argument, 4096);
    expect_error([&] { range.unmap(0); }, ErrorCode::bad_argument, "texton::AddressRange");
    expect_error([&] { range.unmap(unit() * 2); }, ErrorCode::bad_argument, "texton::AddressRange");
    // The failed calls did not change the existing mappings.
    range.set_access();
    fill(range.view(Format::r8_uint, {unit() * 2}, unit()), std::uint8_t{1});
}

TEST_P(PhysicalTest, AccessIsGrantedOnlyToDevicesAndNumaNodes) {
    AddressRange range(device(), unit());
    range.map(0, Physical(device(), unit()));
    expect_error([&] { range.set_access({}); }, ErrorCode::bad_argument, "texton::AddressRange");
    for (const Location& location :
         {Location::none(), Location::host(), Location::host_numa_current(),
          Location{LocationKind::device, 0, on_cpu() ? DeviceKind::cuda : DeviceKind::cpu}}) {
        const AccessGrant grant{location, Access::read_write};
        expect_error(
            [&] {
                range.set_access({&grant, 1});
            },
            ErrorCode::wrong_location, "texton::AddressRange", {to_string(location)});
    }
}

TEST_P(PhysicalTest, MappingTilePoolMemoryToAnAddressRangeIsRefused) {
    const PhysicalInfo info{.tile_pool = true};
    const Physical memory(device(), Physical::granularity(device(), info), info);
    EXPECT_TRUE(memory.info().tile_pool);
    AddressRange range(device(), memory.bytes());
    expect_error([&] { range.map(0, memory); }, ErrorCode::not_permitted, "texton::AddressRange", {"tile"});
    expect_error([&] { Physical wrong(device(), unit(), {.location = Location::host_numa(0), .tile_pool = true}); },
                 ErrorCode::wrong_location, "texton::Physical");
}

TEST_P(PhysicalTest, TheDeviceCanAccessMemoryOnANumaNode) {
    if (!device().properties().host_numa_pools) GTEST_SKIP() << "the device has no memory on NUMA nodes";
    const PhysicalInfo info{.location = Location::host_numa(0)};
    const std::size_t bytes = std::max(Physical::granularity(device(), info), unit());
    const Physical memory(device(), bytes, info);
    EXPECT_EQ(memory.info().location, Location::host_numa(0));
    AddressRange range(device(), bytes);
    range.map(0, memory);
    const std::array grants{AccessGrant{Location::device(device()), Access::read_write},
                            AccessGrant{Location::host_numa(0), Access::read_write}};
    range.set_access(grants);
    const View view = range.view(Format::r8_uint, {bytes});
    fill(view, std::uint8_t{0x27});
    EXPECT_TRUE(all_bytes(download(view), 0x27));
    EXPECT_EQ(range.data()[bytes - 1], std::byte{0x27});  // the host reads the memory directly
}

TEST_P(PhysicalTest, WrongLocationsAreRefused) {
    for (const Location& location :
         {Location::host(), Location::host_numa_current(), Location{LocationKind::device, 63, device().kind()},
          Location{LocationKind::device, 0, on_cpu() ? DeviceKind::cuda : DeviceKind::cpu}}) {
        SCOPED_TRACE(to_string(location));
        expect_error([&] { Physical memory(device(), unit(), {.location = location}); }, ErrorCode::wrong_location,
                     "texton::Physical");
        expect_error([&] { (void)Physical::granularity(device(), {.location = location}); }, ErrorCode::wrong_location,
                     "texton::Physical");
    }
}

TEST_P(PhysicalTest, ExportingMemoryWithoutAHandleTypeIsRefused) {
    const Physical memory(device(), unit());
    for (const HandleType type : {HandleType::none, HandleType::file_descriptor, HandleType::fabric}) {
        expect_error([&] { (void)memory.export_handle(type); }, ErrorCode::not_permitted, "texton::Physical",
                     {"handle"});
    }
}

TEST_P(PhysicalTest, OutOfMemoryReportsRequestedAndFreeBytes) {
    const std::size_t requested = device().properties().total_memory / unit() * unit() * 2;
    const std::size_t before = device().memory().free;
    const Error error = expect_error([&] { Physical memory(device(), requested); }, ErrorCode::out_of_memory,
                                     "texton::Physical", {std::to_string(requested)});
    EXPECT_EQ(test::number_of(error, "bytes"), requested);
    EXPECT_LT(test::number_of(error, "free"), requested);
    EXPECT_GE(device().memory().free + (on_cpu() ? 0 : std::size_t{8} << 20), before);
}

TEST_P(PhysicalTest, MemoryIsCountedOnceDuringItsLifetime) {
    const std::size_t before = device().memory().free;
    {
        const Physical memory(device(), unit() * 16);
        const Physical shared = memory;  // NOLINT(performance-unnecessary-copy-initialization): counted once
        EXPECT_LE(device().memory().free, before - unit() * 16);
        EXPECT_GE(device().memory().free, before - unit() * 24);
    }
    EXPECT_GE(device().memory().free + (on_cpu() ? 0 : std::size_t{8} << 20), before);
}

TEST_P(PhysicalTest, MappingMemoryOfAnotherDeviceIsRefused) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    const Physical memory(*other, unit());
    AddressRange range(device(), unit());
    expect_error([&] { range.map(0, memory); }, ErrorCode::wrong_device, "texton::AddressRange");
}

TEST_P(PhysicalTest, UsingEmptyOrMovedFromObjectsIsRefused) {
    AddressRange from(device(), unit());
    const Physical memory(device(), unit());
    AddressRange to = std::move(from);
    to.map(0, memory);
    EXPECT_EQ(from.data(), nullptr);  // NOLINT(bugprone-use-after-move): tests the moved-from state
    EXPECT_EQ(from.bytes(), 0u);
    expect_error([&] { from.map(0, memory); }, ErrorCode::released, "texton::AddressRange");
    expect_error([&] { from.unmap(0); }, ErrorCode::released, "texton::AddressRange");
    expect_error([&] { from.set_access(); }, ErrorCode::released, "texton::AddressRange");
    expect_error([&] { (void)from.view(Format::r8_uint, {1}); }, ErrorCode::released, "texton::AddressRange");
    expect_error([&] { (void)from.device(); }, ErrorCode::released, "texton::AddressRange");
    const Physical never;
    EXPECT_EQ(never.bytes(), 0u);
    expect_error([&] { to.map(0, never); }, ErrorCode::released, "texton::Physical");
    expect_error([&] { (void)never.info(); }, ErrorCode::released, "texton::Physical");
    expect_error([&] { (void)never.device(); }, ErrorCode::released, "texton::Physical");
    expect_error([&] { (void)never.export_handle(); }, ErrorCode::released, "texton::Physical");
}

}  // namespace
}  // namespace texton
