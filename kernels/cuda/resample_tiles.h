#pragma once
// Resampling in tiles on CUDA devices.
#include "kernels/functors/resample_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::resampling {

/// Enqueues a separable filter, for any format and size. Returns false, and does nothing, if pixels are so far apart that
/// the sums of a tile need too much memory.
[[nodiscard]] bool enqueue_tiles(const detail::Launch& launch, const Separable& filter);

}  // namespace texton::resampling
