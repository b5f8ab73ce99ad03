#pragma once
// An array of which only some rows have memory, for kernels that compute a part of their image. A texture of the array
// has the size of the whole image, so fetches return the bits that they return if all rows have memory.
//
// On CUDA devices it is a sparse array. The CPU device reads sparse arrays slowly, so there it is an array that reads
// rows in linear memory.
#include <cstddef>
#include <memory>
#include <optional>

#include <texton/sparse_array.h>
#include <texton/tile_pool.h>
#include <texton/view.h>

#include "arrays/row_range.h"

namespace texton::detail {

class RowMemory;

class MappedRows {
public:
    /// Creates an empty object without an array.
    MappedRows() = default;
    /// Creates an array of kind array_2d with one level. Its rows have no memory if the device can map memory to rows
    /// of this image; otherwise all have. ArrayUsage::surface holds only in the latter case.
    ///
    /// Throws Error{overflow} if a side exceeds the limit of the device, and Error{out_of_memory} if all rows need
    /// memory and do not get it.
    MappedRows(const Device& device, const ArrayInfo& info);
    /// The same. `in_tiles` selects a sparse array on any device. Its memory is from `pool`, or from a pool of its own.
    MappedRows(const Device& device, const ArrayInfo& info, bool in_tiles, std::optional<TilePool> pool = {});

    /// Returns the array for textures whose fetches read only rows that have memory. It is empty for a
    /// default-constructed object.
    const Array& array() const noexcept { return array_; }
    /// Returns the array for textures that may be read anywhere: rows without memory read as 0. Fetches can be slower.
    const Array& checked_array() const noexcept { return checked_; }
    /// Returns a view of rows that have memory.
    View view(RowRange rows) const;
    /// Returns true if all rows have memory at all times.
    bool is_whole() const noexcept { return is_whole_; }
    /// Returns the rows that have memory.
    RowRange rows() const noexcept { return rows_; }
    /// Returns the bytes of memory that `count` rows take, unless the memory is from a pool of the caller. On the CPU
    /// device, up to 128 rows more have memory.
    std::size_t bytes_of(std::size_t count) const noexcept;

    /// Gives memory to rows and takes it from all others. Rows that had memory before keep their texels; other rows
    /// have undefined texels. More rows than requested can have memory. Enqueues the changes on the stream, after all
    /// work on the array. On the CPU device, all work must be on this stream, and the call waits for it.
    ///
    /// Throws Error{out_of_memory}. Then the rows have memory that were requested and had it before.
    void keep(RowRange rows, const Stream& stream);

private:
    bool make_sparse(const Device& device, const ArrayInfo& info, std::optional<TilePool> pool);
    RowRange tiles_of(RowRange rows) const noexcept;
    RowRange texels_of(RowRange tiles) const noexcept;
    void keep_tiles(RowRange rows, const Stream& stream);

    Array array_;
    Array checked_;
    bool is_whole_ = true;
    RowRange rows_;
    // Rows in linear memory:
    std::shared_ptr<RowMemory> memory_;
    // Rows in tiles:
    SparseArray sparse_;
    std::size_t tile_rows_ = 1;  // texels of a tile in y
    std::size_t across_ = 0;     // tiles of a row of tiles
    std::optional<TilePool> pool_;
    RowRange tiles_;  // rows of tiles that have memory
};

}  // namespace texton::detail
