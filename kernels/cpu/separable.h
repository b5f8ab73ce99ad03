#pragma once
#include <vector>

#include "kernels/cpu/job.h"

namespace texton::detail {

struct SeparableWeights {
    std::vector<float> across;
    std::vector<float> down;
};

/// Part of CpuKernels::convolve() for a tile of 8-bit codes, with fused sums. Returns false and does nothing if it does
/// not apply.
[[nodiscard]] bool convolve_codes(const CpuJob& job, const SeparableWeights& weights, const PixelPosition& corner,
                                  std::size_t width, std::size_t height);

}  // namespace texton::detail
