#pragma once
// Sums of products of floats on vectors. Each product and each sum is rounded by itself, in the order of the plain
// loops.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

/// sums[k] = ((0 + rows[0][k] * weights[0]) + rows[1][k] * weights[1]) + ...
void sum_rows(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count, float* sums);

/// The same as pixels: with the NaN that pictures have. `past_caches`: written to memory, as of pictures that are far
/// larger than caches, which then need not be read before.
void sum_rows_as_pixels(const float* const* rows, const float* weights, std::size_t row_count, std::size_t count,
                        float* pixels, bool past_caches = false);

/// What pixels weigh of a row of texels, four channels each.
struct RowBoxes {
    const std::int32_t* first;   ///< of a pixel: its first texel
    const std::uint32_t* begin;  ///< ... and where its weights are, up to the next one's
    const float* weights;
    std::size_t pixels;
};

/// sums += texel * (weight * of_row), texel after texel.
void add_boxes(const float* texels, const RowBoxes& boxes, float of_row, float* sums);
/// The same but for weights that come out as 0, and the weights are added to `totals`.
void add_boxes(const float* texels, const RowBoxes& boxes, float of_row, float* sums, float* totals);

/// Pixels that weigh a few texels of a few rows each, of four channels.
struct FewTexels {
    static constexpr std::size_t kMost = 64;  ///< texels of a pixel, in all rows

    const float* const* rows;
    const float* row_weights;
    std::size_t row_count;
    const std::int32_t* texels;  ///< of each pixel, tap after tap of them all
    const float* weights;        ///< the same; 0 where a pixel has fewer
    std::size_t taps;
    std::size_t stride;  ///< from a tap to the next
};

/// Sums of texel * (weight * weight of the row), row after row, but of those that come out as 0, over the sum of these
/// weights, with the NaN that pictures have. `past_caches` as of sum_rows_as_pixels().
void average_few_texels(const FewTexels& few, std::size_t pixels, float* averages, bool past_caches);

/// Sums of four channels, each over one number, with the NaN that pictures have.
void divide_pixels(const float* sums, const float* totals, std::size_t count, float* pixels);

}  // namespace texton::detail
