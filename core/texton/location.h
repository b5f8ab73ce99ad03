#pragma once
// Locations of memory, access rights and handles for other processes.
#include <cstdint>
#include <string>

#include <texton/device.h>

namespace texton {

/// Kind of a memory location.
enum class LocationKind : std::uint8_t {
    none,              ///< no location
    device,            ///< a device
    host,              ///< the host
    host_numa,         ///< a NUMA node of the host
    host_numa_current  ///< the NUMA node nearest to the calling thread
};

/// A location of memory: a device, the host, or a NUMA node of the host.
struct Location {
    LocationKind kind = LocationKind::none;     ///< kind of the location
    int id = 0;                                 ///< index of the device or NUMA node; 0 for other kinds
    DeviceKind device_kind = DeviceKind::cuda;  ///< kind of the device, for LocationKind::device

    [[nodiscard]] static Location none() noexcept { return {}; }  ///< Returns no location.
    /// Returns the location of a device.
    [[nodiscard]] static Location device(const Device& device) noexcept {
        return {LocationKind::device, device.index(), device.kind()};
    }
    /// Returns the location of the host.
    [[nodiscard]] static Location host() noexcept { return {LocationKind::host, 0, DeviceKind::cuda}; }
    /// Returns the location of a NUMA node.
    [[nodiscard]] static Location host_numa(int node) noexcept {
        return {LocationKind::host_numa, node, DeviceKind::cuda};
    }
    /// Returns the location of the NUMA node nearest to the calling thread.
    [[nodiscard]] static Location host_numa_current() noexcept {
        return {LocationKind::host_numa_current, 0, DeviceKind::cuda};
    }
    bool operator==(const Location&) const = default;  ///< Returns true if all members are equal.
};

/// Returns the location as text, for example "CUDA device 0" or "host NUMA node 1".
[[nodiscard]] std::string to_string(const Location& location);

/// Access that a location has to memory.
enum class Access : std::uint8_t {
    none,       ///< no access
    read,       ///< read only
    read_write  ///< read and write
};

/// A location and the access that it gets.
struct AccessGrant {
    Location location;                   ///< the location
    Access access = Access::read_write;  ///< its access
};

/// Kind of a handle that passes memory to another process.
enum class HandleType : std::uint8_t {
    none,             ///< the memory cannot be shared
    file_descriptor,  ///< a POSIX file descriptor
    fabric            ///< 64 bytes, valid on all machines of the same NVLink fabric
};

/// A handle that passes memory to another process.
///
/// A file descriptor must be sent over a socket (SCM_RIGHTS) or inherited. Each process must close its descriptor. A
/// fabric handle is plain bytes.
struct ShareableHandle {
    HandleType type = HandleType::none;     ///< kind of the handle
    int file_descriptor = -1;               ///< for HandleType::file_descriptor
    std::array<std::uint8_t, 64> fabric{};  ///< for HandleType::fabric
};

}  // namespace texton
