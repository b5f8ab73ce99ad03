#pragma once
// Rows of half as many pixels, each the mean of two by two, on vectors.
#include <cstddef>
#include <cstdint>

namespace texton::detail {

enum class HalfSum : std::uint8_t {
    of_rows,  ///< (left + right) + (left + right) of the row below
    in_turn   ///< ((left + right) + left) + right
};

/// Of four floats each: the sum over 4, with the NaN that pictures have. `past_caches`: written to memory, as of pictures
/// that are far larger than caches.
void halve_floats(const float* top, const float* bottom, std::size_t pixels, HalfSum kind, float* halves,
                  bool past_caches = false);

/// Of 1, 2 or 4 codes of 8 bits each: a quarter of the sum of four, halves up. The means of what such codes read as,
/// which are floats, round to the same codes, all of them and in either order.
void halve_codes(const unsigned char* top, const unsigned char* bottom, std::size_t channels, std::size_t pixels,
                 unsigned char* halves);

}  // namespace texton::detail
