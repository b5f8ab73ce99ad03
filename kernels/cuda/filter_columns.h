#pragma once
// Separable filters on CUDA devices, in kernels that are tried before the one for all cases.
#include "kernels/functors/filter_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::filters {

/// Enqueues a filter that reads texels as they are stored. Returns false, and does nothing, if the formats of the
/// texture and the image differ, if texels cannot be read that way, if a weight is 0, or if other kernels are faster.
[[nodiscard]] bool enqueue_values(const detail::Launch& launch, const Separable& filter);

/// Enqueues a filter, and the sharpening of its result unless `sharpen` is null. Returns false, and does nothing, if
/// the radius is so large that other kernels are faster.
[[nodiscard]] bool enqueue_columns(const detail::Launch& launch, const Separable& filter, const Sharpen* sharpen);

/// Enqueues a filter of any radius that reads texels as they are stored, and the sharpening of its result unless
/// `sharpen` is null. Returns false, and does nothing, if the formats of the texture and the image differ, if texels
/// cannot be read that way, or if the device has too little shared memory.
[[nodiscard]] bool enqueue_blocks(const detail::Launch& launch, const Separable& filter, const Sharpen* sharpen);

}  // namespace texton::filters
