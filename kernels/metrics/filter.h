// Vector code of SSIM and FLIP, for a few rows at a time.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/metrics/similarity.h"

namespace texton::detail {

/// Writes out[i] = the sum of taps[k] * in[i + k * stride], as weighted_sum() computes it: along a row if `stride` is 1, down
/// a column if it is the stride of rows.
void filter(const float* in, std::size_t stride, std::span<const float> taps, std::size_t count, float* out);

/// Writes the luma of `count` texels.
void luma(const float* red, const float* green, const float* blue, std::size_t count, float* out);

/// Number of values of a row of a tile: at least as many as its windows need, and a multiple of the lanes of a vector. What
/// follows computes whole rows, which start at multiples of 64 bytes.
inline constexpr std::size_t kSsimStride = (kSsimTileWidth + kSsimWindow - 1 + 15) / 16 * 16;
inline constexpr std::size_t kSsimMoments = 4;
inline constexpr std::size_t kSsimRows = 4;  ///< number of rows that are filtered at a time

/// Writes the values that the moments of SSIM are filtered from, one row of each: p, q, p * p + q * q and p * q, where p is
/// a - center and q is b - center.
void moment_products(const float* a, const float* b, float center, float* products);
/// Filters rows of moment_products() down the columns, with the sums of weighted_sum(): kSsimRows results from the rows
/// `products[0]` to `products[kSsimRows + weights.size() - 2]`, or one from the first `weights.size()` rows.
void filter_columns(std::span<const float* const> products, std::span<const float> weights, std::size_t rows,
                    float* out);
/// Filters a result of filter_columns() along the row, likewise, and returns the sum of
/// fixed_similarity() of its first `count` windows.
std::int64_t sum_of_windows(const float* moments, std::span<const float> weights, float center, std::size_t count);

}  // namespace texton::detail
