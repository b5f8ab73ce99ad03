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

/// Rows of texels, and their weights in a sum.
struct WeighedRows {
    std::span<const unsigned char* const> rows;
    std::span<const float> weights;
};

struct CodeSums {
    /// Writes the sums of codes times the weights of their rows, for so many texels of 1, 2 or 4 channels: a line for
    /// each channel. Lines start `apart` floats after one another. Reads no byte after the last texel.
    void (*down)(const WeighedRows& rows, std::size_t channels, std::size_t texels, float* sums, std::size_t apart);
    /// Writes the indices of values that are within `margin` of the middle between two codes, in order. Values are from
    /// 0 to 1, the margin is in codes. Returns their number. Up to kLineBlock more values are read, and there must be
    /// room for as many indices.
    std::size_t (*find_doubtful)(const float* values, std::size_t count, float margin, std::int32_t* found);
    /// Returns the code of the definition.
    unsigned char (*code_of)(const CodesOfPixel& pixel);
};

/// Returns how far the code of a pixel can be from that of the definition before both are rounded. The sums of the
/// absolute weights along the axes are at most `total_x` and `total_y`, and pixels have at most so many taps.
[[nodiscard]] float margin_of_sums(float total_x, float total_y, float divisor, std::size_t taps_x, std::size_t taps_y);

/// Returns the functions for the best instruction set of this CPU, or null where line_sums() returns null.
[[nodiscard]] const CodeSums* code_sums();

}  // namespace texton::detail
