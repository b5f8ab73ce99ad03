#pragma once
// Rows of luma and chroma of 8 or 16 bits on vectors: codes -> red, green and blue.
#include <cstddef>
#include <cstdint>

#include "kernels/functors/planar_functors.h"

namespace texton::detail {

/// Fourths of the chroma sample before that an even luma sample takes, and of the one after that an odd one takes.
struct ChromaShares {
    std::uint16_t before;
    std::uint16_t after;
};

/// Room behind rows that vectors write.
inline constexpr std::size_t kRowPadding = 64;

/// Chroma at the height of a row of luma, between two of its own.
struct ChromaRow {
    const unsigned char* nearest;  ///< pairs
    const unsigned char* other;
    std::uint16_t share_of_other;  ///< fourths
    std::size_t samples;
    ChromaShares across;
    std::uint32_t* sums;  ///< room for 2 * samples + 4 + kRowPadding
};

/// Both channels at each luma sample, in 65535ths, as the texture unit rounds them. There must be room for kRowPadding more.
using BlendChroma = void (*)(const ChromaRow& row, std::uint16_t* first, std::uint16_t* second);

/// What one row of a picture is made of.
struct PlanarRow {
    const unsigned char* luma;
    const std::uint16_t* cb;  ///< at each luma sample, in 65535ths
    const std::uint16_t* cr;
    std::size_t count;
};

struct PlanarKernels {
    BlendChroma blend_chroma = nullptr;
    /// ToRgb::color(); rows of red, green, blue and alpha begin `apart` floats after one another.
    void (*to_planes)(const ToRgb& to_rgb, const PlanarRow& row, float* planes, std::size_t apart) = nullptr;
    /// The same as pixels of rgba8_unorm.
    void (*to_bytes)(const ToRgb& to_rgb, const PlanarRow& row, unsigned char* pixels) = nullptr;
};

/// None without vectors that fuse products and sums.
[[nodiscard]] PlanarKernels planar_kernels(int bits);

}  // namespace texton::detail
