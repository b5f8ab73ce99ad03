#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace texton {

namespace detail {
class Backend;
}

enum class DeviceKind : std::uint8_t { cuda, cpu };

/// What the device is and can do. Fixed while the process runs.
struct DeviceProperties {
    std::string name;
    DeviceKind kind = DeviceKind::cpu;
    int index = 0;  ///< among the devices of its kind
    std::array<std::uint8_t, 16> uuid{};
    int compute_major = 0;  ///< 0 on the CPU device
    int compute_minor = 0;
    int multiprocessors = 0;  ///< CPU device: hardware threads
    std::size_t total_memory = 0;
    std::size_t l2_bytes = 0;
    bool managed_memory = false;
    bool concurrent_managed_access = false;  ///< host and device may touch managed memory at the same time
    bool pageable_memory_access = false;
    bool host_register = false;
    bool host_register_read_only = false;
    bool host_pointer_is_device_pointer = false;  ///< mapped host memory has one address on both sides
    bool memory_pools = false;
    bool pool_file_descriptors = false;  ///< pools may be shared as POSIX file descriptors
    bool pool_fabric_handles = false;    ///< what the driver claims; making one may still be refused
    bool host_numa_pools = false;
    bool virtual_memory = false;  ///< Physical and AddressRange work
    int driver_version = 0;       ///< 13000 is 13.0; 0 on the CPU device
    int runtime_version = 0;
};

/// The largest sizes and the alignments that the device demands. The CPU device has those of an H200.
struct DeviceLimits {
    std::size_t pitch_alignment = 512;  ///< rows of pitched memory start at multiples of it
    std::size_t max_pitch = 2147483647;
    std::size_t texture_alignment = 512;
    std::size_t texture_pitch_alignment = 32;
    std::size_t surface_alignment = 512;
    std::size_t texture_1d = 131072;
    std::array<std::size_t, 2> texture_2d{131072, 65536};
    std::array<std::size_t, 3> texture_3d{16384, 16384, 16384};
    std::array<std::size_t, 2> texture_1d_layered{32768, 2048};
    std::array<std::size_t, 3> texture_2d_layered{32768, 32768, 2048};
    std::size_t cubemap = 32768;
    std::array<std::size_t, 2> cubemap_layered{32768, 2046};
    std::array<std::size_t, 2> gather{32768, 32768};
    std::array<std::size_t, 2> mipmap_2d{32768, 32768};
    std::size_t mipmap_1d = 32768;
    std::array<std::size_t, 3> pitch_2d{131072, 65000,
                                        2097120};  ///< width, height, pitch of a texture on pitched memory
};

struct MemoryInfo {
    std::size_t free = 0;
    std::size_t total = 0;
};

/// A place where work runs and memory lives: a CUDA GPU, or the CPU device, which obeys the same rules.
///
/// A cheap handle: copies name the same device. All devices live as long as the process. The environment variable
/// TEXTON_CPU_DEVICES (1 to 8, default 1) sets how many CPU devices there are, so that code for several devices can be tried
/// anywhere; TEXTON_CPU_MEMORY sets the bytes of memory that each claims to have (default: the machine's).
class Device {
public:
    /// CUDA devices first, in the driver's order; then the CPU devices.
    [[nodiscard]] static std::vector<Device> list();
    /// The first CUDA device, or else the CPU device.
    [[nodiscard]] static Device best();
    /// Throws Error{bad_argument} if there is no such device; its text says why CUDA has none.
    [[nodiscard]] static Device cuda(int index = 0);
    [[nodiscard]] static Device cpu(int index = 0);
    /// Why Device::list() has no CUDA device ("built without CUDA", "no driver"); empty if it has one.
    [[nodiscard]] static std::string why_no_cuda();

    DeviceKind kind() const noexcept;
    int index() const noexcept;
    const std::string& name() const noexcept;
    const DeviceProperties& properties() const noexcept;
    const DeviceLimits& limits() const noexcept;
    MemoryInfo memory() const;
    /// Waits for all work of the device. Error{capturing} while any thread records a graph, which CUDA would break off.
    void synchronize() const;

    /// True if this device can be given direct access to `peer`'s memory. Copies between devices work without it, too.
    bool can_access(const Device& peer) const;
    /// Lets kernels and copies of this device touch `peer`'s memory. Doing it twice changes nothing.
    void enable_access(const Device& peer) const;
    void disable_access(const Device& peer) const;

    bool operator==(const Device&) const = default;

    /// For Texton's own parts.
    explicit Device(detail::Backend& backend) noexcept : backend_(&backend) {}
    detail::Backend& backend() const noexcept { return *backend_; }

private:
    detail::Backend* backend_;
};

}  // namespace texton
