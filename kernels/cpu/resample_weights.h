#pragma once
#include <cstddef>

#include <texton/resample.h>

#include "kernels/cpu/line_sums.h"
#include "kernels/functors/resample_functors.h"

namespace texton::detail {

/// Returns the texels and weights of pixels along an axis, as the separable filters define them: on vectors, since an
/// image of few rows needs as many weights as sums. Requires line_sums().
[[nodiscard]] SumAxis resampling_sums(ResampleFilter filter, const resampling::Axis& axis, std::size_t pixels);

}  // namespace texton::detail
