#include "tests/support/on_every_device.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace texton::test {

bool gpu_required() {
    const char* required = std::getenv("TEXTON_REQUIRE_GPU");
    return required != nullptr && std::string_view(required) == "1";
}

std::string device_label(const testing::TestParamInfo<DeviceKind>& info) {
    return info.param == DeviceKind::cpu ? "cpu" : "cuda";
}

std::vector<Device> one_of_each_kind() {
    std::vector<Device> devices{Device::cpu()};
    if (Device::why_no_cuda().empty()) devices.push_back(Device::cuda());
    return devices;
}

void OnEveryDevice::SetUp() {
    if (GetParam() == DeviceKind::cuda) {
        const std::string why = Device::why_no_cuda();
        if (!why.empty()) {
            if (gpu_required()) FAIL() << "TEXTON_REQUIRE_GPU is 1, but there is no CUDA device: " << why;
            GTEST_SKIP() << "no CUDA device: " << why;
        }
        device_ = Device::cuda();
    } else {
        device_ = Device::cpu();
    }
    device_->synchronize();
    free_before_ = device_->memory().free;
}

void OnEveryDevice::TearDown() {
    if (!device_) return;
    device_->synchronize();
    if (on_cpu()) {
        EXPECT_GE(device_->memory().free, free_before_) << "the test did not free all memory of the device";
    }
}

std::optional<Device> OnEveryDevice::peer() const {
    for (const Device& other : Device::list()) {
        if (other.kind() == device_->kind() && other != *device_) return other;
    }
    return std::nullopt;
}

bool OnEveryDevice::is_other_hardware(const Device& other) const {
    if (other.kind() != device_->kind() || device_->kind() == DeviceKind::cpu) return other != *device_;
    // The devices that list one GPU several times differ in the last byte of their identifiers.
    const auto& own = device_->properties().uuid;
    return !std::equal(own.begin(), own.end() - 1, other.properties().uuid.begin());
}

std::optional<Device> OnEveryDevice::other_hardware() const {
    for (const Device& other : Device::list(device_->kind())) {
        if (is_other_hardware(other)) return other;
    }
    return std::nullopt;
}

}  // namespace texton::test
