#pragma once
// An array of the CPU device: texels in rows, slice after slice, level after level; or in tiles, where it is sparse.
#include <memory>
#include <vector>

#include <texton/array_info.h>

#include "core/backend.h"

namespace texton::detail {

class CpuPhysical;

/// Bytes that lie behind each other; a null address: nothing is mapped there.
struct CpuRun {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
};

/// One level, or one plane of a planar array. Layers and faces are slices.
struct CpuLevel {
    Extent extent;                // texels; depth is the slices, layers or faces
    std::size_t row_pitch = 0;    // bytes from a row (of blocks) to the next
    std::size_t slice_pitch = 0;  // bytes; 0 for layers that have mip tails of their own
    std::byte* data = nullptr;    // null: no memory yet, or in tiles

    // Sparse arrays: where each tile's 64 KiB are, null for none; x fastest, then y, then z, then layer. Within a tile texels
    // (blocks) lie in rows and slices of the tile's own size. A level of the mip tail has pages of 64 KiB in place of tiles
    // (tile.width 0): the texel at byte b of the level is in page (tail_offset + b) / 64 KiB.
    std::byte** tiles = nullptr;
    Extent tile{0, 0, 0};         // texels
    Extent tile_count{0, 0, 0};   // depth: of one layer's tiles, for 3D; else 1
    std::size_t tile_pitch = 0;   // bytes from a row (of blocks) of a tile to the next
    std::size_t tile_rows = 0;    // rows (of blocks) of a tile's slice
    std::size_t tail_offset = 0;  // in the tail
    std::size_t tail_pages = 0;   // pages from one layer's tail to the next in `tiles`; 0 if there is one tail

    bool sparse() const noexcept { return tiles != nullptr; }
    /// The bytes of a row from `byte` on, as far as they lie behind each other. `row` counts rows of blocks, `slice` slices,
    /// layers or faces.
    CpuRun run(std::size_t byte, std::size_t row, std::size_t slice) const noexcept;
    /// The texel, or the block that holds it; null where nothing is mapped. z counts slices, layers or faces.
    std::byte* texel(std::size_t x, std::size_t y, std::size_t z, Format format) const noexcept;
};

/// Levels, or planes of a planar array.
[[nodiscard]] int part_count(const ArrayInfo& info) noexcept;
[[nodiscard]] Format part_format(const ArrayInfo& info, int part);
/// Depth: slices, layers or faces.
[[nodiscard]] Extent part_extent(const ArrayInfo& info, int part);

struct CpuArray {
    ArrayInfo info;
    ArrayBacking backing = ArrayBacking::own;
    std::vector<CpuLevel> parts;                             // levels, or planes
    std::vector<std::size_t> offsets;                        // of the parts in the array's memory
    std::size_t bytes = 0;                                   // of all parts; sparse: of all tiles and tails
    std::byte* memory = nullptr;                             // of its own
    std::vector<std::byte*> pages;                           // what the levels' `tiles` point into
    std::vector<std::shared_ptr<const CpuPhysical>> owners;  // of what each page, or the deferred array, is mapped to

    Format part_format(int part) const { return detail::part_format(info, part); }  ///< planes have their own
    /// The parts are at `address` from here on; null: nowhere.
    void place(std::byte* address) noexcept;
};

inline CpuArray& cpu_array(ArrayHandle handle) noexcept { return *reinterpret_cast<CpuArray*>(handle); }

/// Without memory.
[[nodiscard]] std::unique_ptr<CpuArray> make_cpu_array(const ArrayInfo& info, ArrayBacking backing);

/// What an H200 says of such an array.
[[nodiscard]] SparseProperties sparse_sizes(const ArrayInfo& info);
[[nodiscard]] MemoryRequirements deferred_sizes(const ArrayInfo& info);

}  // namespace texton::detail
