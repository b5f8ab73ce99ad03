// The filters of FLIP and what else depends on the options or on the whole image.
#pragma once
#include <array>
#include <vector>

#include <texton/metrics.h>

#include "kernels/metrics/flip_color.h"

namespace texton::detail {

/// Coefficients of a filter along an axis.
using Taps = std::vector<float>;

/// The filters of contrast sensitivity for luminance, red-green and blue-yellow: a * sqrt(pi / b) * exp(-pi^2 x^2 / b),
/// with x in degrees. Blue-yellow is the sum of two such terms. Also the filters of the features.
struct FlipFilters {
    explicit FlipFilters(double pixels_per_degree);

    std::array<Taps, 4> across, down;
    Taps smooth, edge, point;
    std::size_t sensitivity_radius, feature_radius, radius_of_all;
};

/// Returns the range of exposures of an image whose luminances have this maximum and this median.
[[nodiscard]] Flip exposures_of(double brightest, double median);
/// Returns one of the exposures.
[[nodiscard]] float exposure_of(const Flip& flip, int i);
[[nodiscard]] LuminanceWeights luminance_weights();
/// Returns light_of_code() of all codes of a format that has short codes.
[[nodiscard]] std::vector<float> light_of_codes(const CodeFormat& format);

}  // namespace texton::detail
