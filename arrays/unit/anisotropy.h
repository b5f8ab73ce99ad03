// anisotropy.h: computes the samples along a line that cover an anisotropic footprint.
//
// The texture unit takes samples along the major axis of the footprint, one texel apart, in pairs on both sides of the
// center. The number of pairs follows from the ratio of the axes, and the last pair gets the remaining weight. All
// decisions use the logarithms of lod.h. The steps are:
// 1. The ratio determines the level of detail and the blend of two levels.
// 2. Each of the two levels gets a row of samples.
// 3. The samples get weights that add up to a power of two.
#pragma once
#include <cstdint>

#include "arrays/unit/lod.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Returns log2 of the effective maximum ratio, in 1/256 and truncated to 1/16. Effective maximums are 1, 2, 4, 6, 8,
/// 10, 12 and 16; other settings are rounded down. Recordings onehot_aniso2 to onehot_aniso16 show 2 to 8 and 16.
TEXTON_HD inline std::int32_t log2_of_max_anisotropy(int max_anisotropy) {
    if (max_anisotropy >= 16) return 1024;
    if (max_anisotropy >= 12) return 912;
    if (max_anisotropy >= 10) return 848;
    if (max_anisotropy >= 8) return 768;
    if (max_anisotropy >= 6) return 656;
    if (max_anisotropy >= 4) return 512;
    return max_anisotropy >= 2 ? 256 : 0;
}

/// A vector. The components of a unit vector are in 1/64, the components of an offset in 1/128 of a texel.
struct Direction {
    std::int32_t x;
    std::int32_t y;
};

/// Returns 64 * part / sqrt(square), rounded to the nearest integer.
TEXTON_HD inline std::int32_t scale_to_unit(std::int32_t part, std::int32_t square) {
    std::int32_t result = 0;
    for (std::int32_t step = 64; step > 0; step >>= 1) {
        const std::int32_t odd = 2 * (result + step) - 1;
        if (odd * odd * square <= 128 * 128 * part * part) result += step;
    }
    return result;
}

/// Returns the unit vector along an edge. Both components are truncated to eighths of the larger component's power of
/// two, and half a step is added to each. The smaller component counts as 0 if it is below 1/32 of that power of two.
/// Recording: rand_grad_aniso2_f32.
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

/// An anisotropic footprint as a line of texels. `lod` is in 1/256 of a level. `ratio` is log2 of the line's length
/// divided by its width, in 1/256.
struct FootprintLine {
    Direction direction;
    std::int32_t lod;
    std::int32_t ratio;
};

/// Returns the line that covers a footprint. The length of the minor axis is the area of the parallelogram divided by
/// the length of the major axis (recording rand_grad_aniso16_f32). For the ratio, the width is at least one texel. The
/// level of detail has no such limit, so it can be negative until a bias raises it (recording aniso4_bias).
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

/// A row of pairs of samples. The weights on each side of the center add up to 128 << scale.
struct SampleRow {
    int scale;
    /// Distance from the center to the first pair in 1/256 of a texel. Each further pair is one texel further away.
    std::int32_t first;
    std::int32_t share;  ///< weight of each sample except the last one of each side
};

/// Returns the row for a ratio above 1; `ratio` is its log2 in 1/256. Up to a ratio of 2, a single pair moves away from
/// the center. Above 2, pairs are at 1/2, 3/2, ... texels. Recording: onehot_aniso16.
TEXTON_HD inline SampleRow sample_row(std::int32_t ratio) {
    if (ratio <= 256) return {1, 256 - inverse_exp2(ratio), 256};
    const std::int32_t inverse = inverse_exp2(ratio & 255);
    if (ratio < 511) return {1, 128, inverse};
    return {2, 128, ratio == 511 ? 256 : inverse >> ((ratio >> 8) - 2)};
}

/// Returns the offset of a pair from the center in 1/128 of a texel. `distance` is in 1/256 of a texel.
TEXTON_HD inline Direction pair_offset(const Direction& direction, std::int32_t distance) {
    return {(distance * direction.x + 64) >> 7, (distance * direction.y + 64) >> 7};
}

/// Returns the offset of the first pair in the finer of two blended levels: `offset` times 2^(weight / 256), rounded
/// toward minus infinity. The texels of the finer level are smaller by that factor. The offsets of the further pairs
/// are odd multiples of the result. Recording: rand_grad_aniso4_f32.
TEXTON_HD inline Direction stretch_offset(const Direction& offset, std::int32_t weight) {
    const std::int32_t factor = inverse_exp2(256 - weight) >> 1;
    return {(offset.x * factor) >> 6, (offset.y * factor) >> 6};
}

}  // namespace texton::detail
