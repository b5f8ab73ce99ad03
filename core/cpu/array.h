#pragma once
// Arrays of the CPU device. Texels are stored in rows, slice after slice and level after level, or in tiles if the
// array is sparse.
#include <memory>
#include <vector>

#include <texton/array_info.h>

#include "core/backend.h"
#include "core/loaded_texels.h"

namespace texton::detail {

class CpuPhysical;

/// Contiguous bytes. A null address means that no memory is mapped there.
struct CpuRun {
    std::byte* address = nullptr;
    std::size_t bytes = 0;
};

/// One level, or one plane of a planar array. Layers and faces are slices.
struct CpuLevel {
    Extent extent;                // texels; the depth is the number of slices, layers or faces
    std::size_t row_pitch = 0;    // bytes from one row (of blocks) to the next
    std::size_t slice_pitch = 0;  // bytes; 0 if each layer has its own mip tail and the level is in the tail
    std::byte* data = nullptr;    // null if the array is sparse or has no memory yet

    // Sparse arrays only. `tiles` points to the address of each tile's 64 KiB, or null where nothing is mapped. The
    // order is x, then y, then z, then layer, with x fastest. Texels (or blocks) are stored in the rows and slices of a
    // tile. Levels in the mip tail have pages of 64 KiB in place of tiles, and tile.width is 0: byte b of the level is
    // in page (tail_offset + b) / 64 KiB.
    std::byte** tiles = nullptr;
    Extent tile{0, 0, 0};         // texels
    Extent tile_count{0, 0, 0};   // tiles of one layer; the depth is 1 except for 3D arrays
    std::size_t tile_pitch = 0;   // bytes from one row (of blocks) of a tile to the next
    std::size_t tile_rows = 0;    // rows (of blocks) in a slice of a tile
    std::size_t tail_offset = 0;  // bytes from the start of the tail
    std::size_t tail_pages = 0;   // pages from one layer's tail to the next in `tiles`; 0 if there is one tail

    // Loaded arrays only: the texels of all levels, and the number of this one.
    LoadedTexels* loaded = nullptr;
    int number = 0;

    bool sparse() const noexcept { return tiles != nullptr; }
    /// Returns the address of the first row, or null if texel() must be called for each texel.
    std::byte* rows() const noexcept { return loaded != nullptr ? loaded->rows(number) : data; }
    /// Returns the bytes of a row from `byte` to the end of the contiguous part. `row` counts rows of blocks; `slice`
    /// counts slices, layers or faces.
    CpuRun run(std::size_t byte, std::size_t row, std::size_t slice) const noexcept;
    /// Returns the address of a texel, or of the block that contains it, or null where nothing is mapped. `z` counts
    /// slices, layers or faces.
    std::byte* texel(std::size_t x, std::size_t y, std::size_t z, Format format) const noexcept;
};

/// Returns the number of levels, or of planes of a planar array.
[[nodiscard]] int part_count(const ArrayInfo& info) noexcept;
/// Returns the format of a level or plane.
[[nodiscard]] Format part_format(const ArrayInfo& info, int part);
/// Returns the extent of a level or plane. The depth is the number of slices, layers or faces.
[[nodiscard]] Extent part_extent(const ArrayInfo& info, int part);

/// An array of the CPU device. Its description is fixed. Pages and owners change only in work of the stream that maps
/// memory, so the order of the streams protects them.
struct CpuArray {
    ArrayInfo info;
    ArrayBacking backing = ArrayBacking::own;
    std::vector<CpuLevel> parts;       // levels or planes
    std::vector<std::size_t> offsets;  // of each part in the array's memory, in bytes
    std::size_t bytes = 0;             // of all parts; for sparse arrays, of all tiles and tails
    std::byte* memory = nullptr;       // memory that the array owns; null for sparse and deferred arrays
    std::vector<std::byte*> pages;     // the tiles of all levels; CpuLevel::tiles points into it
    // Owner of each page's memory, or of a deferred array's memory.
    std::vector<std::shared_ptr<const CpuPhysical>> owners;
    std::shared_ptr<LoadedTexels> loaded;  // only of loaded arrays

    /// Returns the format of a level or plane.
    Format part_format(int part) const { return detail::part_format(info, part); }
    /// Sets the address of all parts. A null address removes the memory.
    void place(std::byte* address) noexcept;
};

inline CpuArray& cpu_array(ArrayHandle handle) noexcept { return *reinterpret_cast<CpuArray*>(handle); }

/// Creates the description of an array without memory.
[[nodiscard]] std::unique_ptr<CpuArray> make_cpu_array(const ArrayInfo& info, ArrayBacking backing);

/// Return the sizes that an H200 reports for such an array.
[[nodiscard]] SparseProperties sparse_sizes(const ArrayInfo& info);
[[nodiscard]] MemoryRequirements deferred_sizes(const ArrayInfo& info);

}  // namespace texton::detail
