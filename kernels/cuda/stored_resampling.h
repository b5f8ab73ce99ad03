#pragma once
// Resampling on CUDA devices from texels as they are stored.
#include "kernels/functors/resample_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::resampling {

/// Enqueues the area filter for half the width and height, from texels as they are stored. Returns false, and does
/// nothing, if the grid is another one, if the formats of the texture and the image differ, or if texels cannot be read
/// that way.
[[nodiscard]] bool enqueue_halves(const detail::Launch& launch, const Grid& grid);

/// Does the same for the filters that read more texels. Returns false also if the sampler does not clamp coordinates.
[[nodiscard]] bool enqueue_half_columns(const detail::Launch& launch, const Separable& filter);

/// Enqueues a separable filter for twice the width and height, from texels as they are stored. Returns false in the same
/// cases.
[[nodiscard]] bool enqueue_double_columns(const detail::Launch& launch, const Separable& filter);

/// Enqueues a separable filter for a smaller image, from texels as they are stored. Returns false in the same cases, and
/// also if pixels are far apart or belong to many texels.
[[nodiscard]] bool enqueue_reduction(const detail::Launch& launch, const Separable& filter);

/// Enqueues a separable filter for any size, from texels as they are stored. Returns false, and does nothing, if the
/// formats of the texture and the image differ, if texels cannot be read that way, if the sampler does not clamp
/// coordinates, or if pixels are far apart.
[[nodiscard]] bool enqueue_strips_of_values(const detail::Launch& launch, const Separable& filter);

/// Enqueues a separable filter of which pixels read few texels, from texels as they are stored. Returns false in the same
/// cases, and also if pixels read too many texels.
[[nodiscard]] bool enqueue_columns_of_values(const detail::Launch& launch, const Separable& filter);

}  // namespace texton::resampling
