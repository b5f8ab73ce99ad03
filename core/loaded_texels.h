#pragma once
// Arrays of the CPU device whose texels are loaded while kernels read them. The array itself has no memory.
#include <cstddef>
#include <memory>

#include <texton/array_info.h>

#include "core/backend.h"

namespace texton::detail {

/// The texels of an array, of which only some are in memory. The functions are called by all threads of a kernel.
class LoadedTexels {
public:
    LoadedTexels() = default;
    virtual ~LoadedTexels() = default;
    LoadedTexels(const LoadedTexels&) = delete;
    LoadedTexels& operator=(const LoadedTexels&) = delete;

    /// Returns the address that row 0 of a level of one slice would have if all its rows were in memory, one after the
    /// other. Kernels then read only rows that are in memory. Returns null if find() must be called for each texel. The
    /// result must not change while a kernel runs.
    virtual std::byte* rows(int level) noexcept = 0;
    /// Returns the address of a texel, or of a block of block-compressed formats, at this byte of a row, or null: then
    /// it reads as 0. Rows are rows of blocks. Slices are layers, faces or slices of a volume.
    virtual std::byte* find(int level, std::size_t byte, std::size_t row, std::size_t slice) noexcept = 0;
};

/// Creates an array of the CPU device with these texels. The description is not checked.
[[nodiscard]] ArrayHandle make_loaded_array(const ArrayInfo& info, std::shared_ptr<LoadedTexels> texels);

}  // namespace texton::detail
