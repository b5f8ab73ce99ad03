#pragma once
// The structs of 3D copies. Apart from call.h, since their makers come with a header that overloads the functions
// which are template arguments elsewhere.
#include <cstddef>

#include <cuda_runtime_api.h>

namespace texton::detail {

cudaExtent cuda_extent(std::size_t width, std::size_t height, std::size_t depth) noexcept;
cudaPos cuda_position(std::size_t x, std::size_t y, std::size_t z) noexcept;
cudaPitchedPtr cuda_pitched(void* address, std::size_t pitch, std::size_t row_bytes, std::size_t rows) noexcept;

}  // namespace texton::detail
