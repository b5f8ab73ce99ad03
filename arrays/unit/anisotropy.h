// anisotropy.h: a long footprint -> samples along a line.
//
// The unit samples at steps of one texel along the major axis, in pairs on both sides of the centre, until the
// samples cover the ratio of the axes; the last pair weighs what is left. Everything is decided in the logarithms of
// lod.h. Steps: ratio -> level and blend -> for each of the two levels a row of samples -> shares that add up to a
// power of two.
#pragma once
#include <cstdint>

#include "arrays/unit/lod.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// log2 of the largest ratio in 1/256, cut to 1/16: 1, 2, 4, 6, 8, 10, 12 and 16 exist, others count as the one
/// below. 2 to 8 and 16: onehot_aniso2 to onehot_aniso16.
TEXTON_HD inline std::int32_t log2_of_max_anisotropy(int max_anisotropy) {
    if (max_anisotropy >= 16) return 1024;
    if (max_anisotropy >= 12) return 912;
    if (max_anisotropy >= 10) return 848;
    if (max_anisotropy >= 8) return 768;
    if (max_anisotropy >= 6) return 656;
    if (max_anisotropy >= 4) return 512;
    return max_anisotropy >= 2 ? 256 : 0;
}

/// A vector in 1/64.
struct Direction {
    std::int32_t x;
    std::int32_t y;
};

/// 64 * part / sqrt(square), rounded.
TEXTON_HD inline std::int32_t scale_to_unit(std::int32_t part, std::int32_t square) {
    std::int32_t result = 0;
    for (std::int32_t step = 64; step > 0; step >>= 1) {
        const std::int32_t odd = 2 * (result + step) - 1;
        if (odd * odd * square <= 128 * 128 * part * part) result += step;
    }
    return result;
}

/// The unit vector along an edge. Both components are cut to eighths of the larger one's power of two and taken at
/// the middle of their step, the smaller as 0 below 1/32: rand_grad_aniso2_f32.
TEXTON_HD inline Direction direction_of(const SignedShortFloat* edge) {
    const ShortFloat x = magnitude_of(edge[0]);
    const ShortFloat y = magnitude_of(edge[1]);
    const bool steep = is_less(x, y);
    const ShortFloat larger = steep ? y : x;
    const ShortFloat smaller = steep ? x : y;
    const int distance = larger.exponent - smaller.exponent;
    const std::int32_t a = 2 * (larger.mantissa >> 6) + 1;
    const std::int32_t b = smaller.mantissa == 0 || distance > 5 ? 0 : 2 * (smaller.mantissa >> distance >> 6) + 1;
    const std::int32_t square = a * a + b * b;
    const std::int32_t along = scale_to_unit(a, square);
    const std::int32_t across = scale_to_unit(b, square);
    const Direction direction = steep ? Direction{across, along} : Direction{along, across};
    return {edge[0].mantissa < 0 ? -direction.x : direction.x, edge[1].mantissa < 0 ? -direction.y : direction.y};
}

TEXTON_HD inline std::int32_t limit_ratio(std::int32_t ratio, std::int32_t limit) {
    return ratio < 0 ? 0 : ratio > limit ? limit : ratio;
}

/// The footprint as a line of texels: its direction, its level of detail, and log2 of length by width, in 1/256.
struct FootprintLine {
    Direction direction;
    std::int32_t lod;
    std::int32_t ratio;
};

/// The minor axis is the parallelogram's area by the major axis: rand_grad_aniso16_f32. The row covers the ratio to one
/// of at least a texel; the level of detail goes below that, for a bias to raise: aniso4_bias.
TEXTON_HD inline FootprintLine footprint_line(const PixelFootprint& footprint, int max_anisotropy) {
    const Axis major = major_axis(footprint);
    if (major.length.mantissa == 0) return {{0, 0}, kNoDetail, 0};
    const SignedShortFloat* x = footprint.x_edge;
    const SignedShortFloat* y = footprint.y_edge;
    const ShortFloat area = magnitude_of(short_sum(multiply(x[0], y[1]), multiply(x[1], y[0]), true));
    const std::int32_t length = approximate_log2(major.length);
    const std::int32_t width = approximate_log2(area) - length;
    const std::int32_t limit = log2_of_max_anisotropy(max_anisotropy);
    return {direction_of(major.part), length - limit_ratio(length - width, limit),
            limit_ratio(length - (width > 0 ? width : 0), limit)};
}

/// A row of sample pairs. Shares on each side add up to 128 << scale.
struct SampleRow {
    int scale;
    std::int32_t
        first;  ///< from the centre to the first pair, in 1/256 of a texel; the next are one texel further each
    std::int32_t share;  ///< of each sample but the last
};

/// Ratios above 1. Up to a ratio of 2 one pair moves apart from the centre; above, pairs stand at 1/2, 3/2, ... texels:
/// onehot_aniso16.
TEXTON_HD inline SampleRow sample_row(std::int32_t ratio) {
    if (ratio <= 256) return {1, 256 - inverse_exp2(ratio), 256};
    const std::int32_t inverse = inverse_exp2(ratio & 255);
    if (ratio < 511) return {1, 128, inverse};
    return {2, 128, ratio == 511 ? 256 : inverse >> ((ratio >> 8) - 2)};
}

/// How far a pair stands from the centre, in 1/128 of a texel.
TEXTON_HD inline Direction pair_offset(const Direction& direction, std::int32_t distance) {
    return {(distance * direction.x + 64) >> 7, (distance * direction.y + 64) >> 7};
}

/// The offset of the first pair in the finer of two blended levels, whose texels are smaller by 2^(weight / 256). It
/// is rounded down, toward minus infinity; the pairs beyond stand at its odd multiples: rand_grad_aniso4_f32.
TEXTON_HD inline Direction stretch_offset(const Direction& offset, std::int32_t weight) {
    const std::int32_t factor = inverse_exp2(256 - weight) >> 1;
    return {(offset.x * factor) >> 6, (offset.y * factor) >> 6};
}

}  // namespace texton::detail
