#pragma once
// Converts rows of luma and chroma codes of 8 or 16 bits to red, green and blue, on vectors.
#include <cstddef>
#include <cstdint>

#include "kernels/functors/planar_functors.h"

namespace texton::detail {

/// Weights in fourths: of the previous chroma sample for even luma samples, and of the next chroma sample for odd ones.
struct ChromaShares {
    std::uint16_t before;
    std::uint16_t after;
};

/// Number of elements after the end of a row that vectors may write.
inline constexpr std::size_t kRowPadding = 64;

/// Chroma for a row of luma, interpolated between two rows of chroma.
struct ChromaRow {
    const unsigned char* nearest;  ///< pairs of codes
    const unsigned char* other;
    std::uint16_t share_of_other;  ///< weight of `other` in fourths
    std::size_t samples;
    ChromaShares across;
    std::uint32_t* sums;  ///< room for 2 * samples + 4 + kRowPadding
};

/// Writes both channels at each luma sample, in 65535ths, rounded like the texture unit. The destinations need room for
/// kRowPadding more elements.
using BlendChroma = void (*)(const ChromaRow& row, std::uint16_t* first, std::uint16_t* second);

/// The source of one row of an image.
struct PlanarRow {
    const unsigned char* luma;
    const std::uint16_t* cb;  ///< at each luma sample, in 65535ths
    const std::uint16_t* cr;
    std::size_t count;
};

struct PlanarKernels {
    BlendChroma blend_chroma = nullptr;
    /// Writes ToRgb::color(). The rows of red, green, blue and alpha begin `apart` floats after one another.
    void (*to_planes)(const ToRgb& to_rgb, const PlanarRow& row, float* planes, std::size_t apart) = nullptr;
    /// Writes ToRgb::color() as pixels of rgba8_unorm.
    void (*to_bytes)(const ToRgb& to_rgb, const PlanarRow& row, unsigned char* pixels) = nullptr;
};

/// Returns null functions if the CPU has no vectors with fused multiply-add.
[[nodiscard]] PlanarKernels planar_kernels(int bits);

}  // namespace texton::detail
