#pragma once
// Changes colors of rows of pixels of four floats, on vectors. Alpha stays as it is, and each NaN becomes the canonical
// one of images. Each product and each sum is rounded. `pixels` may be the same memory as `texels`. `past_caches`
// requests streaming stores, for images that are far larger than the caches.
#include <cstddef>

namespace texton::detail {

/// Computes red, green and blue: ((of[i][0] * red + of[i][1] * green) + of[i][2] * blue) + of[i][3], with i = 0, 1, 2.
void apply_matrix(const float (&of)[3][4], const float* texels, std::size_t count, float* pixels, bool past_caches);

/// Multiplies red, green and blue by a number.
void scale_color_rows(float by, const float* texels, std::size_t count, float* pixels, bool past_caches);

}  // namespace texton::detail
