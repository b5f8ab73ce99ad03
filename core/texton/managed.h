#pragma once
// Managed memory: one address for the host and the devices.
#include <optional>
#include <vector>

#include <texton/location.h>
#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Who can access managed memory.
enum class Attach : std::uint8_t {
    global,  ///< all streams of all devices
    host,    ///< the host only, until the memory is attached to a stream
    single   ///< one stream only; for Managed::attach()
};

/// Advice for the driver about the use of managed memory (cudaMemAdvise).
enum class Advice : std::uint8_t {
    set_read_mostly,           ///< the range is mostly read
    unset_read_mostly,         ///< cancels set_read_mostly
    set_preferred_location,    ///< the range should stay at the location
    unset_preferred_location,  ///< cancels set_preferred_location
    set_accessed_by,           ///< the range should stay mapped for the location
    unset_accessed_by          ///< cancels set_accessed_by
};

/// A range of bytes in a memory.
struct ByteRange {
    std::size_t offset = 0;  ///< first byte
    std::size_t count = 0;   ///< number of bytes; 0: all bytes up to the end
};

/// Attributes of a range of managed memory. A location is reported only if it holds for the whole range.
struct RangeAttributes {
    bool read_mostly = false;                    ///< true if Advice::set_read_mostly holds
    std::optional<Location> preferred_location;  ///< the preferred location, if there is one
    std::vector<Location> accessed_by;           ///< the locations of Advice::set_accessed_by
    std::optional<Location> last_prefetch;       ///< the target of the last prefetch, if there was one
};

/// Owns managed memory: it has the same address on the host and on devices, and the driver moves it to where it is used
/// (cudaMallocManaged).
///
/// Copies of a Managed share the memory. Views keep it alive; it is freed when the last of them is gone, after the
/// device has finished its work. A default-constructed or moved-from object is empty: bytes() is 0, data() is null, and
/// the other member functions throw Error{released}. Several threads may call const member functions at once.
///
/// The host and a device may access the memory at the same time only if DeviceProperties::concurrent_managed_access is
/// true. Otherwise the host must wait for the device's work before it accesses the memory. In both cases the caller
/// must order accesses to the same bytes.
class Managed {
public:
    Managed() = default;  ///< Creates an empty object.
    /// Allocates managed memory. `attach` must be Attach::global or Attach::host.
    ///
    /// Throws
    /// - Error{bad_argument} for 0 bytes or Attach::single,
    /// - Error{unsupported} if the device has no managed memory,
    /// - Error{out_of_memory} if the size exceeds the free memory of the device, which the driver would accept,
    /// - Error{capturing} while the calling thread records a graph.
    Managed(const Device& device, std::size_t bytes, Attach attach = Attach::global);

    std::byte* data() const noexcept;    ///< Returns the address of the first byte.
    std::size_t bytes() const noexcept;  ///< Returns the size in bytes.
    Device device() const;               ///< Returns the device that the memory was allocated on.
    View view() const;                   ///< Returns a view of all bytes as one row of r8_uint.
    /// Returns a view of `extent` packed texels from the first byte on. Throws Error{out_of_bounds} if they do not fit,
    /// and Error{bad_argument} if a dimension is 0 or the format is planar.
    View view(Format format, Extent extent) const;

    /// Advises the driver how the range will be used. set_preferred_location accepts a device, the host or a NUMA node;
    /// set_accessed_by and unset_accessed_by accept a device or the host. Other advice ignores the location.
    ///
    /// Throws Error{wrong_location} for other locations and Error{out_of_bounds} if the range exceeds the memory.
    void advise(Advice advice, const Location& location = Location::none(), ByteRange range = {}) const;
    /// Enqueues the migration of the range to a device, the host or a NUMA node.
    ///
    /// Throws Error{wrong_location} for other locations, Error{wrong_device} if the stream belongs to a device of
    /// another kind, and Error{out_of_bounds} if the range exceeds the memory.
    void prefetch(const Location& location, const Stream& stream, ByteRange range = {}) const;
    /// Enqueues a change of who can access the memory. Attach::single allows `stream` only.
    ///
    /// Throws Error{bad_argument} for Attach::single with a default stream, and Error{wrong_device} if the stream
    /// belongs to a device of another kind.
    void attach(const Stream& stream, Attach attach) const;

    /// Returns true if Advice::set_read_mostly holds for the whole range. Like the following functions, throws
    /// Error{out_of_bounds} if the range exceeds the memory.
    bool read_mostly(ByteRange range = {}) const;
    /// Returns the preferred location of the range, or nullopt. CUDA driver 580 accepts a NUMA node as the preferred
    /// location, but can then report nullopt.
    std::optional<Location> preferred_location(ByteRange range = {}) const;
    /// Returns the locations of Advice::set_accessed_by: the host and devices of the same kind as device().
    std::vector<Location> accessed_by(ByteRange range = {}) const;
    /// Returns the target of the last prefetch() of the range, or nullopt.
    std::optional<Location> last_prefetch(ByteRange range = {}) const;
    /// Returns the results of the four functions above with one query.
    RangeAttributes attributes(ByteRange range = {}) const;

private:
    std::shared_ptr<detail::Block> block_;
};

}  // namespace texton
