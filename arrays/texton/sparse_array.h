#pragma once
#include <span>
#include <vector>

#include <texton/array.h>
#include <texton/stream.h>
#include <texton/tile_pool.h>

namespace texton {

/// A box of tiles in one level and layer, or a mip tail, which is mapped as a whole. See SparseProperties.
struct TileBox {
    int level = 0;           ///< the level, counted from 0
    std::size_t layer = 0;   ///< the layer; for a mip tail the number of the tail
    Offset offset{};         ///< first tile, counted in tiles
    Extent extent{1, 1, 1};  ///< size, counted in tiles
    bool tail = false;       ///< selects the mip tail of `layer`; the other members are ignored
    bool operator==(const TileBox&) const = default;  ///< Returns true if all members are equal.

    /// Returns the mip tail of a layer. If SparseProperties::tail_per_layer is false, the only tail has number 0.
    [[nodiscard]] static TileBox mip_tail(std::size_t layer = 0) noexcept;
};

/// Assigns slots to a box of tiles. The tiles use consecutive slots; x changes fastest, then y, then z. A mip tail uses
/// SparseProperties::tail_bytes / 64 KiB slots.
struct TileMapping {
    TileBox box;                 ///< the tiles to map
    Tiles tiles;                 ///< the memory
    std::size_t first_slot = 0;  ///< slot in `tiles` of the first tile
};

/// Whether a slot may be mapped to several tiles at once. These tiles then have the same texels.
enum class Aliasing : std::uint8_t {
    refused,  ///< mapping a slot a second time throws Error{overlap}
    allowed   ///< a slot may be mapped several times
};

/// An array in which only some tiles have memory. It is of kind array_2d, array_3d or layered_2d and may have levels.
///
/// Tiles without memory read as 0 with residency false. Writes to them are discarded. Copies refer to the same array. A
/// default-constructed or moved-from object is empty: its member functions, except array(), throw Error{released}.
/// Several threads may call member functions of one array at once. Texton orders changes of the mapping with the work
/// on the array that it enqueued or that used_on() reported, on any stream. The caller orders work on the texels, as
/// for an Array. The array keeps the memory alive that is mapped to it. Its destruction waits for all work that Texton
/// enqueued on it and for the work that used_on() reported.
class SparseArray {
public:
    /// Creates an empty object without an array.
    SparseArray() = default;
    /// Creates an array in which no tile has memory. Throws the same errors as the constructor of Array, and
    /// Error{unsupported} for other kinds and for ArrayUsage::surface.
    SparseArray(const Device& device, const ArrayInfo& info);

    /// Returns the array for copies, fills and textures. It keeps the mapped tiles alive.
    const Array& array() const noexcept { return array_; }
    /// Returns the tile size and the mip tail.
    const SparseProperties& properties() const;
    /// Returns the number of tiles of a level in each dimension, including partial tiles at the edges. Throws
    /// Error{out_of_bounds} if the level does not exist or belongs to the mip tail.
    Extent tiles(int level) const;
    /// Returns the number of slots that the whole array needs, with all tiles and mip tails.
    std::size_t slots() const;

    /// Enqueues the mapping of boxes to memory. The mapping happens after all work, on any stream, that Texton enqueued
    /// or used_on() reported on the array and on arrays that were unmapped from these slots. Work that Texton enqueues
    /// later, on any stream, runs after it. Tiles that are mapped already change to the new slots. All boxes are passed
    /// to the driver together, so one call with many boxes is faster than many calls.
    ///
    /// Throws
    /// - Error{out_of_bounds} if a box or a slot does not exist,
    /// - Error{overlap} if two boxes have a tile in common, or if a slot is mapped already and `aliasing` is `refused`,
    /// - Error{wrong_device} if the tiles or the stream belong to another device,
    /// - Error{released} if a Tiles object is empty,
    /// - Error{capturing} while the calling thread records a graph, or if the stream is being captured.
    ///
    /// If it throws, the mapping is unchanged.
    void map(std::span<const TileMapping> mappings, const Stream& stream, Aliasing aliasing = Aliasing::refused);
    /// Enqueues the mapping of one box to the first slots of `tiles`. Otherwise the same as map() for several boxes.
    void map(const TileBox& box, const Tiles& tiles, const Stream& stream, Aliasing aliasing = Aliasing::refused);
    /// Enqueues the removal of the memory of boxes. It happens after all work that Texton enqueued on the array and
    /// after the work that used_on() reported, on any stream. Tiles without memory are ignored, and boxes may overlap.
    /// Throws Error{out_of_bounds}, Error{wrong_device} and Error{capturing} like map(). If it throws, the mapping is
    /// unchanged.
    void unmap(std::span<const TileBox> boxes, const Stream& stream);
    /// Enqueues the removal of the memory of one box. Otherwise the same as unmap() for several boxes.
    void unmap(const TileBox& box, const Stream& stream);
    /// Enqueues the removal of the memory of all tiles and mip tails. Otherwise the same as unmap().
    void unmap_all(const Stream& stream);

    /// Reports work of the caller, for example a kernel, that was enqueued on `stream` and reads or writes the array.
    /// Call it after enqueuing the work. Later changes of the mapping and the destruction of the array wait for this
    /// work.
    void used_on(const Stream& stream) const;

    /// Returns true if all tiles of the box have memory, as of the last map() or unmap() that was enqueued. Throws
    /// Error{out_of_bounds} if the box does not exist.
    bool resident(const TileBox& box) const;
    /// Returns for each tile of a level whether it has memory; x changes fastest, then y, then z. Throws
    /// Error{out_of_bounds} like tiles(), or if the layer does not exist.
    std::vector<bool> residency(int level, std::size_t layer = 0) const;
    /// Returns the number of tiles that have memory. A mapped mip tail counts with all its slots.
    std::size_t resident_slots() const;

private:
    Array array_;
};

}  // namespace texton
