#pragma once
// The destination of a kernel. For internal use and for the kernels that launch() generates from functors.
#include <cstddef>
#include <cstdint>

#include <texton/array_info.h>
#include <texton/pixel_encode.h>

namespace texton::detail {

/// A box of pixels in memory that the kernel can access, or in an array that it accesses through a surface. Non-owning.
struct PixelTarget {
    std::byte* address = nullptr;  ///< first pixel; null if the box is in an array
    std::size_t pitch = 0;         ///< bytes from row to row
    std::size_t slice_pitch = 0;   ///< bytes from slice to slice
    std::uint64_t surface = 0;     ///< cudaSurfaceObject_t; used if `address` is null
    std::int32_t offset[3]{};  ///< position of the box in the array, in texels, rows and slices (or layers or faces)
    ArrayKind kind = ArrayKind::array_2d;  ///< kind of the array
    bool aligned = true;                   ///< the address of every pixel is a multiple of its size
    PixelFormat format{};                  ///< how pixels are stored
    std::uint32_t width = 0;               ///< of the box, in pixels
    std::uint32_t height = 0;              ///< of the box, in pixels
    std::uint32_t depth = 1;               ///< slices of the box
};

}  // namespace texton::detail
