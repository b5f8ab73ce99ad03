#pragma once
// Rows of half as many pixels, each the mean of two by two, on vectors.
#include <cstddef>

namespace texton::detail {

/// Of four floats each: ((left + right) + (left + right) of the row below) / 4, with the NaN that pictures have.
void halve_floats(const float* top, const float* bottom, std::size_t pixels, float* halves);

/// Of 1, 2 or 4 codes of 8 bits each: a quarter of the sum of four, halves up. The means of what such codes read as,
/// which are floats, round to the same codes, all of them.
void halve_codes(const unsigned char* top, const unsigned char* bottom, std::size_t channels, std::size_t pixels,
                 unsigned char* halves);

}  // namespace texton::detail
