#pragma once
// Sums of products of floats on vectors. Each product and each sum is rounded, in the order of the plain loops.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

/// Writes sums[k] = ((0 + rows[0][k] * weights[0]) + rows[1][k] * weights[1]) + ...
void sum_rows(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count, float* sums);

/// Writes the same sums as pixels: each NaN becomes the canonical one of images. `past_caches` requests streaming
/// stores, for images that are far larger than the caches; these do not read the destination before.
void sum_rows_as_pixels(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count,
                        float* pixels, bool past_caches = false);

/// The texels of a row, with four channels each, that each pixel sums, and their weights.
struct RowBoxes {
    const std::int32_t* first;   ///< first texel of each pixel
    const std::uint32_t* begin;  ///< index of the first weight of each pixel; its last is before that of the next pixel
    const float* weights;
    std::size_t pixels;
};

/// Adds texel * (weight * of_row) to the sums, one texel after the other.
void add_boxes(const float* texels, const RowBoxes& boxes, float of_row, float* sums);
/// Same as above, but skips texels whose product of weights is 0, and adds the products of weights to `totals`.
void add_boxes(const float* texels, const RowBoxes& boxes, float of_row, float* sums, float* totals);

/// Pixels that are weighted means of a few texels in a few rows, with four channels.
struct FewTexels {
    static constexpr std::size_t kMax = 64;  ///< texels of a pixel, in all rows

    const float* const* rows;
    const float* row_weights;
    std::size_t row_count;
    const std::int32_t* texels;  ///< the first tap of all pixels, then the second, and so on
    const float* weights;        ///< in the same order; 0 for taps that a pixel does not have
    std::size_t taps;
    std::size_t stride;  ///< elements from a tap to the next
};

/// Writes the sums of texel * (weight * weight of the row), added row by row, divided by the sum of these products of
/// weights. Products of weights that are 0 are skipped. Each NaN becomes the canonical one of images. See
/// sum_rows_as_pixels() for `past_caches`.
void average_few_texels(const FewTexels& few, std::size_t pixels, float* averages, bool past_caches);

/// Writes pixels of four channels: each sum divided by the pixel's total. Each NaN becomes the canonical one of images.
void divide_pixels(const float* sums, const float* totals, std::size_t count, float* pixels);

}  // namespace texton::detail
