#pragma once
// Page-locked host memory.
#include <texton/view.h>

namespace texton {

/// Options of pinned memory (cudaHostAlloc).
struct PinnedOptions {
    bool portable = false;        ///< pinned for all devices, not only for the one it is created on
    bool mapped = false;          ///< has an address on the device
    bool write_combined = false;  ///< faster for the device to read, very slow for the host to read
    bool operator==(const PinnedOptions&) const = default;  ///< Returns true if all members are equal.
};

/// Whether Pinned::read() may return write-combined memory. The host reads such memory at about a hundredth of the
/// usual speed.
enum class SlowReads : std::uint8_t {
    refused,  ///< throws Error{not_permitted}
    allowed   ///< returns the memory
};

/// Owns pinned (page-locked) host memory (cudaMallocHost, cudaHostAlloc). Copies between it and a device use the full
/// speed of the bus, and copies on a stream are asynchronous.
///
/// The contents are undefined at first. Copies of a Pinned share the memory. Views keep it alive; it is freed when the
/// last of them is gone. The caller must keep one of them until work that uses the memory is done. A
/// default-constructed or moved-from object is empty: bytes() is 0, data() is null, and the other member functions
/// throw Error{released}. Several threads may call const member functions at once; the caller must order accesses to
/// the bytes.
class Pinned {
public:
    Pinned() = default;  ///< Creates an empty object.
    /// Allocates pinned memory. Throws Error{bad_argument} for 0 bytes, Error{out_of_memory} if there is too little
    /// memory, and Error{capturing} while the calling thread records a graph.
    Pinned(const Device& device, std::size_t bytes, PinnedOptions options = {});

    std::size_t bytes() const noexcept;  ///< Returns the size in bytes.
    /// Returns the first byte, for writing. Use read() for reading.
    std::byte* data() const noexcept;
    /// Returns the bytes, for reading. Throws Error{not_permitted} for write-combined memory unless `slow` is
    /// SlowReads::allowed.
    std::span<const std::byte> read(SlowReads slow = SlowReads::refused) const;
    /// Returns the address for kernels. Throws Error{not_permitted} if the memory is not mapped and the device does not
    /// use host addresses (DeviceProperties::host_pointer_is_device_pointer).
    std::byte* device_pointer() const;
    /// Returns the options as the device reports them (cudaHostGetFlags). A device with unified addressing reports all
    /// pinned memory as mapped.
    PinnedOptions options() const;
    Device device() const;  ///< Returns the device that the memory was allocated on.
    View view() const;      ///< Returns a view of all bytes as one row of r8_uint.
    /// Returns a view of `extent` packed texels from the first byte on. Throws Error{out_of_bounds} if they do not fit,
    /// and Error{bad_argument} if a dimension is 0 or the format is planar.
    View view(Format format, Extent extent) const;

private:
    std::shared_ptr<detail::Block> block_;
    PinnedOptions asked_;
};

}  // namespace texton
