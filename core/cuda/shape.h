#pragma once
// Functions that create the structs of 3D copies. They are separate from call.h because they need a header that
// overloads functions of the runtime, and an overloaded function cannot be a template argument.
#include <cstddef>

#include <cuda_runtime_api.h>

namespace texton::detail {

cudaExtent cuda_extent(std::size_t width, std::size_t height, std::size_t depth) noexcept;
cudaPos cuda_position(std::size_t x, std::size_t y, std::size_t z) noexcept;
cudaPitchedPtr cuda_pitched(void* address, std::size_t pitch, std::size_t row_bytes, std::size_t rows) noexcept;

}  // namespace texton::detail
