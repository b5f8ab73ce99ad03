#pragma once
#include <texton/view.h>

namespace texton {

/// cudaHostAlloc's flags.
struct PinnedOptions {
    bool portable = false;        ///< pinned for every device, not only the one it is made on
    bool mapped = false;          ///< has a device pointer
    bool write_combined = false;  ///< faster for the device to read, very slow for the host to read
    bool operator==(const PinnedOptions&) const = default;
};

/// Host reads of write-combined memory run at a hundredth of the usual speed, so they are only done when asked for.
enum class SlowReads : std::uint8_t { refused, allowed };

/// Owns page-locked host memory, which copies at the full speed of the bus and in the background (cudaMallocHost,
/// cudaHostAlloc). Zero bytes are Error{bad_argument}. Move-only; a moved-from one is empty.
class Pinned {
public:
    Pinned() = default;
    Pinned(const Device& device, std::size_t bytes, PinnedOptions options = {});

    std::size_t bytes() const noexcept;
    /// To write through. Writing is always fine.
    std::byte* data() const noexcept;
    /// To read from. Error{not_permitted} for write-combined memory unless slow reads are allowed.
    std::span<const std::byte> read(SlowReads slow = SlowReads::refused) const;
    /// The address by which kernels reach it. Error{not_permitted} if it is neither mapped nor in a unified address space.
    std::byte* device_pointer() const;
    /// What the device says of the memory (cudaHostGetFlags). A device with unified addresses maps all of it.
    PinnedOptions options() const;
    Device device() const;
    View view() const;
    View view(Format format, Extent extent) const;

private:
    std::shared_ptr<detail::Block> block_;
    PinnedOptions asked_;
};

}  // namespace texton
