#pragma once
#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

class Pool;

/// Owns bytes of device memory in one piece: from the device (cudaMalloc), or from a pool in stream order.
///
/// Contents start uninitialised. Move-only; a moved-from one is empty (bytes() == 0), and asking it for a view is
/// Error{released}. Plain memory is freed with the host's order: the device finishes its work first. Stream-ordered memory is
/// freed on its stream, without waiting: work on other streams must be ordered before by an Event.
///
/// Allocated while its stream is captured, the memory belongs to the graph: destroy the Linear while still recording to free
/// it in the graph, or keep it until the graph's work is done.
class Linear {
public:
    Linear() = default;
    /// Throws Error{bad_argument} for 0 bytes, Error{out_of_memory} if the device cannot hold them.
    Linear(const Device& device, std::size_t bytes);
    /// Memory for `extent` texels, packed.
    Linear(const Device& device, Format format, Extent extent);
    /// From the current pool of the stream's device, in stream order (cudaMallocAsync).
    [[nodiscard]] static Linear async(std::size_t bytes, const Stream& stream);

    std::size_t bytes() const noexcept;
    std::byte* data() const noexcept;
    Device device() const;
    /// All of it as one row of bytes.
    View view() const;
    /// Its start as `extent` packed texels. Throws Error{out_of_bounds} if they do not fit.
    View view(Format format, Extent extent) const;

    /// Frees pool memory now, in order on `stream` (cudaFreeAsync). Views of it are refused from here on.
    /// Error{not_permitted} for memory that did not come from a pool.
    void free(const Stream& stream);

    /// For Texton's own parts.
    explicit Linear(std::shared_ptr<detail::Block> block) noexcept : block_(std::move(block)) {}
    const std::shared_ptr<detail::Block>& block() const noexcept { return block_; }

private:
    std::shared_ptr<detail::Block> block_;
};

}  // namespace texton
