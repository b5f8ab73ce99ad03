#pragma once
// Rows of half as many pixels, each the mean of 2 x 2 texels, on vectors.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

/// How the mean of 2 x 2 floats is computed.
enum class HalfMean : std::uint8_t {
    of_sums,   ///< (left + right) + (left + right) of the row below, divided by 4
    of_halves  ///< halves of texels are added along rows, then halves of these sums
};

/// Writes means of pixels of four floats. Each NaN becomes the canonical one of images. `past_caches` requests streaming
/// stores with `of_halves`, for images that are far larger than the caches.
void halve_floats(const float* top, const float* bottom, std::size_t pixels, HalfMean kind, float* halves,
                  bool past_caches = false);

/// Writes means of pixels of 1, 2 or 4 8-bit codes: a quarter of the sum, with halves rounded up. The means of the
/// float values of the codes round to the same codes, for all codes and in every order of addition.
void halve_codes(const unsigned char* top, const unsigned char* bottom, std::size_t channels, std::size_t pixels,
                 unsigned char* halves);

}  // namespace texton::detail
