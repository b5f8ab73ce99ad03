#pragma once
// Rows of half as many pixels, each the mean of 2 x 2 texels, on vectors.
#include <cstddef>
#include <cstdint>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// How the mean of 2 x 2 texels is computed.
enum class HalfMean : std::uint8_t {
    of_sums,   ///< (left + right) + (left + right) of the row below, divided by 4
    of_halves  ///< halves of texels are added along rows, then halves of these sums
};

/// Writes means of two rows of texels as pixels of the same format. Each NaN becomes the canonical one of images.
/// `past_caches` requests streaming stores, for images that are far larger than the caches; then the caller must call
/// hwy::FlushStream().
using HalveRow = void (*)(const unsigned char* top, const unsigned char* bottom, std::size_t pixels,
                          unsigned char* halves, bool past_caches);

/// Returns the function for the best instruction set of this CPU, or null if the format is neither unorm of 8 or 16
/// bits nor sRGB nor float, or if the CPU lacks what it needs.
///
/// Means of 8-bit codes are a quarter of the sum, with halves rounded up: the means of the float values of the codes
/// round to the same codes, for all codes and in every order of addition.
[[nodiscard]] HalveRow halve_row(const TexelFormat& format, HalfMean kind);

}  // namespace texton::detail
