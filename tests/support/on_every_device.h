#pragma once
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <texton/device.h>

namespace texton {
/// Prints the parameter for GoogleTest.
inline void PrintTo(DeviceKind kind, std::ostream* out) { *out << (kind == DeviceKind::cpu ? "cpu" : "cuda"); }
}  // namespace texton

namespace texton::test {

/// Base of suites that run on the CPU device and on the first CUDA device.
///
/// Without a CUDA device the CUDA instance is skipped and reports the reason; if TEXTON_REQUIRE_GPU is 1 it fails. The
/// CPU device counts every byte, so a test that ends with less free memory than at its start fails there.
class OnEveryDevice : public testing::TestWithParam<DeviceKind> {
protected:
    void SetUp() override;
    void TearDown() override;

    const Device& device() const { return *device_; }
    bool on_cpu() const { return device_->kind() == DeviceKind::cpu; }
    /// Returns another device of the same kind if there is one.
    std::optional<Device> peer() const;
    /// Returns true unless the device is this one, or the same GPU, listed once more.
    bool is_other_hardware(const Device& other) const;
    /// Returns another device of the same kind that is other hardware, if there is one.
    std::optional<Device> other_hardware() const;

private:
    std::optional<Device> device_;
    std::size_t free_before_ = 0;
};

/// Values for INSTANTIATE_TEST_SUITE_P: `(Devices, SomeTest, every_device(), device_label)`.
inline auto every_device() { return testing::Values(DeviceKind::cpu, DeviceKind::cuda); }
[[nodiscard]] std::string device_label(const testing::TestParamInfo<DeviceKind>& info);

/// Returns the CPU device and, if there is one, the first CUDA device.
[[nodiscard]] std::vector<Device> one_of_each_kind();

/// True if a missing GPU is a failure (TEXTON_REQUIRE_GPU=1).
[[nodiscard]] bool gpu_required();

}  // namespace texton::test
