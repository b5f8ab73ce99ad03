#pragma once
// Properties of a device and its machine that identify where an image was computed.
#include <string>
#include <string_view>

#include <texton/device.h>

namespace texton::viewer {

/// Properties of a device and its machine, as `texton devices` prints them.
struct DeviceFields {
    std::string name{};                ///< name of the device
    std::string compute_capability{};  ///< "9.0"; CPU device: "0.0"
    std::string driver_release{};      ///< version of the NVIDIA driver: "580.159.04"; empty if there is none
    int driver_version = 0;            ///< CUDA version of the driver: 13000 is 13.0; CPU device: 0
    std::string cpu{};                 ///< model of the machine's processor
};

/// Returns the fields of a device. Reads the version of the driver and the model of the processor once. Thread-safe.
[[nodiscard]] DeviceFields fields_of(const Device& device);

/// Returns the version of the NVIDIA driver that the system has loaded, as nvidia-smi prints it, or an empty text if
/// there is none. The kernel module tells it, or else NVML, which is loaded for that.
[[nodiscard]] std::string driver_release();
/// Returns the version in the text of /proc/driver/nvidia/version, or an empty text if it contains none.
[[nodiscard]] std::string driver_release_in(std::string_view text);

}  // namespace texton::viewer
