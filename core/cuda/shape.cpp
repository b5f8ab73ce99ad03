#include "core/cuda/shape.h"

#include <cuda_runtime.h>

#include "core/cuda/call.h"

namespace texton::detail {

cudaExtent cuda_extent(std::size_t width, std::size_t height, std::size_t depth) noexcept {
    return value<make_cudaExtent>(width, height, depth);
}

cudaPos cuda_position(std::size_t x, std::size_t y, std::size_t z) noexcept { return value<make_cudaPos>(x, y, z); }

cudaPitchedPtr cuda_pitched(void* address, std::size_t pitch, std::size_t row_bytes, std::size_t rows) noexcept {
    return value<make_cudaPitchedPtr>(address, pitch, row_bytes, rows);
}

}  // namespace texton::detail
