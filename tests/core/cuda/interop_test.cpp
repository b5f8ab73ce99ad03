#include <texton/cuda_interop.h>

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <texton/copy.h>
#include <texton/error.h>
#include <texton/fill.h>
#include <texton/linear.h>

#include "tests/support/expect_error.h"
#include "tests/support/on_every_device.h"
#include "tests/support/texels.h"

namespace texton {
namespace {

using test::expect_error;

class CudaInteropTest : public test::OnEveryDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, CudaInteropTest, testing::Values(DeviceKind::cuda), test::device_label);

TEST(CudaInteropCpuTest, ObjectsOfTheCpuDeviceHaveNoCudaHandle) {
    const Device cpu = Device::cpu();
    const Stream stream(cpu);
    const Event event(cpu);
    const Pool pool(cpu);
    const Graph graph = Graph::capture(stream, [] {});
    expect_error([&] { (void)ordinal(cpu); }, ErrorCode::wrong_device, "texton::ordinal", {cpu.name()});
    expect_error([&] { (void)native(stream); }, ErrorCode::wrong_device, "texton::native", {cpu.name()});
    expect_error([&] { (void)native(event); }, ErrorCode::wrong_device, "texton::native", {cpu.name()});
    expect_error([&] { (void)native(pool); }, ErrorCode::wrong_device, "texton::native", {cpu.name()});
    expect_error([&] { (void)native(graph); }, ErrorCode::wrong_device, "texton::native", {cpu.name()});
    expect_error([&] { (void)adopt_stream(cpu, nullptr); }, ErrorCode::wrong_device, "texton::adopt_stream",
                 {cpu.name()});
}

// Records the properties of the machine that tests/gpu/report.py prints.
void record(const Device& device, int devices) {
    const DeviceProperties& is = device.properties();
    const auto version = [](int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); };
    testing::Test::RecordProperty("cuda_device", is.name);
    testing::Test::RecordProperty("cuda_devices", devices);
    testing::Test::RecordProperty("cuda_compute", fmt::format("{}.{}", is.compute_major, is.compute_minor));
    testing::Test::RecordProperty("cuda_driver", version(is.driver_version));
    testing::Test::RecordProperty("cuda_runtime", version(is.runtime_version));
}

TEST_P(CudaInteropTest, TheOrdinalIsTheDeviceIndexOfTheCudaRuntime) {
    cudaDeviceProp properties{};
    ASSERT_EQ(cudaGetDeviceProperties(&properties, ordinal(device())), cudaSuccess);
    EXPECT_EQ(device().name(), properties.name);
    EXPECT_EQ(ordinal(device()), device().index());
    int devices = 0;
    ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
    record(device(), devices);
}

TEST_P(CudaInteropTest, CudaCallsOnANativeStreamRunInStreamOrder) {
    const Linear memory(device(), 1 << 20);
    const Stream stream(device());
    fill(memory.view(), std::uint8_t{1}, stream);
    ASSERT_EQ(cudaMemsetAsync(memory.data(), 2, memory.bytes() / 2, native(stream)), cudaSuccess);
    std::vector<std::byte> host(memory.bytes());
    copy(host_view(std::span(host)), memory.view(), stream);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(std::span(host).first(host.size() / 2), 2));
    EXPECT_TRUE(test::all_bytes(std::span(host).last(host.size() / 2), 1));
}

TEST_P(CudaInteropTest, AnAdoptedStreamRunsWorkOfTextonAndIsNotDestroyed) {
    cudaStream_t raw = nullptr;
    ASSERT_EQ(cudaSetDevice(ordinal(device())), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking), cudaSuccess);
    const Linear memory(device(), 4096);
    {
        const Stream stream = adopt_stream(device(), raw);
        EXPECT_EQ(native(stream), raw);
        EXPECT_EQ(stream.device(), device());
        fill(memory.view(), std::uint8_t{9}, stream);
        stream.synchronize();
    }
    EXPECT_EQ(cudaStreamQuery(raw), cudaSuccess) << "the stream was destroyed";
    EXPECT_EQ(cudaStreamDestroy(raw), cudaSuccess);
    EXPECT_TRUE(test::all_bytes(test::download(memory.view()), 9));
}

TEST_P(CudaInteropTest, TheLegacyStreamIsAdoptedAndThePerThreadStreamIsRefused) {
    EXPECT_EQ(native(adopt_stream(device(), nullptr)), nullptr);
    EXPECT_EQ(native(adopt_stream(device(), cudaStreamLegacy)), nullptr);
    expect_error([&] { (void)adopt_stream(device(), cudaStreamPerThread); }, ErrorCode::bad_argument,
                 "texton::adopt_stream", {"thread"});
}

TEST_P(CudaInteropTest, AStreamOfAnotherDeviceIsRefused) {
    const auto other = other_hardware();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    const Stream stream(*other);
    expect_error([&] { (void)adopt_stream(device(), native(stream)); }, ErrorCode::wrong_device,
                 "texton::adopt_stream");
}

TEST_P(CudaInteropTest, EventsPoolsAndGraphsHaveNativeCudaHandles) {
    const Stream stream(device());
    const Event event(device());
    event.record(stream);
    EXPECT_EQ(cudaEventSynchronize(native(event)), cudaSuccess);

    cudaMemPool_t expected = nullptr;
    ASSERT_EQ(cudaDeviceGetDefaultMemPool(&expected, ordinal(device())), cudaSuccess);
    EXPECT_EQ(native(Pool::default_of(device())), expected);

    const Linear memory(device(), 64);
    fill(memory.view(), std::uint8_t{0});
    const Graph graph = Graph::capture(stream, [&] { fill(memory.view(), std::uint8_t{5}, stream); });
    ASSERT_EQ(cudaGraphLaunch(native(graph), native(stream)), cudaSuccess);
    stream.synchronize();
    EXPECT_TRUE(test::all_bytes(test::download(memory.view()), 5));
}

TEST_P(CudaInteropTest, CallsKeepTheCurrentCudaDeviceOfTheCaller) {
    const auto other = peer();
    if (!other) GTEST_SKIP() << "needs a second device of the kind";
    ASSERT_EQ(cudaSetDevice(ordinal(device())), cudaSuccess);
    const Linear memory(*other, 4096);
    fill(memory.view(), std::uint8_t{3});
    fill(memory.view(), std::uint32_t{3});
    int current = -1;
    ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
    EXPECT_EQ(current, ordinal(device()));
}

}  // namespace
}  // namespace texton
