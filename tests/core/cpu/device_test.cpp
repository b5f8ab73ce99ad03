// Memory of the CPU device: properties that are specific to this device.
#include <atomic>
#include <cstring>
#include <thread>

#include "core/cpu/symbols.h"
#include "tests/support/cpu_device.h"

namespace texton::detail {
namespace {

using namespace std::chrono_literals;

// --- memory ---

TEST_F(CpuDeviceTest, FreeMemoryIsTotalMemoryMinusAllocatedMemory) {
    EXPECT_EQ(device().memory_info().total, kDeviceBytes);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
    std::byte* memory = device().allocate(kMega + 1);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes - kMega - 512);
    device().free(memory);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, AllocatingMoreThanFreeThrowsWithBothSizesAndLeaksNothing) {
    std::byte* memory = device().allocate(kDeviceBytes - kMega);
    const std::string problem = refused(ErrorCode::out_of_memory, [&] { device().allocate(kMega + 1); });
    EXPECT_EQ(problem, "1048577 bytes were requested, but 1048576 are free");
    refused(ErrorCode::out_of_memory, [&] { device().allocate(SIZE_MAX); });
    refused(ErrorCode::out_of_memory, [&] { device().allocate_pitched_3d(SIZE_MAX / 4, 3, 3); });
    refused(ErrorCode::out_of_memory, [&] { device().allocate_managed(2 * kMega, Attach::global); });
    refused(ErrorCode::out_of_memory, [&] { device().create_physical(2 * kMega, {.location = own()}); });
    EXPECT_EQ(device().memory_info().free, kMega);
    device().free(memory);
}

TEST_F(CpuDeviceTest, TheMemoryOfTheMachineIsTheDefaultAndUpperLimit) {
    const auto whole = make_cpu_device(6, 0);
    const MemoryInfo info = whole->memory_info();
    EXPECT_GT(info.free, 0U);
    EXPECT_LE(info.free, info.total);
    refused(ErrorCode::out_of_memory, [&] { whole->allocate(info.total + 1); });
    refused(ErrorCode::out_of_memory, [&] { whole->allocate_host(SIZE_MAX / 2, {}); });
    const auto boastful = make_cpu_device(5, std::size_t{1} << 50);
    refused(ErrorCode::out_of_memory, [&] { boastful->allocate(std::size_t{1} << 49); });
}

TEST_F(CpuDeviceTest, TheHighestDeviceIsNotTakenForTheHost) {
    const auto highest = make_cpu_device(30, kDeviceBytes);
    std::byte* memory = highest->allocate_managed(kMega, Attach::global);
    const Location itself{LocationKind::device, 30, DeviceKind::cpu};
    highest->advise(memory, kMega, Advice::set_accessed_by, itself);
    EXPECT_EQ(highest->accessed_by(memory, kMega), std::vector{itself});
    highest->free(memory);
    for (const int index : {-1, 31, 32, 64}) {
        refused(ErrorCode::bad_argument, [&] { (void)make_cpu_device(index, kDeviceBytes); });
    }
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

TEST_F(CpuDeviceTest, FreeWaitsForPeersWithAccess) {
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

TEST_F(CpuDeviceTest, AHostFunctionOfAStreamCanFreeMemoryWithoutDeadlock) {
    std::byte* memory = device().allocate(kMega);
    device().run_on_host(stream(), [&] { device().free(memory); });
    for (int i = 0; i < 1000 && device().memory_info().free != kDeviceBytes; ++i) std::this_thread::sleep_for(5ms);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, ADeviceRecognizesOnlyItsOwnMemory) {
    const auto other = make_cpu_device(6, kDeviceBytes);
    std::byte* memory = device().allocate(100);
    std::byte* managed = device().allocate_managed(100, Attach::global);
    std::byte* pooled = device().allocate_async(100, nullptr, nullptr);
    for (std::byte* address : {memory, managed, pooled}) {
        EXPECT_TRUE(device().knows(address, 1));
        EXPECT_TRUE(device().knows(address + 99, 1));
        EXPECT_FALSE(other->knows(address, 1));
    }
    int local = 0;
    EXPECT_FALSE(device().knows(&local, 1));
    EXPECT_FALSE(device().knows(nullptr, 1));
    device().free_async(pooled, nullptr);
    EXPECT_FALSE(device().knows(pooled, 1));
    device().free(managed);
    device().free(memory);
    EXPECT_FALSE(device().knows(memory, 1));
}

TEST_F(CpuDeviceTest, DevicesHaveDistinctStableUuids) {
    const auto other = make_cpu_device(6, kMega);
    const auto same = make_cpu_device(7, kMega);
    EXPECT_NE(device().properties().uuid, other->properties().uuid);
    EXPECT_EQ(device().properties().uuid, same->properties().uuid);
    EXPECT_TRUE(device().properties().name.starts_with("CPU device 7 (")) << device().properties().name;
}

// --- host memory ---

TEST_F(CpuDeviceTest, PinnedMemoryKeepsItsOptionsAndUsesNoDeviceMemory) {
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

// --- physical memory ---

TEST_F(CpuDeviceTest, PhysicalMemoryIsVisibleAtEveryMappedAddress) {
    const std::size_t unit = device().physical_granularity({.location = own()}, Granularity::minimum);
    EXPECT_EQ(unit, 2 * kMega);
    const PhysicalHandle memory = device().create_physical(2 * unit, {.location = own()});
    EXPECT_EQ(device().memory_info().free, kDeviceBytes - 2 * unit);
    std::byte* addresses = device().reserve_addresses(8 * unit, 8 * unit);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(addresses) % (8 * unit), 0U);
    const AccessGrant grant{own(), Access::read_write};
    device().map_physical(addresses, 2 * unit, memory);
    device().map_physical(addresses + 2 * unit, 2 * unit, memory);
    EXPECT_FALSE(device().knows(addresses, 1));
    device().set_mapped_access(addresses, 4 * unit, {&grant, 1});
    EXPECT_TRUE(device().knows(addresses, 1));
    refused(ErrorCode::bad_argument, [&] { device().set_mapped_access(addresses, 5 * unit, {&grant, 1}); });
    fill(addresses + unit, unit, 9, nullptr);
    device().synchronize();
    EXPECT_EQ(addresses[4 * unit - 1], std::byte{9});
    addresses[3 * unit] = std::byte{1};
    EXPECT_EQ(addresses[unit], std::byte{1});

    device().unmap_physical(addresses, 2 * unit);
    EXPECT_FALSE(device().knows(addresses, 1));
    device().map_physical(addresses, 2 * unit, memory);
    device().set_mapped_access(addresses, 2 * unit, {&grant, 1});
    EXPECT_EQ(addresses[unit], std::byte{1});  // it keeps its contents
    std::byte outside{};
    refused(ErrorCode::bad_argument, [&] { device().map_physical(&outside, 2 * unit, memory); });
    const AccessGrant host{Location::host_numa(0), Access::read_write};
    refused(ErrorCode::wrong_location, [&] { device().set_mapped_access(addresses, unit, {&host, 1}); });
    device().unmap_physical(addresses, 2 * unit);
    device().unmap_physical(addresses + 2 * unit, 2 * unit);
    device().free_addresses(addresses, 8 * unit);
    device().release_physical(memory);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuDeviceTest, PhysicalHostMemoryNeedsAnExistingNumaNode) {
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

TEST_F(CpuDeviceTest, ImportedMemorySharesTheExportedMemory) {
    const PhysicalHandle memory =
        device().create_physical(2 * kMega, {.location = own(), .handle = HandleType::file_descriptor});
    const ShareableHandle handle = device().export_physical(memory, HandleType::file_descriptor);
    const PhysicalHandle imported = device().import_physical(handle, 2 * kMega);
    close(handle.file_descriptor);
    std::byte* addresses = device().reserve_addresses(4 * kMega, 0);
    device().map_physical(addresses, 2 * kMega, memory);
    device().map_physical(addresses + 2 * kMega, 2 * kMega, imported);
    const AccessGrant grant{own(), Access::read_write};
    device().set_mapped_access(addresses, 4 * kMega, {&grant, 1});
    addresses[5] = std::byte{77};
    EXPECT_EQ(addresses[2 * kMega + 5], std::byte{77});
    device().free_addresses(addresses, 4 * kMega);
    device().release_physical(imported);
    device().release_physical(memory);
}

TEST_F(CpuDeviceTest, AccessingUnmappedAddressesCrashes) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    std::byte* addresses = device().reserve_addresses(2 * kMega, 0);
    EXPECT_DEATH(addresses[0] = std::byte{1}, "");
    device().free_addresses(addresses, 2 * kMega);
}

// --- managed memory ---

TEST_F(CpuDeviceTest, ARangeHasAnAttributeOnlyIfTheWholeRangeHasIt) {
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

// --- symbols ---

TEST_F(CpuDeviceTest, SymbolsAreFoundWhileTheyAreRegistered) {
    int variable = 0;
    refused(ErrorCode::not_registered, [&] { device().find_symbol(&variable); });
    add_cpu_symbol(&variable, sizeof(variable));
    EXPECT_EQ(device().find_symbol(&variable).address, reinterpret_cast<std::byte*>(&variable));
    EXPECT_EQ(device().find_symbol(&variable).bytes, sizeof(variable));
    remove_cpu_symbol(&variable);
    refused(ErrorCode::not_registered, [&] { device().find_symbol(&variable); });
}

}  // namespace
}  // namespace texton::detail
