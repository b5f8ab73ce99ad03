#pragma once
#include <texton/array.h>
#include <texton/stream.h>
#include <texton/tile_pool.h>

namespace texton {

/// An array whose memory comes later, and may change: for textures that live for a part of a frame and share memory. Any kind,
/// with levels and surfaces. As long as it has no memory, copies, fills, sampling and surfaces are refused with
/// Error{not_mapped}: in CUDA they would kill the process' context. Move-only.
class DeferredArray {
public:
    DeferredArray() = default;
    DeferredArray(const Device& device, const ArrayInfo& info);

    const Array& array() const noexcept { return array_; }
    MemoryRequirements requirements() const;
    bool mapped() const;

    /// Backs the array with the first slots of `tiles`, in the stream's order, after the work that Texton enqueued on the array
    /// and on what was mapped to the memory before; work that is enqueued later, on any stream, comes after it. What the memory
    /// holds is what the array shows. Other arrays may be on the same memory: use them in turn. An array that is
    /// mapped already changes over to the new memory. Error{bad_argument} if the tiles are too few, with the number needed;
    /// Error{wrong_device}, Error{capturing}.
    void map(const Tiles& tiles, const Stream& stream);
    /// The same, but the texels come along. Error{not_mapped} if there are none.
    void move(const Tiles& tiles, const Stream& stream);
    /// After all work that Texton enqueued on the array, and that used_on() names, on any stream.
    void unmap(const Stream& stream);

    /// Tells of a kernel of the caller's own that was enqueued on the stream and touches the array.
    void used_on(const Stream& stream) const;

private:
    Array array_;
};

}  // namespace texton
