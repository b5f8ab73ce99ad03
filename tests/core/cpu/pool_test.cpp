// How pools of the CPU device hold, reuse and release memory.
#include <array>
#include <cstring>
#include <set>
#include <thread>

#include "tests/support/cpu_device.h"

namespace texton::detail {
namespace {

using CpuPoolTest = CpuDeviceTest;

TEST_F(CpuPoolTest, PoolAttributesTrackUsedAndReservedBytes) {
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
    device().synchronize();  // the threshold is 0, so all memory except the unit in use is released
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

TEST_F(CpuPoolTest, SynchronizingReleasesPoolMemoryDownToTheThreshold) {
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

TEST_F(CpuPoolTest, TrimmingLeavesUsedMemoryUnchanged) {
    const PoolHandle made = pool();
    std::vector<std::byte*> blocks;
    for (int i = 0; i < 20; ++i) blocks.push_back(device().allocate_async(kMega, made, nullptr));
    for (std::size_t i = 0; i < blocks.size(); ++i) std::memset(blocks[i], static_cast<int>(i), kMega);
    for (std::size_t i = 0; i < blocks.size(); i += 5) device().free_async(blocks[i], nullptr);
    for (std::size_t i = 12; i < 15; ++i) device().free_async(blocks[i], nullptr);
    device().trim_pool(made, 0);
    EXPECT_EQ(get(made, PoolAttribute::used_current), 13 * kMega);
    EXPECT_EQ(get(made, PoolAttribute::reserved_current),
              16 * kMega);  // 12 MiB at the end and 4 MiB in the middle were released
    const std::set<std::size_t> freed{0, 5, 10, 15, 12, 13, 14};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (freed.contains(i)) continue;
        EXPECT_EQ(blocks[i][0], static_cast<std::byte>(i));
        EXPECT_EQ(blocks[i][kMega - 1], static_cast<std::byte>(i));
        device().free_async(blocks[i], nullptr);
    }
    std::byte* whole = device().allocate_async(30 * kMega, made, nullptr);  // spans holes and free blocks
    std::memset(whole, 1, 30 * kMega);
    EXPECT_EQ(get(made, PoolAttribute::used_current), 30 * kMega);
    EXPECT_GE(get(made, PoolAttribute::reserved_current), 30 * kMega);
    device().free_async(whole, nullptr);
    device().destroy_pool(made);
}

TEST_F(CpuPoolTest, AStreamReusesItsFreedMemoryImmediately) {
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

TEST_F(CpuPoolTest, OpportunisticReuseNeedsACompletedFree) {
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
    while (!device().stream_idle(frees))
        std::this_thread::yield();  // done, although no host thread waited for the stream
    EXPECT_EQ(device().allocate_async(kMega, made, allocates), first);
    device().free_async(first, allocates);
    device().free_async(second, allocates);
    device().destroy_pool(made);
}

TEST_F(CpuPoolTest, WithoutOpportunisticReuseOnlySynchronizedMemoryIsReused) {
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

TEST_F(CpuPoolTest, EventDependenciesAllowReuseAcrossAChainOfStreams) {
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

TEST_F(CpuPoolTest, InternalDependenciesMakeTheAllocatingStreamWait) {
    const PoolHandle made = pool(2 * kMega);  // no space for a second block
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

TEST_F(CpuPoolTest, APoolExceedsNeitherItsLimitNorTheDeviceMemory) {
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

TEST_F(CpuPoolTest, RandomAllocationsNeverOverlap) {
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

TEST_F(CpuPoolTest, ADestroyedPoolLivesUntilAllItsFreesComplete) {
    const PoolHandle made = pool();
    const StreamHandle on = stream();
    std::byte* memory = device().allocate_async(kMega, made, on);
    Hold hold;
    hold.on(device(), on);
    fill(memory, kMega, 1, on);
    device().destroy_pool(made);
    EXPECT_LT(device().memory_info().free, kDeviceBytes);
    device().free_async(memory, on);
    EXPECT_LT(device().memory_info().free, kDeviceBytes);  // the fill has not run yet
    hold.open();
    device().synchronize_stream(on);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
}

TEST_F(CpuPoolTest, DefaultAndCurrentPoolsAreSeparateForEachLocationAndType) {
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

TEST_F(CpuPoolTest, HostPoolsUseNoDeviceMemory) {
    const PoolHandle host = device().create_pool({.location = Location::host_numa(0)});
    std::byte* memory = device().allocate_async(kMega, host, nullptr);
    std::memset(memory, 1, kMega);
    EXPECT_EQ(device().memory_info().free, kDeviceBytes);
    EXPECT_EQ(device().pool_access(host, Location::host()), Access::read_write);
    EXPECT_EQ(device().pool_access(host, own()), Access::none);
    device().free_async(memory, nullptr);
    device().destroy_pool(host);
}

TEST_F(CpuPoolTest, PoolAccessIsGrantedOnlyToDevices) {
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

}  // namespace
}  // namespace texton::detail
