#pragma once
// The bilateral filter on vectors, one row of pixels at a time. Rows of texels begin `radius` texels before the first
// pixel, and end as many texels after the last one. Values of texels and pixels beyond the ends are read and written:
// up to kLineRest.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/line_vector.h"
#include "kernels/cpu/line_sums.h"

namespace texton::detail {

/// A row of texels, with a separate row for each channel.
struct PlaneRow {
    const float* channel[4];
};

/// The exponents of the weights of filters::Bilateral.
struct BilateralExponents {
    std::size_t radius;
    float range;                   ///< for a squared difference of values of 1
    float lowest;                  ///< lower ones have the weight 0
    std::vector<float> distances;  ///< of the texels, row by row

    /// Returns the exponent of the distance of (i, j).
    float of_distance(std::int32_t i, std::int32_t j) const {
        const auto reach = static_cast<std::int32_t>(radius);
        return distances[static_cast<std::size_t>((j + reach) * (2 * reach + 1) + i + reach)];
    }
};

/// The weights of pairs of texels that rows of pixels have in common. The two texels of a pair have the same weight in
/// the pixels at their positions, so it is computed once. Rows of texels have numbers.
class PairWeights {
public:
    /// With a larger radius, the weights would not stay in the L2 cache.
    static constexpr std::size_t kMaxRadius = 6;

    /// For rows of `width` pixels.
    PairWeights(std::size_t radius, std::size_t width);

    /// Returns the weights of the texels of a row with those at (i, j) from them, starting with the texel `radius`
    /// before the first pixel. `j` must not be negative. Rows are kept until row + j + 1.
    float* of(std::int32_t i, std::size_t j, std::size_t row) {
        const std::size_t first = first_[j] + static_cast<std::size_t>(i + radius_) * (j + 1);
        return &weights_[(first + row % (j + 1)) * apart_];
    }

private:
    std::int32_t radius_;
    std::size_t apart_;
    std::vector<std::size_t> first_;  // row of the weights with the texels j rows below
    LineVector<float> weights_;
};

/// Writes the weights of pairs of texels: those whose upper one is in `row`, or their left one if both are in this row,
/// and whose lower one is at least `first` rows below. rows[0] is the row, followed by those below it.
void weigh_pairs(const PlaneRow* rows, std::size_t channels, const BilateralExponents& exponents, std::size_t count,
                 std::size_t row, std::size_t first, PairWeights& pairs);

/// Computes filters::Bilateral of `count` pixels in `row` with 1, 2 or 4 channels, whose other channels are 0, with a
/// separate row for each channel. `pixels` has four rows. A pixel is NaN if all its weights are 0. The pairs must have
/// been weighed. The CPU must have fused multiply-adds: line_sums() must not be null.
void bilateral_of_pairs(const PlaneRow* rows, std::size_t channels, std::size_t radius, std::size_t count,
                        std::size_t row, PairWeights& pairs, float* const* pixels);

/// Does the same without weights of pairs.
void bilateral_of_rows(const PlaneRow* rows, std::size_t channels, const BilateralExponents& exponents,
                       std::size_t count, float* const* pixels);

}  // namespace texton::detail
