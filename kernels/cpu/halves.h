#pragma once
// Rows of half as many pixels, each the mean of 2 x 2 texels, on vectors.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

enum class HalfSum : std::uint8_t {
    of_rows,  ///< (left + right) + (left + right) of the row below
    in_turn   ///< ((left + right) + left) + right
};

/// Writes means of pixels of four floats: the sum divided by 4. Each NaN becomes the canonical one of images.
/// `past_caches` requests streaming stores, for images that are far larger than the caches.
void halve_floats(const float* top, const float* bottom, std::size_t pixels, HalfSum kind, float* halves,
                  bool past_caches = false);

/// Writes means of pixels of 1, 2 or 4 8-bit codes: a quarter of the sum, with halves rounded up. The means of the
/// float values of the codes round to the same codes, for all codes and in both orders of addition.
void halve_codes(const unsigned char* top, const unsigned char* bottom, std::size_t channels, std::size_t pixels,
                 unsigned char* halves);

}  // namespace texton::detail
