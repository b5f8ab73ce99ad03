#include <texton/pool.h>

#include <array>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/pinned.h>

#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::all_bytes;
using test::download;
using test::expect_error;
using test::same_bytes;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::uint64_t kKeepAll = std::numeric_limits<std::uint64_t>::max();

class PoolTest : public test::OnEveryDevice {
protected:
    // Restores the default pool after each test.
    void TearDown() override {
        if (!IsSkipped() && !HasFatalFailure()) Pool::default_of(device()).make_current();
        OnEveryDevice::TearDown();
    }

    // Grants the device access to a pool in another location.
    void reach(const Pool& pool) const {
        const AccessGrant grant{Location::device(device()), Access::read_write};
        pool.set_access({&grant, 1});
    }

    void expect_works(const Pool& pool, const Stream& stream) const {
        const test::Bytes bytes = test::pattern(300'001, 1);
        test::Bytes seen(bytes.size());
        const Linear memory = pool.allocate(bytes.size(), stream);
        EXPECT_EQ(memory.bytes(), bytes.size());
        copy(memory.view(), host_view(std::span(bytes)), stream);
        copy(host_view(std::span(seen)), memory.view(), stream);
        stream.synchronize();
        EXPECT_TRUE(same_bytes(seen, bytes));
    }
};
INSTANTIATE_TEST_SUITE_P(Devices, PoolTest, test::every_device(), test::device_label);

TEST_P(PoolTest, MemoryIsAllocatedAndFreedInStreamOrder) {
    const Pool pool(device());
    const Stream stream(device());
    EXPECT_EQ(pool.device(), device());
    EXPECT_FALSE(pool.imported());
    EXPECT_EQ(pool.info().location, Location::device(device()));
    EXPECT_EQ(pool.info().handle, HandleType::none);
    for (int round = 0; round < 3; ++round) expect_works(pool, stream);
    expect_works(pool, Stream::default_of(device()));
}

TEST_P(PoolTest, AllocationsAreAlignedAndDoNotOverlap) {
    const Pool pool(device());
    const Stream stream(device());
    std::vector<Linear> blocks;
    for (std::size_t i = 0; i < 64; ++i) blocks.push_back(pool.allocate(1 + i * 37, stream));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks[i].data()) % 256, 0u);
        fill(blocks[i].view(), static_cast<std::uint8_t>(i + 1), stream);
    }
    stream.synchronize();
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_TRUE(all_bytes(download(blocks[i].view()), static_cast<unsigned>(i + 1)));
    }
}

TEST_P(PoolTest, UsageReportsCurrentAndMaximumBytes) {
    const Pool pool(device());
    const Stream stream(device());
    pool.set_release_threshold(kKeepAll);
    const PoolUsage empty = pool.usage();
    EXPECT_EQ(empty.used, 0u);
    EXPECT_EQ(empty.used_high, 0u);
    {
        const Linear first = pool.allocate(10 * kMiB, stream);
        const PoolUsage one = pool.usage();
        EXPECT_GE(one.used, 10 * kMiB);
        EXPECT_LT(one.used, 13 * kMiB);
        EXPECT_GE(one.reserved, one.used);
        const Linear second = pool.allocate(20 * kMiB, stream);
        const PoolUsage two = pool.usage();
        EXPECT_GE(two.used, 30 * kMiB);
        EXPECT_EQ(two.used_high, two.used);
        EXPECT_GE(two.reserved_high, two.reserved);
        stream.synchronize();
    }
    stream.synchronize();
    const PoolUsage after = pool.usage();
    EXPECT_EQ(after.used, 0u);
    EXPECT_GE(after.used_high, 30 * kMiB);
    EXPECT_GE(after.reserved, 30 * kMiB);
    EXPECT_GE(after.reserved_high, after.reserved);

    pool.reset_used_high();
    EXPECT_EQ(pool.usage().used_high, 0u);
    EXPECT_GE(pool.usage().reserved_high, 30 * kMiB);
    pool.trim();
    EXPECT_EQ(pool.usage().reserved, 0u);
    EXPECT_GE(pool.usage().reserved_high, 30 * kMiB);
    pool.reset_reserved_high();
    EXPECT_EQ(pool.usage().reserved_high, 0u);
}

TEST_P(PoolTest, TrimmingKeepsTheRequestedBytesAndUsedMemory) {
    const Pool pool(device());
    const Stream stream(device());
    pool.set_release_threshold(kKeepAll);
    const Linear held = pool.allocate(2 * kMiB, stream);
    fill(held.view(), std::uint8_t{0x6A}, stream);
    { const Linear gone = pool.allocate(128 * kMiB, stream); }
    stream.synchronize();
    const std::uint64_t before = pool.usage().reserved;
    EXPECT_GE(before, 128 * kMiB);
    pool.trim(before);
    EXPECT_EQ(pool.usage().reserved, before);
    pool.trim(0);
    EXPECT_LT(pool.usage().reserved, before);
    EXPECT_GE(pool.usage().reserved, 2 * kMiB);
    EXPECT_TRUE(all_bytes(download(held.view()), 0x6A));
    expect_works(pool, stream);
}

TEST_P(PoolTest, SynchronizingAStreamReleasesMemoryAboveTheThreshold) {
    const Pool pool(device());
    const Stream stream(device());
    EXPECT_EQ(pool.release_threshold(), 0u);
    const auto use = [&] {
        { const Linear memory = pool.allocate(64 * kMiB, stream); }
        stream.synchronize();
        stream.synchronize();
        return pool.usage().reserved;
    };
    EXPECT_EQ(use(), 0u);
    pool.set_release_threshold(kKeepAll);
    EXPECT_EQ(pool.release_threshold(), kKeepAll);
    EXPECT_GE(use(), 64 * kMiB);
    pool.set_release_threshold(0);
    EXPECT_EQ(use(), 0u);
}

TEST_P(PoolTest, AStreamReusesItsFreedMemory) {
    const Pool pool(device());
    const Stream stream(device());
    pool.set_release_threshold(kKeepAll);
    for (int round = 0; round < 50; ++round) {
        const Linear memory = pool.allocate(16 * kMiB, stream);
        fill(memory.view(), static_cast<std::uint8_t>(round), stream);
    }
    stream.synchronize();
    EXPECT_LE(pool.usage().reserved_high, 128 * kMiB);
}

TEST_P(PoolTest, ReuseFlagsAreOnByDefaultAndCanBeChanged) {
    const Pool pool(device());
    EXPECT_EQ(pool.reuse(), PoolReuse{});
    EXPECT_TRUE(PoolReuse{}.follow_event_dependencies && PoolReuse{}.opportunistic &&
                PoolReuse{}.internal_dependencies);
    for (unsigned flags = 0; flags < 8; ++flags) {
        const PoolReuse reuse{(flags & 1) != 0, (flags & 2) != 0, (flags & 4) != 0};
        pool.set_reuse(reuse);
        EXPECT_EQ(pool.reuse(), reuse);
    }
}

TEST_P(PoolTest, WithoutReuseAnotherStreamNeverGetsMemoryWithAPendingFree) {
    const Pool pool(device());
    pool.set_reuse({false, false, false});
    pool.set_release_threshold(kKeepAll);
    const Stream first(device());
    const Stream second(device());
    Linear memory = pool.allocate(8 * kMiB, first);
    const std::byte* address = memory.data();
    const Pinned out(device(), 8 * kMiB);
    fill(memory.view(), std::uint8_t{0}, first);
    first.synchronize();
    const test::Gate gate;
    gate.close(first);
    copy(out.view(), memory.view(), first);
    memory.free(first);
    const Linear other = pool.allocate(8 * kMiB, second);
    EXPECT_NE(other.data(), address);
    fill(other.view(), std::uint8_t{1}, second);
    second.synchronize();  // it does not wait for the first stream
    EXPECT_FALSE(first.idle());
    gate.open();
    first.synchronize();
}

TEST_P(PoolTest, ReuseNeverMixesTheDataOfConcurrentStreams) {
    const Pool pool(device());
    pool.set_release_threshold(kKeepAll);
    constexpr int kStreams = 4;
    std::vector<std::thread> threads;
    std::array<int, kStreams> wrong{};
    for (int t = 0; t < kStreams; ++t) {
        threads.emplace_back([&, t] {
            const Stream stream(device());
            test::Bytes seen(100'000);
            for (int round = 0; round < 60; ++round) {
                const auto value = static_cast<std::uint8_t>(t * 60 + round);
                const Linear memory = pool.allocate(seen.size(), stream);
                fill(memory.view(), value, stream);
                copy(host_view(std::span(seen)), memory.view(), stream);
                stream.synchronize();
                if (!all_bytes(seen, value)) ++wrong[static_cast<std::size_t>(t)];
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const int count : wrong) EXPECT_EQ(count, 0);
    device().synchronize();
    EXPECT_EQ(pool.usage().used, 0u);
}

TEST_P(PoolTest, TheDefaultPoolIsCurrentUntilAnotherPoolIsSet) {
    const Pool standard = Pool::default_of(device());
    EXPECT_EQ(standard, Pool::default_of(device(), Location::device(device())));
    EXPECT_EQ(Pool::current(device()), standard);
    const Stream stream(device());
    expect_works(standard, stream);

    const Pool mine(device());
    EXPECT_FALSE(mine == standard);
    mine.make_current();
    EXPECT_EQ(Pool::current(device()), mine);
    EXPECT_EQ(Pool::current(device(), Location::device(device())), mine);
    EXPECT_EQ(Pool::default_of(device()), standard);
    {
        const Linear memory = Linear::async(4 * kMiB, stream);
        EXPECT_GE(mine.usage().used, 4 * kMiB);
    }
    stream.synchronize();
    EXPECT_EQ(mine.usage().used, 0u);
    standard.make_current();
    EXPECT_EQ(Pool::current(device()), standard);
}

TEST_P(PoolTest, CurrentPoolsAreSetSeparatelyForEachLocationAndType) {
    std::vector<PoolInfo> kinds{{.location = Location::host()}};
    if (device().properties().host_numa_pools) kinds.push_back({.location = Location::host_numa(0)});
    if (device().properties().concurrent_managed_access) {
        kinds.push_back({.location = Location::device(device()), .type = PoolType::managed});
    }
    for (const PoolInfo& kind : kinds) {
        SCOPED_TRACE(to_string(kind.location));
        const Pool standard = Pool::default_of(device(), kind.location, kind.type);
        {
            const Pool mine(device(), kind);
            mine.make_current();
            EXPECT_EQ(Pool::current(device(), kind.location, kind.type), mine);
            EXPECT_EQ(Pool::default_of(device(), kind.location, kind.type), standard);
            EXPECT_EQ(Pool::current(device()), Pool::default_of(device()));
            standard.make_current();
        }
        EXPECT_EQ(Pool::current(device(), kind.location, kind.type), standard);
    }
}

TEST_P(PoolTest, EveryLocationHasADefaultPool) {
    const Stream stream(device());
    std::vector<Location> locations{Location::host()};
    if (device().properties().host_numa_pools) locations.push_back(Location::host_numa(0));
    for (const Location& location : locations) {
        SCOPED_TRACE(to_string(location));
        const Pool pool = Pool::default_of(device(), location);
        EXPECT_EQ(pool, Pool::default_of(device(), location));
        EXPECT_EQ(pool, Pool::current(device(), location));
        EXPECT_FALSE(pool == Pool::default_of(device()));
        EXPECT_EQ(pool.info().location, location);
        reach(pool);
        expect_works(pool, stream);
    }
    if (device().properties().concurrent_managed_access) {
        for (const Location& location : {Location::none(), Location::device(device()), Location::host()}) {
            SCOPED_TRACE(to_string(location));
            const Pool pool = Pool::default_of(device(), location, PoolType::managed);
            EXPECT_EQ(pool, Pool::default_of(device(), location, PoolType::managed));
            EXPECT_FALSE(pool == Pool::default_of(device()));
        }
    }
}

TEST_P(PoolTest, TheHostReadsMemoryOfHostPools) {
    const Stream stream(device());
    std::vector<Location> locations{Location::host()};
    if (device().properties().host_numa_pools) locations.push_back(Location::host_numa(0));
    for (const Location& location : locations) {
        SCOPED_TRACE(to_string(location));
        const Pool pool(device(), {.location = location});
        EXPECT_EQ(pool.info().location, location);
        EXPECT_EQ(pool.access(Location::host()), Access::read_write);
        reach(pool);
        EXPECT_EQ(pool.access(Location::device(device())), Access::read_write);
        const Linear memory = pool.allocate(10'000, stream);
        fill(memory.view(), std::uint8_t{0x44}, stream);
        stream.synchronize();
        EXPECT_TRUE(all_bytes({memory.data(), memory.bytes()}, 0x44));
        expect_works(pool, stream);
    }
}

TEST_P(PoolTest, HostAndDeviceAccessMemoryOfManagedPools) {
    if (!device().properties().concurrent_managed_access) GTEST_SKIP() << "the device has no pools of managed memory";
    const Stream stream(device());
    for (const Location& location : {Location::none(), Location::device(device()), Location::host()}) {
        SCOPED_TRACE(to_string(location));
        const Pool pool(device(), {.location = location, .type = PoolType::managed});
        EXPECT_EQ(pool.info().type, PoolType::managed);
        const Linear memory = pool.allocate(10'000, stream);
        stream.synchronize();
        std::memset(memory.data(), 0x15, memory.bytes());
        EXPECT_TRUE(all_bytes(download(memory.view()), 0x15));
        fill(memory.view(), std::uint8_t{0x16}, stream);
        stream.synchronize();
        EXPECT_TRUE(all_bytes({memory.data(), memory.bytes()}, 0x16));
    }
}

TEST_P(PoolTest, APoolRespectsItsMaximumSize) {
    const Pool pool(device(), {.max_bytes = 64 * kMiB});
    const Stream stream(device());
    expect_works(pool, stream);
    const Error error =
        expect_error([&] { (void)pool.allocate(256 * kMiB, stream); }, ErrorCode::out_of_memory, "texton::Pool");
    EXPECT_EQ(test::number_of(error, "bytes"), 256 * kMiB);
    stream.synchronize();
    EXPECT_EQ(pool.usage().used, 0u);
    expect_works(pool, stream);
}

TEST_P(PoolTest, OutOfMemoryReportsRequestedAndFreeBytes) {
    const Pool pool(device());
    const Stream stream(device());
    const std::size_t requested = device().properties().total_memory * 2;
    const Error error = expect_error([&] { (void)pool.allocate(requested, stream); }, ErrorCode::out_of_memory,
                                     "texton::Pool", {std::to_string(requested)});
    EXPECT_EQ(test::number_of(error, "bytes"), requested);
    EXPECT_LT(test::number_of(error, "free"), requested);
    stream.synchronize();
    EXPECT_EQ(pool.usage().used, 0u);
    expect_works(pool, stream);
}

TEST_P(PoolTest, APoolLivesUntilItsLastAllocationIsFreed) {
    const Stream stream(device());
    Linear memory;
    {
        const Pool pool(device());
        memory = pool.allocate(100'000, stream);
    }
    fill(memory.view(), std::uint8_t{0x2F}, stream);
    stream.synchronize();
    EXPECT_TRUE(all_bytes(download(memory.view()), 0x2F));
}

TEST_P(PoolTest, TheDeviceOfAPoolAlwaysHasAccess) {
    const Pool pool(device());
    EXPECT_EQ(pool.access(Location::device(device())), Access::read_write);
    const AccessGrant own{Location::device(device()), Access::read_write};
    pool.set_access({&own, 1});
    const AccessGrant lock_out{Location::device(device()), Access::none};
    expect_error([&] { pool.set_access({&lock_out, 1}); }, ErrorCode::bad_argument, "texton::Pool");
    expect_error([&] { pool.set_access({}); }, ErrorCode::bad_argument, "texton::Pool");
    EXPECT_EQ(pool.access(Location::device(device())), Access::read_write);
}

TEST_P(PoolTest, AccessOfAnotherDeviceCanBeGrantedAndRevoked) {
    const auto other = other_hardware();
    if (!other || !other->can_access(device())) GTEST_SKIP() << "needs a second device that can reach this one";
    const Pool pool(device());
    const Stream there(*other);
    EXPECT_EQ(pool.access(Location::device(*other)), Access::none);
    expect_error([&] { (void)pool.allocate(4096, there); }, ErrorCode::wrong_device, "texton::Pool", {"access"});

    const AccessGrant grant{Location::device(*other), Access::read_write};
    pool.set_access({&grant, 1});
    EXPECT_EQ(pool.access(Location::device(*other)), Access::read_write);
    {
        const Linear memory = pool.allocate(4096, there);
        EXPECT_EQ(memory.device(), device());
        fill(memory.view(), std::uint8_t{0x0E});
        Linear target(*other, 4096);
        copy(target.view(), memory.view(), there);
        there.synchronize();
        EXPECT_TRUE(all_bytes(download(target.view()), 0x0E));
    }
    there.synchronize();
    const AccessGrant none{Location::device(*other), Access::none};
    pool.set_access({&none, 1});
    EXPECT_EQ(pool.access(Location::device(*other)), Access::none);
}

TEST_P(PoolTest, AccessOfALocationOfTheWrongTypeIsRefused) {
    const Pool pool(device());
    std::vector<Location> wrong{Location::none(), Location::host(), Location::host_numa(0),
                                Location::host_numa_current()};
    wrong.push_back({LocationKind::device, 0, on_cpu() ? DeviceKind::cuda : DeviceKind::cpu});
    for (const Location& location : wrong) {
        SCOPED_TRACE(to_string(location));
        expect_error([&] { (void)pool.access(location); }, ErrorCode::wrong_location, "texton::Pool",
                     {to_string(location)});
        const AccessGrant grant{location, Access::read_write};
        expect_error(
            [&] {
                pool.set_access({&grant, 1});
            },
            ErrorCode::wrong_location, "texton::Pool", {to_string(location)});
    }
}

TEST_P(PoolTest, AMissingLocationIsRefused) {
    const Location far{LocationKind::device, 63, device().kind()};
    for (const Location& location :
         {far, Location::host_numa_current(),
          Location{LocationKind::device, 0, on_cpu() ? DeviceKind::cuda : DeviceKind::cpu}}) {
        SCOPED_TRACE(to_string(location));
        expect_error([&] { Pool pool(device(), {.location = location}); }, ErrorCode::wrong_location, "texton::Pool");
        expect_error([&] { (void)Pool::default_of(device(), location); }, ErrorCode::wrong_location, "texton::Pool");
        expect_error([&] { (void)Pool::current(device(), location); }, ErrorCode::wrong_location, "texton::Pool");
    }
    expect_error([&] { (void)Pool::default_of(device(), Location::none()); }, ErrorCode::wrong_location,
                 "texton::Pool");
    const auto refused_node = [&](int node) {
        try {
            const Pool pool(device(), {.location = Location::host_numa(node)});
            ADD_FAILURE() << "created a pool on NUMA node " << node;
        } catch (const Error& error) {
            test::expect_well_formed(error);
            EXPECT_EQ(error.object(), "texton::Pool");
        }
    };
    refused_node(900);
    refused_node(-1);
}

TEST_P(PoolTest, UnsupportedOptionsOfManagedAndHostPoolsAreRefused) {
    expect_error([&] { Pool pool(device(), {.location = Location::host(), .handle = HandleType::file_descriptor}); },
                 ErrorCode::bad_argument, "texton::Pool", {"NUMA"});
    if (!device().properties().concurrent_managed_access) return;
    expect_error([&] { Pool pool(device(), {.type = PoolType::managed, .handle = HandleType::file_descriptor}); },
                 ErrorCode::bad_argument, "texton::Pool", {"managed"});
    expect_error([&] { Pool pool(device(), {.type = PoolType::managed, .max_bytes = kMiB}); }, ErrorCode::bad_argument,
                 "texton::Pool", {"managed"});
}

TEST_P(PoolTest, ZeroBytesAndForeignStreamsAreRefused) {
    const Pool pool(device());
    const Stream stream(device());
    expect_error([&] { (void)pool.allocate(0, stream); }, ErrorCode::bad_argument, "texton::Pool", {"0 bytes"});
    for (const Device& other : Device::list()) {
        if (!is_other_hardware(other)) continue;
        const Stream elsewhere(other);
        expect_error([&] { (void)pool.allocate(64, elsewhere); }, ErrorCode::wrong_device, "texton::Pool");
    }
    EXPECT_EQ(pool.usage().used, 0u);
}

TEST_P(PoolTest, ExportingAPoolWithoutAHandleTypeIsRefused) {
    const Stream stream(device());
    const Pool plain(device());
    for (const HandleType type : {HandleType::none, HandleType::file_descriptor, HandleType::fabric}) {
        expect_error([&] { (void)plain.export_handle(type); }, ErrorCode::not_permitted, "texton::Pool", {"handle"});
        expect_error([&] { (void)Pool::default_of(device()).export_handle(type); }, ErrorCode::not_permitted,
                     "texton::Pool");
    }
    const Linear memory = plain.allocate(4096, stream);
    expect_error([&] { (void)plain.export_pointer(memory); }, ErrorCode::not_permitted, "texton::Pool");

    if (!device().properties().pool_file_descriptors) return;
    const Pool shared(device(), {.handle = HandleType::file_descriptor});
    expect_error([&] { (void)shared.export_handle(HandleType::fabric); }, ErrorCode::not_permitted, "texton::Pool");
    expect_error([&] { (void)shared.export_handle(HandleType::none); }, ErrorCode::not_permitted, "texton::Pool");
    expect_error([&] { (void)shared.export_pointer(memory); }, ErrorCode::bad_argument, "texton::Pool",
                 {"not from this pool"});
    expect_error([&] { (void)shared.export_pointer(Linear(device(), 64)); }, ErrorCode::bad_argument, "texton::Pool");
    expect_error([&] { (void)shared.export_pointer(Linear()); }, ErrorCode::released, "texton::Pool");
    expect_error([&] { (void)shared.import_pointer({}, 64); }, ErrorCode::not_permitted, "texton::Pool", {"import"});
}

}  // namespace
}  // namespace texton
