#pragma once
#include <vector>

#include "kernels/cpu/job.h"

namespace texton::detail {

struct SeparableWeights {
    std::vector<float> across;
    std::vector<float> down;
};

/// A part of CpuKernels::convolve() for a tile of codes of 8 bits, by fused sums. False, and nothing is done, where they do
/// not apply.
[[nodiscard]] bool convolve_codes(const CpuJob& job, const SeparableWeights& weights, const PixelPlace& corner,
                                  std::size_t width, std::size_t height);

}  // namespace texton::detail
