#pragma once
#include <optional>

#include "kernels/cpu/job.h"
#include "kernels/cpu/line_sums.h"
#include "kernels/functors/filter_functors.h"

namespace texton::detail {

/// Pixels that are weighted sums of texels: row[j] = the sum of texel (i, j) * weight i of x, and the pixel is the sum
/// of row[j] * weight j of y, divided by `divisor`. Sums start at 0, and each term is added with a fused multiply-add.
/// Texels and rows whose weight is 0 do not count.
struct SeparableSums {
    SumAxis x;
    SumAxis y;
    float divisor = 1;
};

/// Computes an image of separable sums. If `sharpen` is given, pixels are computed from the sums and from the texels at
/// their positions. line_sums() must not be null.
void sum_separably(const CpuJob& job, const SeparableSums& sums,
                   const std::optional<filters::Sharpen>& sharpen = std::nullopt);

}  // namespace texton::detail
