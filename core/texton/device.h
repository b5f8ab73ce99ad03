#pragma once
// Devices, their properties and their limits.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// Images in the memory of a GPU, or of the CPU device, which returns the same bits.
namespace texton {

namespace detail {
class Backend;
}

/// Kind of a device.
enum class DeviceKind : std::uint8_t {
    cuda,  ///< a GPU, used through CUDA
    cpu    ///< the CPU device, which follows the same rules
};

/// Properties and capabilities of a device. They do not change while the process runs.
struct DeviceProperties {
    std::string name;                             ///< name to display
    DeviceKind kind = DeviceKind::cpu;            ///< kind of the device
    int index = 0;                                ///< index among the devices of its kind, from 0
    int ordinal = 0;                              ///< number of the GPU in CUDA; CPU device: the index
    std::array<std::uint8_t, 16> uuid{};          ///< unique identifier
    int compute_major = 0;                        ///< major compute capability; CPU device: 0
    int compute_minor = 0;                        ///< minor compute capability; CPU device: 0
    int multiprocessors = 0;                      ///< number of multiprocessors; CPU device: of its threads
    std::size_t total_memory = 0;                 ///< bytes of memory
    std::size_t l2_bytes = 0;                     ///< bytes of the L2 cache; CPU device: of the last-level cache
    bool managed_memory = false;                  ///< Managed is supported
    bool concurrent_managed_access = false;       ///< host and device can access managed memory at the same time
    bool pageable_memory_access = false;          ///< the device can access pageable host memory
    bool host_register = false;                   ///< Registered is supported
    bool host_register_read_only = false;         ///< RegisterOptions::read_only is supported
    bool host_pointer_is_device_pointer = false;  ///< mapped host memory has the same address on host and device
    bool memory_pools = false;                    ///< Pool is supported
    bool pool_file_descriptors = false;           ///< pools can be shared as POSIX file descriptors
    bool pool_fabric_handles = false;             ///< the driver reports fabric handles; creating one can still fail
    bool host_numa_pools = false;                 ///< pools on NUMA nodes of the host are supported
    bool virtual_memory = false;                  ///< Physical and AddressRange are supported
    int driver_version = 0;                       ///< 13000 is 13.0; CPU device: 0
    int runtime_version = 0;                      ///< 13000 is 13.0; CPU device: 0
};

/// Maximum sizes in texels and required alignments in bytes. The CPU device has the values of an H200.
struct DeviceLimits {
    std::size_t pitch_alignment = 512;                           ///< rows of pitched memory start at multiples of this
    std::size_t max_pitch = 2147483647;                          ///< maximum bytes between rows
    std::size_t texture_alignment = 512;                         ///< address of the first texel of a texture of memory
    std::size_t texture_pitch_alignment = 32;                    ///< pitch of a texture of pitched memory
    std::size_t surface_alignment = 512;                         ///< address of the first texel of a surface
    std::size_t texture_1d = 131072;                             ///< width
    std::array<std::size_t, 2> texture_2d{131072, 65536};        ///< width, height
    std::array<std::size_t, 3> texture_3d{16384, 16384, 16384};  ///< width, height, depth
    std::array<std::size_t, 2> texture_1d_layered{32768, 2048};  ///< width, layers
    std::array<std::size_t, 3> texture_2d_layered{32768, 32768, 2048};  ///< width, height, layers
    std::size_t cubemap = 32768;                                        ///< width and height of a face
    std::array<std::size_t, 2> cubemap_layered{32768, 2046};            ///< width and height of a face; total of faces
    std::array<std::size_t, 2> gather{32768, 32768};                    ///< width, height of arrays with gather
    std::array<std::size_t, 2> mipmap_2d{32768, 32768};                 ///< width, height of 2D arrays with levels
    std::size_t mipmap_1d = 32768;                                      ///< width of 1D arrays with levels
    /// Width, height, and pitch in bytes of a texture of pitched memory.
    std::array<std::size_t, 3> pitch_2d{131072, 65000, 2097120};
};

/// Memory of a device.
struct MemoryInfo {
    std::size_t free = 0;   ///< bytes that are free
    std::size_t total = 0;  ///< bytes in total
};

/// A device that runs work and holds memory: a CUDA GPU, or the CPU device, which follows the same rules.
///
/// A handle that is cheap to copy: copies refer to the same device. All devices live until the process ends, and all
/// functions are thread-safe.
///
/// Environment variables configure the devices when the first one is used:
/// - TEXTON_CPU_DEVICES (1 to 8, default 1) is the number of CPU devices, so that code for several devices can be tested
///   on any machine.
/// - TEXTON_CPU_MEMORY is the size of the memory that each of them has, in bytes or with a unit: 512M, 4G or 4GiB
///   (default: the memory of the machine).
/// - TEXTON_CPU_THREADS (1 to 1024) gives each of them so many threads that compute for no other device (default: they
///   share one thread for each processor).
/// - TEXTON_CUDA_DEVICES lists the CUDA devices by their ordinals in CUDA, for example 1,0 (default: all). A GPU that is
///   listed twice is two devices, which differ in their last byte of the UUID, to test code for several GPUs on one.
class Device {
public:
    /// Returns all devices: the CUDA devices in the order of the driver or of TEXTON_CUDA_DEVICES, then the CPU devices.
    [[nodiscard]] static std::vector<Device> list();
    /// Returns all devices of a kind. The list of CPU devices does not initialize CUDA.
    [[nodiscard]] static std::vector<Device> list(DeviceKind kind);
    /// Returns the first CUDA device, or the CPU device if there is none.
    [[nodiscard]] static Device best();
    /// Returns a CUDA device. Throws Error{bad_argument} if it does not exist; the message then says why.
    [[nodiscard]] static Device cuda(int index = 0);
    /// Returns a CPU device. Throws Error{bad_argument} if it does not exist.
    [[nodiscard]] static Device cpu(int index = 0);
    /// Returns why Device::list() has no CUDA device, for example because no driver is installed. Empty if it has one.
    [[nodiscard]] static std::string why_no_cuda();

    DeviceKind kind() const noexcept;                     ///< Returns the kind of the device.
    int index() const noexcept;                           ///< Returns the index among the devices of its kind.
    const std::string& name() const noexcept;             ///< Returns the name of the device.
    const DeviceProperties& properties() const noexcept;  ///< Returns the properties.
    const DeviceLimits& limits() const noexcept;          ///< Returns the limits.
    /// Returns the free and total memory at this time. Other processes can change it at any time.
    MemoryInfo memory() const;
    /// Blocks until all work on all streams of the device is done. Throws Error{capturing} while any thread records a
    /// graph, because CUDA would invalidate the capture. A capture that another thread begins at the same moment may be
    /// invalidated: the caller must order the two.
    void synchronize() const;

    /// Returns true if this device can directly access the memory of `peer`. Copies between devices do not need this.
    bool can_access(const Device& peer) const;
    /// Allows kernels and copies of this device to access the memory of `peer`. Repeated calls have no effect.
    ///
    /// Throws Error{wrong_device} if `peer` is this device or of another kind, and Error{unsupported} if the devices
    /// cannot access each other.
    void enable_access(const Device& peer) const;
    /// Ends the access that enable_access() allowed. Throws Error{wrong_device} if `peer` is this device or of another
    /// kind.
    void disable_access(const Device& peer) const;

    bool operator==(const Device&) const = default;  ///< Returns true if both are the same device.

    /// For Texton's implementation only.
    explicit Device(detail::Backend& backend) noexcept : backend_(&backend) {}
    detail::Backend& backend() const noexcept { return *backend_; }  ///< For Texton's implementation only.

private:
    detail::Backend* backend_;
};

}  // namespace texton
