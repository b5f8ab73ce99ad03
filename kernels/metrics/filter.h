// filter.h: the filters of SSIM and FLIP, a row at a time.
#pragma once
#include <cstddef>
#include <span>

namespace texton::detail {

/// out[i] is the sum of taps[k] * in[i + k * stride]: along a row if `stride` is 1, down a column if it is that of rows. Each
/// product and sum is rounded by itself, from the first tap to the last, whatever the CPU's vectors.
void filter(const float* in, std::size_t stride, std::span<const float> taps, std::size_t count, float* out);

}  // namespace texton::detail
