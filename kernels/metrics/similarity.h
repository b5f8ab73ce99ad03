// The similarity of one window, and the division of an image into tiles, which every device uses. The values of a tile are
// filtered down the columns, then along the rows. Sums of filters are those of kernels/metrics/weighted_sum.h.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <texton/host_device.h>

namespace texton::detail {

inline constexpr std::size_t kSsimWindow = 11;
/// Windows of a tile. The value at the center of a tile's texels is subtracted from all its values.
inline constexpr std::size_t kSsimTileWidth = 128, kSsimTileHeight = 64;
inline constexpr std::size_t kSsimLuma = 4, kSsimPlanes = 5;  ///< four channels and luma
inline constexpr float kSsimRed = 0.299f, kSsimGreen = 0.587f, kSsimBlue = 0.114f;
inline constexpr float kSsimC1 = 0.01f * 0.01f, kSsimC2 = 0.03f * 0.03f;
/// Similarities are added as integers in units of 2^-30, so that their sum does not depend on the order.
inline constexpr float kSsimUnit = 0x1p30f;

/// Returns the SSIM of a window in units of 2^-30. The moments are the weighted means of p, q, p * p + q * q and p * q,
/// where p and q are the values of both images minus `center`.
TEXTON_HD inline std::int32_t fixed_similarity(float p, float q, float squares, float products, float center) {
    const float mean_a = p + center, mean_b = q + center;
    const float variances = squares - (p * p + q * q);
    const float covariance = products - p * q;
    const float similar = (2 * (mean_a * mean_b) + kSsimC1) * (2 * covariance + kSsimC2) /
                          ((mean_a * mean_a + mean_b * mean_b + kSsimC1) * (variances + kSsimC2));
    const float bounded = similar < -1 ? -1 : similar > 1 ? 1 : similar;
#ifdef __CUDA_ARCH__
    return __float2int_rn(bounded * kSsimUnit);
#else
    return static_cast<std::int32_t>(std::nearbyint(bounded * kSsimUnit));
#endif
}

}  // namespace texton::detail
