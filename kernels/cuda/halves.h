#pragma once
// Means of 2 x 2 texels on CUDA devices.
#include "kernels/functors/resample_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::resampling {

/// Enqueues the area filter for half the width and height, from texels as they are stored. Returns false, and does
/// nothing, if the grid is another one, if the formats of the texture and the image differ, or if texels cannot be read
/// that way.
[[nodiscard]] bool enqueue_halves(const detail::Launch& launch, const Grid& grid);

}  // namespace texton::resampling
