#pragma once
// Contiguous device memory.
#include <texton/stream.h>
#include <texton/view.h>

namespace texton {

class Pool;

/// Owns contiguous bytes of device memory: allocated by the device (cudaMalloc), or from a pool in stream order
/// (cudaMallocAsync).
///
/// The contents are undefined at first. Copies of a Linear share the memory. Views keep it alive; it is freed when the
/// last of them is gone. A default-constructed or moved-from object is empty: bytes() is 0, data() is null, and the
/// other member functions throw Error{released}. Several threads may call const member functions at once.
///
/// Memory of the device is freed after the device has finished its work. Memory of a pool is freed in the order of the
/// stream that it was allocated on, without waiting: the caller must order work on other streams before that, with an
/// Event. If this stream is being captured into a graph then, the memory is freed after the capture: when a recording
/// ends, a stream or device is synchronized, or a pool is used.
///
/// Memory that is allocated while its stream is captured belongs to the graph. If the object is destroyed during the
/// recording, the graph frees the memory. Otherwise keep the object until the graph's work is done.
class Linear {
public:
    Linear() = default;  ///< Creates an empty object.
    /// Allocates memory of the device. Throws Error{bad_argument} for 0 bytes, Error{out_of_memory} if the device has
    /// too little memory, and Error{capturing} while the calling thread records a graph.
    Linear(const Device& device, std::size_t bytes);
    /// Allocates memory for `extent` packed texels. Also throws Error{overflow} if their size does not fit in 64 bits.
    Linear(const Device& device, Format format, Extent extent);
    /// Allocates memory from the current pool of the stream's device, in stream order. Later work on `stream` can use
    /// the memory; another stream must first wait for an Event that is recorded on `stream` after this call.
    ///
    /// Throws Error{bad_argument} for 0 bytes and Error{out_of_memory} if the device has too little memory.
    [[nodiscard]] static Linear async(std::size_t bytes, const Stream& stream);

    std::size_t bytes() const noexcept;  ///< Returns the size in bytes.
    std::byte* data() const noexcept;    ///< Returns the device address of the first byte.
    Device device() const;               ///< Returns the device that holds the memory.
    View view() const;                   ///< Returns a view of all bytes as one row of r8_uint.
    /// Returns a view of `extent` packed texels from the first byte on. Throws Error{out_of_bounds} if they do not fit,
    /// and Error{bad_argument} if a dimension is 0 or the format is planar.
    View view(Format format, Extent extent) const;

    /// Frees memory of a pool in the order of `stream` (cudaFreeAsync), also if copies or views of this object still
    /// exist. The caller must order work on other streams before that. This object is then empty. Copies of it still
    /// return the former data() and bytes(); their other member functions, and copy() and fill() of views of the
    /// memory, throw Error{released}.
    ///
    /// Throws Error{not_permitted} if the memory was not allocated from a pool by this process, Error{wrong_device} if
    /// the stream belongs to a device of another kind, and Error{capturing} if the stream is being captured and the
    /// memory was allocated outside of the graph. After an exception the memory is still allocated.
    void free(const Stream& stream);

    /// For internal use.
    explicit Linear(std::shared_ptr<detail::Block> block) noexcept : block_(std::move(block)) {}
    const std::shared_ptr<detail::Block>& block() const noexcept { return block_; }  ///< For internal use.

private:
    std::shared_ptr<detail::Block> block_;
};

}  // namespace texton
