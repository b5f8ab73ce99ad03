#pragma once
// The CUDA kernels that turn decoded images, as code compiled by the host compiler launches them.
#include <cstddef>

#include "arrays/turn.h"

namespace texton::detail {

/// Images in device memory. Pitches are in bytes.
struct UprightMove {
    const unsigned char* from = nullptr;  ///< with one or three channels of 8 bits
    std::size_t from_pitch = 0;
    unsigned char* to = nullptr;  ///< with one or four channels of 8 bits
    std::size_t to_pitch = 0;
    unsigned width = 0;  ///< of the turned image
    unsigned height = 0;
    Turn turn{};
};

/// Returns the CUDA kernel for cudaLaunchKernel, whose argument is an UprightMove. Each thread writes one texel. Three
/// channels become four, with alpha 255.
const void* upright_kernel(bool has_colors) noexcept;

}  // namespace texton::detail
