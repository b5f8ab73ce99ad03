// Vector code of SSIM and FLIP, for one row at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/metrics/similarity.h"

namespace texton::detail {

/// Writes out[i] = the sum of taps[k] * in[i + k * stride]: along a row if `stride` is 1, down a column if it is the
/// stride of rows. Each product and each sum is rounded, in an order that depends only on the taps, so the result does not
/// depend on the vector length of the CPU.
void filter(const float* in, std::size_t stride, std::span<const float> taps, std::size_t count, float* out);

/// Writes the luma of `count` texels.
void luma(const float* red, const float* green, const float* blue, std::size_t count, float* out);
/// Writes the four products that the moments of SSIM are filtered from: p, q, p * p + q * q and p * q, where p is
/// a - center and q is b - center. Each has `count` values, and they follow each other.
void moment_products(const float* a, const float* b, float center, std::size_t count, float* products);
/// Returns the sum of fixed_similarity() of the windows of a row. The filtered products have `stride` values each.
std::int64_t sum_of_similarities(const float* moments, std::size_t stride, float center, std::size_t count);
/// Does the same with products that are filtered along their rows only: filters kSsimWindow rows of them down the columns,
/// as filter() does. The weights are equal from both ends.
std::int64_t sum_of_windows(const std::array<const float*, kSsimWindow>& rows, std::span<const float> weights,
                            std::size_t stride, float center, std::size_t count);

}  // namespace texton::detail
