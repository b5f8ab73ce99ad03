#pragma once
// Colours of rows of pixels on vectors: four floats each, alpha as it is, with the NaN that pictures have. Each product
// and each sum is rounded by itself. Pixels may be written where their texels are. `past_caches`: they are written to
// memory, as of pictures that are far larger than caches.
#include <cstddef>

namespace texton::detail {

/// Red, green and blue: ((of[0] * red + of[1] * green) + of[2] * blue) + of[3].
void apply_matrix(const float (&of)[3][4], const float* texels, std::size_t count, float* pixels, bool past_caches);

/// Red, green and blue times a number.
void scale_colours(float by, const float* texels, std::size_t count, float* pixels, bool past_caches);

}  // namespace texton::detail
