#pragma once
#include <texton/array.h>
#include <texton/stream.h>
#include <texton/tile_pool.h>

namespace texton {

/// An array without memory of its own. map() assigns memory of a TilePool to it, which can be changed later. Textures
/// that are used in different parts of a frame can thus share memory. All kinds, levels and surfaces are supported.
///
/// While the array has no memory, copies, fills, sampling and surface access throw Error{not_mapped}. In CUDA such an
/// access would make the context of the process unusable.
///
/// Copies refer to the same array. A default-constructed or moved-from object is empty: its member functions, except
/// array(), throw Error{released}. Several threads may call member functions of one array at once. Texton orders
/// changes of the mapping with the work on the array that it enqueued or that used_on() reported, on any stream. The
/// caller orders work on the texels, as for an Array. The array keeps the tiles alive that it is mapped to. Its
/// destruction waits for all work that Texton enqueued on it and for the work that used_on() reported.
class DeferredArray {
public:
    /// Creates an empty object without an array.
    DeferredArray() = default;
    /// Creates an array without memory. Throws the same errors as the constructor of Array.
    DeferredArray(const Device& device, const ArrayInfo& info);

    /// Returns the array for copies, fills, textures and surfaces.
    const Array& array() const noexcept { return array_; }
    /// Returns the memory that map() needs.
    MemoryRequirements requirements() const;
    /// Returns true if the array has memory, as of the last map(), move() or unmap() that was enqueued.
    bool mapped() const;

    /// Enqueues the mapping of the array to the first slots of `tiles`. The mapping happens after all work, on any
    /// stream, that Texton enqueued or used_on() reported on the array and on arrays that were unmapped from these
    /// slots. Work that Texton enqueues later, on any stream, runs after it. The texels of the array are the bytes that
    /// the memory contains. An array that is mapped already changes to the new memory.
    ///
    /// Several arrays may be mapped to the same memory. The caller must order their use, because each array overwrites
    /// the texels of the others.
    ///
    /// Throws
    /// - Error{bad_argument} if there are too few tiles; the message contains the number needed,
    /// - Error{wrong_device} if the tiles or the stream belong to another device,
    /// - Error{released} if `tiles` is empty,
    /// - Error{capturing} while the calling thread records a graph, or if the stream is being captured.
    ///
    /// If it throws, the mapping is unchanged.
    void map(const Tiles& tiles, const Stream& stream);
    /// Enqueues the mapping to other memory and the copy of the texels to it. Otherwise the same as map(). If it
    /// throws, the array keeps its memory and its texels. Does nothing if the array is already mapped to `tiles`.
    /// Throws Error{not_mapped} if the array has no memory.
    void move(const Tiles& tiles, const Stream& stream);
    /// Enqueues the removal of the memory. It happens after all work that Texton enqueued on the array and after the
    /// work that used_on() reported, on any stream. Does nothing if the array has no memory. Throws Error{wrong_device}
    /// and Error{capturing} like map(). If it throws, the mapping is unchanged.
    void unmap(const Stream& stream);

    /// Reports work of the caller, for example a kernel, that was enqueued on `stream` and reads or writes the array.
    /// Call it after enqueuing the work. Later changes of the mapping and the destruction of the array wait for this
    /// work. Throws Error{not_mapped} if the array has no memory.
    void used_on(const Stream& stream) const;

private:
    Array array_;
};

}  // namespace texton
