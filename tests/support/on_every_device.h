#pragma once
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <texton/device.h>

namespace texton {
/// How GoogleTest prints the parameter.
inline void PrintTo(DeviceKind kind, std::ostream* out) { *out << (kind == DeviceKind::cpu ? "cpu" : "cuda"); }
}  // namespace texton

namespace texton::test {

/// Base of the suites that run on the CPU device and on the first CUDA device.
///
/// Without a CUDA device that instance is skipped, with the reason; if TEXTON_REQUIRE_GPU is 1 it fails. On the CPU device,
/// which counts every byte, a test that ends with less free memory than it began with fails.
class OnEveryDevice : public testing::TestWithParam<DeviceKind> {
protected:
    void SetUp() override;
    void TearDown() override;

    const Device& device() const { return *device_; }
    bool on_cpu() const { return device_->kind() == DeviceKind::cpu; }
    /// Another device of the same kind, if there is one.
    std::optional<Device> peer() const;

private:
    std::optional<Device> device_;
    std::size_t free_before_ = 0;
};

/// For INSTANTIATE_TEST_SUITE_P: `(Devices, SomeTest, every_device(), device_label)`.
inline auto every_device() { return testing::Values(DeviceKind::cpu, DeviceKind::cuda); }
[[nodiscard]] std::string device_label(const testing::TestParamInfo<DeviceKind>& info);

/// The CPU device and the CUDA device, if there is one.
[[nodiscard]] std::vector<Device> one_of_each_kind();

/// True if a missing GPU is a failure.
[[nodiscard]] bool gpu_required();

}  // namespace texton::test
