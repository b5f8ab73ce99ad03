#pragma once
#include <span>
#include <vector>

#include <texton/array.h>
#include <texton/stream.h>
#include <texton/tile_pool.h>

namespace texton {

/// A box of tiles of one level and layer, counted in tiles; or a layer's mip tail, which is mapped as a whole.
struct TileBox {
    int level = 0;
    std::size_t layer = 0;
    Offset offset{};
    Extent extent{1, 1, 1};
    bool tail = false;  ///< only `layer` is read then
    bool operator==(const TileBox&) const = default;

    [[nodiscard]] static TileBox mip_tail(std::size_t layer = 0) noexcept;
};

/// Slots for a box of tiles: x fastest, then y, then z, from `first_slot` on.
struct TileMapping {
    TileBox box;
    Tiles tiles;
    std::size_t first_slot = 0;
};

/// May memory be mapped that is already mapped elsewhere? Both places then show the same texels.
enum class Aliasing : std::uint8_t { refused, allowed };

/// An array of which only some tiles have memory: 2D, 3D or 2D layered, with or without levels. A tile that is not mapped reads
/// as 0, with a residency of false; what is written to it is dropped. Move-only.
class SparseArray {
public:
    SparseArray() = default;
    /// Throws what Array throws; Error{unsupported} for other kinds and for usage.surface.
    SparseArray(const Device& device, const ArrayInfo& info);

    /// To copy, fill and sample. It keeps what is mapped.
    const Array& array() const noexcept { return array_; }
    const SparseProperties& properties() const;
    /// How many tiles a level has, edge tiles included. Error{out_of_bounds} for a level of the tail.
    Extent tiles(int level) const;
    /// Slots that the whole array takes: every tile and every tail.
    std::size_t slots() const;

    /// Maps all boxes with one call to the driver (tails with one of their own), in the stream's order, after the work that Texton enqueued on the array and
    /// on what was mapped to the memory before. Work that is enqueued later, on any stream, comes after it. Boxes already
    /// mapped are mapped anew. Error{overlap} if a slot is mapped elsewhere and aliasing was not allowed, or if boxes have a
    /// tile in common; Error{out_of_bounds}, Error{wrong_device}, Error{capturing}. On an error nothing has changed.
    void map(std::span<const TileMapping> mappings, const Stream& stream, Aliasing aliasing = Aliasing::refused);
    void map(const TileBox& box, const Tiles& tiles, const Stream& stream, Aliasing aliasing = Aliasing::refused);
    /// After all work that Texton enqueued on the array, and that used_on() names, on any stream. Boxes that are not mapped
    /// stay so.
    void unmap(std::span<const TileBox> boxes, const Stream& stream);
    void unmap(const TileBox& box, const Stream& stream);
    void unmap_all(const Stream& stream);

    /// Tells of a kernel of the caller's own that was enqueued on the stream and reads or writes the array.
    void used_on(const Stream& stream) const;

    /// True if all tiles of the box have memory, as of the last map() or unmap() that was enqueued.
    bool resident(const TileBox& box) const;
    /// One flag a tile, x fastest.
    std::vector<bool> residency(int level, std::size_t layer = 0) const;
    std::size_t resident_slots() const;

private:
    Array array_;
};

}  // namespace texton
