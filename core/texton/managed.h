#pragma once
#include <optional>
#include <vector>

#include <texton/location.h>
#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

/// Who may touch managed memory at first.
enum class Attach : std::uint8_t {
    global,  ///< any stream of any device
    host,    ///< the host alone, until it is attached to a stream
    single   ///< one stream alone; for Managed::attach()
};

enum class Advice : std::uint8_t {
    set_read_mostly,
    unset_read_mostly,
    set_preferred_location,
    unset_preferred_location,
    set_accessed_by,
    unset_accessed_by
};

/// Bytes of a block: `count` 0 means up to the end.
struct ByteRange {
    std::size_t offset = 0;
    std::size_t count = 0;
};

/// What is known of a range. A location is only named if the whole range agrees on it.
struct RangeAttributes {
    bool read_mostly = false;
    std::optional<Location> preferred_location;
    std::vector<Location> accessed_by;
    std::optional<Location> last_prefetch;
};

/// Owns memory with one address for host and devices, which moves where it is used (cudaMallocManaged).
///
/// Error{unsupported} where the device has none. Never ask for more than is free on the device. Move-only.
class Managed {
public:
    Managed() = default;
    /// `attach` is global or host. Throws Error{out_of_memory}, Error{bad_argument} for 0 bytes.
    Managed(const Device& device, std::size_t bytes, Attach attach = Attach::global);

    std::byte* data() const noexcept;
    std::size_t bytes() const noexcept;
    Device device() const;
    View view() const;
    View view(Format format, Extent extent) const;

    /// Tells the driver how the range will be used. `location` matters for the preferred location (device, host, NUMA node)
    /// and for accessed_by (device or host): others are Error{wrong_location}.
    void advise(Advice advice, const Location& location = Location::none(), ByteRange range = {}) const;
    /// Moves the range in stream order to a device, the host or a NUMA node.
    void prefetch(const Location& location, const Stream& stream, ByteRange range = {}) const;
    /// From now on, in stream order, `attach` decides who may touch the memory; `single` binds it to `stream`.
    void attach(const Stream& stream, Attach attach) const;

    bool read_mostly(ByteRange range = {}) const;
    /// CUDA's driver (580) takes a NUMA node, but may answer none for it.
    std::optional<Location> preferred_location(ByteRange range = {}) const;
    /// Those of the host and the devices of this device's kind that were advised.
    std::vector<Location> accessed_by(ByteRange range = {}) const;
    std::optional<Location> last_prefetch(ByteRange range = {}) const;
    /// All of the above in one call.
    RangeAttributes attributes(ByteRange range = {}) const;

private:
    std::shared_ptr<detail::Block> block_;
};

}  // namespace texton
