// The filter of SSIM and FLIP, applied to one row at a time.
#pragma once
#include <cstddef>
#include <span>

namespace texton::detail {

/// Writes out[i] = the sum of taps[k] * in[i + k * stride]: along a row if `stride` is 1, down a column if it is the
/// stride of rows. Each product and each sum is rounded, and taps are added from the first to the last, so the result
/// does not depend on the vector length of the CPU.
void filter(const float* in, std::size_t stride, std::span<const float> taps, std::size_t count, float* out);

}  // namespace texton::detail
