#pragma once
// Sums of 8-bit codes in another order than that of the definition of separable sums: down columns first, which takes
// fewer operations where images become smaller. Texels are not converted to floats one by one, and only one row of sums
// for each row of pixels is summed along.
//
// The results are about as exact as the definition's, but their bits differ. A pixel is rounded to 8 bits. So its code
// is the definition's unless a number halfway between two codes is within margin_of_sums(). These few pixels are
// computed once more, as the definition says.
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/cpu/line_sums.h"

namespace texton::detail {

/// The texels of a channel of one pixel. Texels beyond the edges repeat the texels at the edges.
struct CodesOfPixel {
    const unsigned char* const* rows;  ///< of each tap of y: the first texel of the texture's row
    std::size_t channel;
    std::size_t step;    ///< bytes from a texel to the next
    std::int32_t width;  ///< texels of a row
    SumAxis::Taps x;
    SumAxis::Taps y;
    float divisor;
};

struct CodeSums {
    /// Writes sums[k] = rows[0][k] * weights[0] + rows[1][k] * weights[1] + ... of codes. Reads no byte after the last.
    void (*down)(std::span<const unsigned char* const> rows, std::span<const float> weights, std::size_t count,
                 float* sums);
    /// Rounds sums * scale to codes. Writes the indices of those that are within `margin` of a number halfway between
    /// two codes, and returns how many they are. Up to kLineRest more sums are read, and as many results written.
    std::size_t (*round)(const float* sums, float scale, std::size_t count, float margin, unsigned char* codes,
                         std::int32_t* doubtful);
    /// Returns the code of the definition.
    unsigned char (*code_of)(const CodesOfPixel& pixel);
};

/// Returns how far the sum of a pixel can be from that of the definition, in codes. The sums of the absolute weights
/// along the axes are at most `total_x` and `total_y`, and pixels have at most so many taps.
[[nodiscard]] float margin_of_sums(float total_x, float total_y, float divisor, std::size_t taps_x, std::size_t taps_y);

/// Returns the functions for the best instruction set of this CPU, or null where line_sums() returns null.
[[nodiscard]] const CodeSums* code_sums();

}  // namespace texton::detail
