#pragma once
// Medians on CUDA devices. For code that nvcc compiles.
#include <cuda_runtime.h>

#include <texton/float4.h>

#include "kernels/functors/median_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::filters {

/// Same results as ByComparison at two thirds of its cost, for values without NaN and without negative zeros.
struct ByMinimum {
    __device__ float lower(float first, float second) const { return fminf(first, second); }
    __device__ float higher(float first, float second) const { return fmaxf(first, second); }
};

__device__ inline bool is_special(float value) { return value != value || detail::bits_of(value) == 0x80000000u; }

/// Enqueues a median of texels as they are stored. Returns false, and does nothing, if the formats of the texture and
/// the image differ, or if texels cannot be read that way.
template <int side>
[[nodiscard]] bool enqueue_values(const detail::Launch& launch, const Median<side>& filter);

}  // namespace texton::filters
