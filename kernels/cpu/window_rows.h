#pragma once
// What pixels compute from the texels of a square around them, on vectors, a row of pixels at a time. Rows of texels begin
// `side / 2` texels before the first pixel and end as many behind the last.
#include <cstddef>

namespace texton::detail {

/// The middle one of side x side values, 3 or 5, of each of `count` channels, which are `step` apart from texel to texel;
/// NaN stays where filters::ByComparison leaves it.
void median_of_rows(const float* const* rows, std::size_t side, std::size_t step, std::size_t count, float* medians);
/// The same of codes of 8 bits.
void median_of_rows(const unsigned char* const* rows, std::size_t side, std::size_t step, std::size_t count,
                    unsigned char* medians);

/// A row of texels, channel by channel.
struct PlaneRow {
    const float* channel[4];
};

/// filters::Bilateral of `count` pixels, channel by channel. Where no texel counts it is NaN.
void bilateral_of_rows(const PlaneRow* rows, std::size_t radius, float space, float range, std::size_t count,
                       float* const* pixels);

}  // namespace texton::detail
