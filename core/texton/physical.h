#pragma once
// Physical memory, and ranges of addresses that it is mapped to.
#include <memory>
#include <span>

#include <texton/location.h>
#include <texton/view.h>

namespace texton {

namespace detail {
struct NativePhysical;
}

/// Options of physical memory (cuMemCreate).
struct PhysicalInfo {
    Location location = Location::none();  ///< a device or a NUMA node; none: the creating device
    HandleType handle = HandleType::none;  ///< kind of handle that can be exported
    /// For sparse and deferred arrays. The memory cannot be mapped to addresses, and must have no handle type.
    bool tile_pool = false;
    bool operator==(const PhysicalInfo&) const = default;  ///< Returns true if all members are equal.
};

/// Which granularity Physical::granularity() returns.
enum class Granularity : std::uint8_t {
    minimum,     ///< the smallest unit that the driver accepts
    recommended  ///< the unit with the best performance
};

/// Owns physical memory, which has no address until an AddressRange maps it. Memory of a tile pool is mapped to sparse
/// and deferred arrays instead.
///
/// Copies share the memory. It is released when the last copy and the last mapping are gone. A default-constructed or
/// moved-from object is empty: bytes() is 0, and the other member functions throw Error{released}. Several threads may
/// call const member functions at once.
class Physical {
public:
    /// Returns the granularity in bytes: sizes of physical memory and offsets of mappings must be multiples of it.
    ///
    /// Throws Error{unsupported} if the device has no virtual memory management. Throws Error{wrong_location} if the
    /// location is another device, the host without a NUMA node number, or, for a tile pool, any NUMA node.
    [[nodiscard]] static std::size_t granularity(const Device& device, const PhysicalInfo& info = {},
                                                 Granularity which = Granularity::minimum);

    Physical() = default;  ///< Creates an empty object.
    /// Allocates physical memory.
    ///
    /// Throws
    /// - Error{bad_argument} if `bytes` is 0 or not a multiple of the granularity; the message contains the next
    ///   multiple,
    /// - Error{out_of_memory} if there is too little memory,
    /// - Error{not_permitted} for memory of a tile pool with a handle type,
    /// - Error{capturing} while the calling thread records a graph,
    /// - the errors of granularity().
    Physical(const Device& device, std::size_t bytes, const PhysicalInfo& info = {});
    /// Imports memory of another process. `bytes` must be the size that it was created with. The caller must close a
    /// file descriptor, and may do so after this call. Throws Error{bad_argument} if `bytes` is 0, not a multiple of the
    /// granularity or more than the memory has, and for a handle without a type or a closed file descriptor.
    [[nodiscard]] static Physical import(const Device& device, const ShareableHandle& handle, std::size_t bytes);

    /// Returns a handle for another process. If it is a file descriptor, the caller must close it. Throws
    /// Error{not_permitted} if the memory was not created with this kind of handle, and for memory of a tile pool.
    [[nodiscard]] ShareableHandle export_handle(HandleType type = HandleType::file_descriptor) const;

    std::size_t bytes() const noexcept;  ///< Returns the size in bytes, a multiple of the granularity.
    PhysicalInfo info() const;           ///< Returns the options. The location is never none.
    Device device() const;               ///< Returns the device that created or imported the memory.

    const std::shared_ptr<detail::Block>& block() const noexcept { return block_; }  ///< For internal use.
    detail::NativePhysical* handle() const;                                          ///< For internal use.

private:
    std::shared_ptr<detail::Block> block_;
};

/// Owns a range of device addresses to which physical memory is mapped.
///
/// Copies refer to the same range. Views keep the range and its mappings alive; it is freed when the last of them is
/// gone, after the device has finished its work, and after the recording if that thread records a graph. A view is valid
/// while the memory that it covers stays mapped: after unmap(), its use throws Error{released}. A default-constructed or
/// moved-from object is empty: bytes() is 0, data() is null, and the other member functions throw Error{released}.
/// Several threads may call map(), unmap(), set_access() and const member functions at once.
class AddressRange {
public:
    AddressRange() = default;  ///< Creates an empty object.
    /// Reserves addresses. `bytes` must be a multiple of Physical::granularity(). `alignment` in bytes is 0 (no
    /// requirement) or a power of two times the granularity.
    ///
    /// Throws Error{bad_argument} for other values, and Error{unsupported} if the device has no virtual memory
    /// management.
    AddressRange(const Device& device, std::size_t bytes, std::size_t alignment = 0);

    /// Maps all of `memory` to the addresses from byte `offset` on, without waiting for work. No device can access the
    /// mapping before set_access().
    ///
    /// Throws
    /// - Error{out_of_bounds} if the memory does not fit at the offset,
    /// - Error{bad_argument} if the offset is not a multiple of the granularity,
    /// - Error{overlap} if other memory is mapped there,
    /// - Error{not_permitted} for memory of a tile pool,
    /// - Error{wrong_device} if the memory belongs to another device.
    ///
    /// After an exception nothing was mapped.
    void map(std::size_t offset, const Physical& memory);
    /// Unmaps the memory that map() mapped at `offset`, after the device has finished its work.
    ///
    /// Throws Error{bad_argument} if no mapping starts at the offset, and Error{capturing} while the calling thread
    /// records a graph.
    void unmap(std::size_t offset);
    /// Sets the access of devices or NUMA nodes to all memory that is mapped now.
    ///
    /// Throws Error{bad_argument} if `grants` is empty, and Error{wrong_location} for other locations. If the driver
    /// fails, the access to some of the mappings can have changed.
    void set_access(std::span<const AccessGrant> grants) const;
    /// Allows the device to read and write all memory that is mapped now.
    void set_access() const;

    std::byte* data() const noexcept;    ///< Returns the first address.
    std::size_t bytes() const noexcept;  ///< Returns the size in bytes.
    Device device() const;               ///< Returns the device of the addresses.
    /// Returns a view of `extent` packed texels from byte `offset` on.
    ///
    /// Throws Error{not_permitted} if a part is not mapped or the device cannot write it, Error{out_of_bounds} if the
    /// texels do not fit, and Error{bad_argument} if a dimension is 0 or the format is planar.
    View view(Format format, Extent extent, std::size_t offset = 0) const;

private:
    std::shared_ptr<detail::Block> block_;
};

}  // namespace texton
