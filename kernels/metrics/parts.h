// The parts of compare(), each in a file of its own. Each writes its part of the result from two images of the same
// format and extent.
#pragma once
#include "kernels/metrics/similarity.h"
#include "kernels/metrics/tiles.h"

namespace texton::detail {

/// Relative amounts of work, for progress reports. FLIP's is for one exposure.
inline constexpr double kDifferenceWork = 1, kSsimWork = 8, kFlipWork = 20;

/// Computes everything except SSIM and FLIP. Expects `result.peak` to be set and `result.channels` to have its final
/// size. `worst` is the maximum number of worst texels.
void measure_differences(const TexelReader& a, const TexelReader& b, std::size_t worst, Progress& progress,
                         Comparison& result);
/// Computes SSIM of each channel and of all channels combined.
void measure_ssim(const TexelReader& a, const TexelReader& b, Progress& progress, Comparison& result);
/// Returns the weights of SSIM along an axis of an image, which has `side` texels.
[[nodiscard]] std::vector<float> ssim_window(std::size_t side);
/// Writes SSIM from the sums over all windows of the channels and of luma, in units of 2^-30.
void finish_ssim(const std::array<std::int64_t, kSsimPlanes>& sums, Extent windows, Comparison& result);

/// Returns the range of exposures for the luminances of `a` if it has a float format, otherwise a single exposure.
Flip flip_exposures(const TexelReader& a);
/// Computes FLIP at the exposures that `flip` contains.
void measure_flip(const TexelReader& a, const TexelReader& b, double pixels_per_degree, Progress& progress, Flip& flip);

}  // namespace texton::detail
