#pragma once
#include <cstdint>
#include <string>

#include <texton/device.h>

namespace texton {

enum class LocationKind : std::uint8_t { none, device, host, host_numa, host_numa_current };

/// Where memory lives or should go: a device, the host, or one NUMA node of the host.
struct Location {
    LocationKind kind = LocationKind::none;
    int id = 0;                                 ///< device index or NUMA node; 0 where it means nothing
    DeviceKind device_kind = DeviceKind::cuda;  ///< of kind device only

    [[nodiscard]] static Location none() noexcept { return {}; }
    [[nodiscard]] static Location device(const Device& device) noexcept {
        return {LocationKind::device, device.index(), device.kind()};
    }
    [[nodiscard]] static Location host() noexcept { return {LocationKind::host, 0, DeviceKind::cuda}; }
    [[nodiscard]] static Location host_numa(int node) noexcept {
        return {LocationKind::host_numa, node, DeviceKind::cuda};
    }
    /// The NUMA node nearest to the calling thread.
    [[nodiscard]] static Location host_numa_current() noexcept {
        return {LocationKind::host_numa_current, 0, DeviceKind::cuda};
    }
    bool operator==(const Location&) const = default;
};

[[nodiscard]] std::string to_string(const Location& location);

/// What a location may do with memory.
enum class Access : std::uint8_t { none, read, read_write };

/// Gives `location` the access `access`.
struct AccessGrant {
    Location location;
    Access access = Access::read_write;
};

/// How memory is handed to another process.
enum class HandleType : std::uint8_t { none, file_descriptor, fabric };

/// A handle on its way to another process. A file descriptor must be passed over a socket (SCM_RIGHTS) or inherited, and is
/// closed by whoever holds it; a fabric handle is 64 bytes that mean the same everywhere.
struct ShareableHandle {
    HandleType type = HandleType::none;
    int file_descriptor = -1;
    std::array<std::uint8_t, 64> fabric{};
};

}  // namespace texton
