#pragma once
// Memory pools: allocation and deallocation in stream order.
#include <memory>
#include <optional>
#include <span>

#include <texton/linear.h>
#include <texton/location.h>

namespace texton {

/// Kind of memory of a pool.
enum class PoolType : std::uint8_t {
    pinned,  ///< memory that stays at the pool's location
    managed  ///< managed memory, which moves to where it is used
};

/// Options of a new pool. To be imported by other processes, a pool needs a handle type. Pools on the host without a
/// NUMA node and managed pools cannot be shared.
struct PoolInfo {
    Location location = Location::none();  ///< none: the creating device; managed pools: no preferred location
    PoolType type = PoolType::pinned;      ///< kind of memory
    HandleType handle = HandleType::none;  ///< kind of handle that can be exported
    std::size_t max_bytes = 0;             ///< maximum size; 0: limited by the device only; managed pools: must be 0
    bool operator==(const PoolInfo&) const = default;  ///< Returns true if all members are equal.
};

/// Memory use of a pool in bytes.
struct PoolUsage {
    std::uint64_t reserved = 0;       ///< bytes that the pool holds from the system
    std::uint64_t reserved_high = 0;  ///< maximum of `reserved` since the last reset
    std::uint64_t used = 0;           ///< bytes that are allocated by the program
    std::uint64_t used_high = 0;      ///< maximum of `used` since the last reset
};

/// When memory that was freed on one stream can be allocated on another stream.
struct PoolReuse {
    bool follow_event_dependencies = true;              ///< if the other stream has waited for an event after the free
    bool opportunistic = true;                          ///< if the free is already complete
    bool internal_dependencies = true;                  ///< always; the pool makes the other stream wait for the free
    bool operator==(const PoolReuse&) const = default;  ///< Returns true if all members are equal.
};

/// An allocation of a shared pool, for another process that imports it. Plain bytes.
struct PointerExport {
    std::array<std::uint8_t, 64> bytes{};  ///< CUDA's description of the allocation
};

namespace detail {
struct PoolState;
}

/// A pool of memory that is allocated and freed in stream order. The pool keeps freed memory for the next allocation
/// instead of returning it to the system each time.
///
/// A handle that is cheap to copy: copies refer to the same pool. A pool that was created or imported is destroyed when
/// its last handle and its last allocation are gone. Default pools live until the process ends. All functions are
/// thread-safe.
///
/// While the calling thread records a graph, usage(), trim(), set_access() and the functions that get or set attributes
/// throw Error{capturing}, because a driver would invalidate the capture.
class Pool {
public:
    /// Creates a pool.
    ///
    /// Throws
    /// - Error{unsupported} if the device does not support such a pool,
    /// - Error{wrong_location} if the location is another device or Location::host_numa_current(),
    /// - Error{bad_argument} for combinations that PoolInfo excludes.
    explicit Pool(const Device& device, const PoolInfo& info = {});
    /// Returns the default pool of a location: a device, the host or a NUMA node. Managed pools also accept no
    /// location. Throws Error{wrong_location} for other locations, and Error{unsupported} if the device has no NUMA
    /// pools.
    [[nodiscard]] static Pool default_of(const Device& device, const Location& location,
                                         PoolType type = PoolType::pinned);
    /// Returns the default pool of the device's memory.
    [[nodiscard]] static Pool default_of(const Device& device);
    /// Returns the current pool of a location: the default pool, or the one that make_current() chose. Linear::async()
    /// allocates from the current pool of the device. Throws the errors of default_of().
    [[nodiscard]] static Pool current(const Device& device, const Location& location, PoolType type = PoolType::pinned);
    /// Returns the current pool of the device's memory.
    [[nodiscard]] static Pool current(const Device& device);
    /// Imports a pool of another process. An imported pool cannot allocate; it gives access to allocations of the other
    /// process with import_pointer(). The caller must close a file descriptor, and may do so after this call. Throws
    /// Error{bad_argument} for a handle without a type or a closed file descriptor.
    [[nodiscard]] static Pool import(const Device& device, const ShareableHandle& handle);
    // No moves: a handle always refers to its pool.
    Pool(const Pool&) = default;             ///< Copies the handle.
    Pool& operator=(const Pool&) = default;  ///< Copies the handle.

    /// Makes this the current pool of its location and type. This does not keep the pool alive: when it is destroyed,
    /// the default pool becomes current again. Throws Error{not_permitted} for an imported pool.
    void make_current() const;

    /// Allocates memory in stream order, as Linear::async() does. The stream can belong to another device if that
    /// device has access to the pool.
    ///
    /// Throws
    /// - Error{bad_argument} for 0 bytes,
    /// - Error{out_of_memory} with the requested and the free bytes,
    /// - Error{wrong_device} if the stream's device has no access,
    /// - Error{not_permitted} for an imported pool.
    [[nodiscard]] Linear allocate(std::size_t bytes, const Stream& stream) const;

    PoolUsage usage() const;           ///< Returns the memory use.
    void reset_used_high() const;      ///< Resets PoolUsage::used_high to the current value.
    void reset_reserved_high() const;  ///< Resets PoolUsage::reserved_high to the current value.
    /// Returns how many bytes the pool keeps when a stream, event or device is synchronized. Initially 0.
    std::uint64_t release_threshold() const;
    void set_release_threshold(std::uint64_t bytes) const;  ///< Sets the value of release_threshold().
    PoolReuse reuse() const;                                ///< Returns when freed memory is reused.
    void set_reuse(PoolReuse reuse) const;                  ///< Sets when freed memory is reused.
    /// Returns unused memory to the system until the pool holds at most `keep` bytes.
    void trim(std::size_t keep = 0) const;

    /// Returns the access of a location to the pool. A pool on a device accepts devices of its kind; a pool on the host
    /// also accepts the host and NUMA nodes. Throws Error{wrong_location} for other locations.
    Access access(const Location& location) const;
    /// Sets the access of locations to the pool. Accepts the same locations as access(). Throws Error{bad_argument} if
    /// `grants` is empty, or if the pool's own location would lose its access.
    void set_access(std::span<const AccessGrant> grants) const;

    /// Returns a handle for another process. If it is a file descriptor, the caller must close it. Throws
    /// Error{not_permitted} if the pool was not created with this kind of handle, or if it is imported.
    [[nodiscard]] ShareableHandle export_handle(HandleType type = HandleType::file_descriptor) const;
    /// Returns a description of an allocation for a process that imports the pool. On a CUDA device, export_handle()
    /// must have been called before. Throws Error{bad_argument} if the memory is not from this pool, and
    /// Error{not_permitted} if the pool was created without a handle type.
    [[nodiscard]] PointerExport export_pointer(const Linear& memory) const;
    /// Imports an allocation of an imported pool. `bytes` is its size. The two processes must order their accesses
    /// themselves. The memory is freed after this device has finished its work. The result must be destroyed before the
    /// exporting process frees the memory.
    ///
    /// Throws Error{out_of_bounds} if `bytes` exceeds the allocation, Error{bad_argument} for 0 bytes, and
    /// Error{not_permitted} if this pool is not imported.
    [[nodiscard]] Linear import_pointer(const PointerExport& pointer, std::size_t bytes) const;

    Device device() const;                              ///< Returns the device that created or imported the pool.
    const PoolInfo& info() const noexcept;              ///< Returns the options of the pool.
    bool imported() const noexcept;                     ///< Returns true if the pool belongs to another process.
    bool operator==(const Pool& other) const noexcept;  ///< Returns true if both refer to the same pool.

    /// For internal use.
    explicit Pool(std::shared_ptr<detail::PoolState> state) noexcept : state_(std::move(state)) {}
    const std::shared_ptr<detail::PoolState>& state() const noexcept { return state_; }  ///< For internal use.

private:
    std::shared_ptr<detail::PoolState> state_;
};

}  // namespace texton
