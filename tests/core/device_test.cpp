#include <texton/device.h>

#include <algorithm>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include <texton/copy.h>
#include <texton/fill.h>
#include <texton/linear.h>

#include "tests/support/expect_error.h"
#include "tests/support/gate.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

class DeviceTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, test::every_device(), test::device_label);

TEST_P(DeviceTest, EachDeviceIsListedOnce) {
    const std::vector<Device> all = Device::list();
    EXPECT_EQ(std::count(all.begin(), all.end(), device()), 1);
    EXPECT_EQ(device().index(), 0);
    EXPECT_EQ(device().kind(), GetParam());
}

TEST_P(DeviceTest, PropertiesArePlausible) {
    const DeviceProperties& is = device().properties();
    EXPECT_FALSE(is.name.empty());
    EXPECT_EQ(is.name, device().name());
    EXPECT_EQ(is.kind, device().kind());
    EXPECT_EQ(is.index, device().index());
    EXPECT_GT(is.multiprocessors, 0);
    EXPECT_GT(is.total_memory, 0u);
    EXPECT_TRUE(std::any_of(is.uuid.begin(), is.uuid.end(), [](std::uint8_t byte) { return byte != 0; }));
    EXPECT_EQ(is.compute_major == 0, on_cpu());
    EXPECT_EQ(is.driver_version == 0, on_cpu());
    EXPECT_EQ(is.runtime_version == 0, on_cpu());
    if (on_cpu()) {
        EXPECT_TRUE(is.managed_memory && is.memory_pools && is.pool_file_descriptors && is.virtual_memory &&
                    is.host_register && is.host_pointer_is_device_pointer);
    }
}

TEST_P(DeviceTest, LimitsMatchTheDocumentedLimitsOfAnH200) {
    const DeviceLimits& is = device().limits();
    if (!on_cpu() && device().name().find("H200") == std::string::npos) {
        EXPECT_GE(is.texture_2d[0], 65536u);
        return;
    }
    EXPECT_EQ(is.pitch_alignment, 512u);
    EXPECT_EQ(is.texture_alignment, 512u);
    EXPECT_EQ(is.texture_pitch_alignment, 32u);
    EXPECT_EQ(is.surface_alignment, 512u);
    EXPECT_EQ(is.max_pitch, 2147483647u);
    EXPECT_EQ(is.texture_1d, 131072u);
    EXPECT_THAT(is.texture_2d, testing::ElementsAre(131072, 65536));
    EXPECT_THAT(is.texture_3d, testing::ElementsAre(16384, 16384, 16384));
    EXPECT_THAT(is.texture_2d_layered, testing::ElementsAre(32768, 32768, 2048));
    EXPECT_THAT(is.cubemap_layered, testing::ElementsAre(32768, 2046));
    EXPECT_THAT(is.pitch_2d, testing::ElementsAre(131072, 65000, 2097120));
}

TEST_P(DeviceTest, FreeMemoryShrinksOnAllocationAndRecoversOnFree) {
    constexpr std::size_t kBytes = 64 << 20;
    const MemoryInfo before = device().memory();
    EXPECT_LE(before.free, before.total);
    EXPECT_LE(before.total, device().properties().total_memory);
    {
        const Linear held(device(), kBytes);
        EXPECT_LE(device().memory().free, before.free - kBytes);
    }
    EXPECT_GE(device().memory().free + (on_cpu() ? 0 : std::size_t{4} << 20), before.free);
    EXPECT_EQ(device().memory().total, before.total);
}

TEST_P(DeviceTest, SynchronizeWaitsForEveryStream) {
    Linear memory(device(), 1 << 20);
    std::vector<Stream> streams;
    for (int i = 0; i < 4; ++i) streams.emplace_back(device());
    std::atomic<int> ran{0};
    for (const Stream& stream : streams) {
        stream.run([&ran] {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            ++ran;
        });
    }
    device().synchronize();
    EXPECT_EQ(ran.load(), 4);
}

TEST_P(DeviceTest, PeerAccessCanBeEnabledTwiceAndDisabled) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    if (!device().can_access(*other)) {
        expect_error([&] { device().enable_access(*other); }, ErrorCode::unsupported, "texton::Device");
        return;
    }
    device().enable_access(*other);
    device().enable_access(*other);
    Linear here(device(), 4096);
    Linear there(*other, 4096);
    fill(there.view(), std::uint8_t{7});
    copy(here.view(), there.view());
    EXPECT_TRUE(test::all_bytes(test::download(here.view()), 7));
    device().disable_access(*other);
    device().disable_access(*other);
}

TEST_P(DeviceTest, EnablingPeerAccessToItselfIsRefused) {
    expect_error([&] { device().enable_access(device()); }, ErrorCode::wrong_device, "texton::Device");
    expect_error([&] { device().disable_access(device()); }, ErrorCode::wrong_device, "texton::Device");
    EXPECT_TRUE(device().can_access(device()));
}

TEST(DeviceListTest, CudaDevicesComeFirstAndEveryDeviceHasAUniqueUuid) {
    const std::vector<Device> all = Device::list();
    ASSERT_FALSE(all.empty());
    EXPECT_TRUE(
        std::is_sorted(all.begin(), all.end(), [](const Device& a, const Device& b) { return a.kind() < b.kind(); }));
    std::set<std::array<std::uint8_t, 16>> identities;
    for (const Device& device : all) identities.insert(device.properties().uuid);
    EXPECT_EQ(identities.size(), all.size());
    EXPECT_EQ(Device::best(), all.front());
    EXPECT_EQ(all.back().kind(), DeviceKind::cpu);
}

TEST(DeviceListTest, AnEnvironmentVariableSetsTheNumberOfCpuDevices) {
    const char* count = std::getenv("TEXTON_CPU_DEVICES");
    ASSERT_NE(count, nullptr);
    const std::vector<Device> all = Device::list();
    const auto cpus =
        std::count_if(all.begin(), all.end(), [](const Device& d) { return d.kind() == DeviceKind::cpu; });
    EXPECT_EQ(cpus, std::atoi(count));
    for (int i = 0; i < cpus; ++i) EXPECT_EQ(Device::cpu(i).index(), i);
}

TEST(DeviceListTest, AMissingDeviceIsRefusedWithTheReason) {
    const Error error = expect_error([] { (void)Device::cpu(8); }, ErrorCode::bad_argument, "texton::Device", {"8"});
    EXPECT_EQ(test::number_of(error, "index"), 8u);
    expect_error([] { (void)Device::cpu(-1); }, ErrorCode::bad_argument, "texton::Device", {"-1"});
    expect_error([] { (void)Device::cuda(-1); }, ErrorCode::bad_argument, "texton::Device", {"-1"});
    const std::string why = Device::why_no_cuda();
    if (why.empty()) {
        EXPECT_EQ(Device::best().kind(), DeviceKind::cuda);
        expect_error([] { (void)Device::cuda(64); }, ErrorCode::bad_argument, "texton::Device", {"64"});
    } else {
        EXPECT_EQ(Device::best().kind(), DeviceKind::cpu);
        expect_error([] { (void)Device::cuda(); }, ErrorCode::bad_argument, "texton::Device", {"0", why});
    }
}

TEST(DeviceListTest, PeerAccessBetweenCpuAndCudaDevicesIsRefused) {
    const auto devices = test::one_of_each_kind();
    if (devices.size() < 2) GTEST_SKIP() << "no CUDA device: " << Device::why_no_cuda();
    EXPECT_FALSE(devices[0].can_access(devices[1]));
    EXPECT_FALSE(devices[1].can_access(devices[0]));
    expect_error([&] { devices[1].enable_access(devices[0]); }, ErrorCode::wrong_device, "texton::Device");
}

}  // namespace
}  // namespace texton
