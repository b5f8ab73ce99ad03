// parts.h: what compare() puts together, one file each. All fill their part of `result` from two pictures of one format
// and extent.
#pragma once
#include "kernels/metrics/tiles.h"

namespace texton::detail {

/// Shares of the work, for its progress: of one picture, and for FLIP of one exposure.
inline constexpr double kDifferenceWork = 1, kSsimWork = 8, kFlipWork = 20;

/// All but SSIM and FLIP. `result.peak` and `result.channels` have been made.
void measure_differences(const TexelReader& a, const TexelReader& b, std::size_t worst, Progress& progress,
                         Comparison& result);
void measure_ssim(const TexelReader& a, const TexelReader& b, Progress& progress, Comparison& result);
/// What of `a` are the exposures, if it is float; else one.
Flip flip_exposures(const TexelReader& a);
/// `flip` has its exposures.
void measure_flip(const TexelReader& a, const TexelReader& b, double pixels_per_degree, Progress& progress, Flip& flip);

}  // namespace texton::detail
