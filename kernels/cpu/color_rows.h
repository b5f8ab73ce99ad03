#pragma once
// Changes colors of rows of pixels of four floats, on vectors. Alpha stays as it is, and each NaN becomes the canonical
// one of images. Each product and each sum is rounded. `pixels` may be the same memory as `texels`. `past_caches`
// requests streaming stores, for images that are far larger than the caches.
#include <cstddef>

#include <texton/source.h>

namespace texton::detail {

/// Computes red, green and blue: ((of[i][0] * red + of[i][1] * green) + of[i][2] * blue) + of[i][3], with i = 0, 1, 2.
void apply_matrix(const float (&of)[3][4], const float* texels, std::size_t count, float* pixels, bool past_caches);

/// Multiplies red, green and blue by a number.
void scale_color_rows(float by, const float* texels, std::size_t count, float* pixels, bool past_caches);

/// Does the same as apply_matrix() with separate channels, without a conversion of NaNs. Computes the first `colors` of
/// red, green and blue.
void apply_matrix(const float (&of)[3][4], std::size_t colors, std::size_t count, TexelPlanes& pixels);

/// Multiplies the first `colors` of red, green and blue by a number.
void scale_color_planes(float by, std::size_t colors, std::size_t count, TexelPlanes& pixels);

}  // namespace texton::detail
