#pragma once
// Where a kernel writes its pixels. For Texton's own parts, and for the kernels that launch() makes of a user's functor.
#include <cstddef>
#include <cstdint>

#include <texton/array_info.h>
#include <texton/pixel_encode.h>

namespace texton::detail {

/// A box of pixels in memory that the kernel reaches, or in an array by its surface.
struct PixelTarget {
    std::byte* address = nullptr;          ///< null: `surface`
    std::size_t pitch = 0;                 ///< bytes from row to row
    std::size_t slice_pitch = 0;           ///< bytes from slice to slice
    std::uint64_t surface = 0;             ///< cudaSurfaceObject_t
    std::int32_t offset[3]{};              ///< of the box in the array: texels, rows, slices (layers or faces)
    ArrayKind kind = ArrayKind::array_2d;  ///< of the array
    bool aligned = true;                   ///< every pixel lies at a multiple of its bytes
    PixelFormat format{};
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t depth = 1;
};

}  // namespace texton::detail
