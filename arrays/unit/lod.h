// lod.h: computes a level of detail from gradients, in 1/256 of a level.
//
// The texture unit computes no square roots and no exact logarithms. It approximates the length of a gradient as its
// larger component plus 11/32 of the smaller one, both truncated to ten bits. The logarithm of a length is its exponent
// plus a value from a table, whose index is the eight bits after the leading one.
#pragma once
#include <cstdint>

#include "arrays/unit/float_bits.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// A blend of two levels: `level` has the weight 256 - weight, level + 1 has the weight `weight`.
struct LevelBlend {
    std::int32_t level;
    std::int32_t weight;
};

/// A level of detail below every level.
inline constexpr std::int32_t kNoDetail = -(1 << 24);

/// Returns a level of detail in 1/256, truncated toward zero.
TEXTON_HD inline std::int32_t lod_to_fixed(float lod) {
    const auto cut = static_cast<std::int32_t>(floor_to_fixed(lod < 0 ? -lod : lod, 8, 24));
    return lod < 0 ? -cut : cut;
}

inline constexpr float kLargestBias = 15.0f;

/// Returns the level of detail with the sampler's bias, which is clamped to -15 to 15 (recording lod_bias_far).
///
/// Trilinear optimization: with anisotropy, the blend between two levels is steeper around its middle, with a slope of
/// 6/4, 7/4 or 2, so that most fetches need only one level. The position where the slope starts is subtracted from the
/// bias before the bias is truncated (recordings aniso6_trilinear, aniso4_bias).
TEXTON_HD inline std::int32_t biased_lod(const Sampler& sampler, std::int32_t lod) {
    const float requested = sampler.mip_bias;
    const float bias = requested < -kLargestBias ? -kLargestBias : requested > kLargestBias ? kLargestBias : requested;
    if (!sampler.trilinear_optimization || sampler.max_anisotropy < 2) return lod + lod_to_fixed(bias);
    const int quarters = sampler.max_anisotropy < 4 ? 6 : sampler.max_anisotropy < 8 ? 7 : 8;
    const std::int32_t moved = lod + lod_to_fixed(bias - (0.5f - 2.0f / static_cast<float>(quarters)));
    const std::int32_t fraction = moved & 255;
    const std::int32_t weight = (quarters * fraction) >> 2;
    return moved - fraction + (weight < 256 ? weight : 256);
}

/// Returns the levels that a fetch blends. The level of detail, the bias and the limits are truncated toward zero to
/// 1/256 before use (recordings sweep_lod_f32, rand_mip_lod_f32_m1_f1_biasclamp). Selection of the nearest level rounds
/// .5 up (recording sweep_lod_point_mip). If the limits cross, the lower one wins (recording lod_limits_crossed).
TEXTON_HD inline LevelBlend blend_levels(const TextureView& view, const Sampler& sampler, std::int32_t lod) {
    const std::int32_t low = lod_to_fixed(sampler.mip_min);
    const std::int32_t high = lod_to_fixed(sampler.mip_max);
    const std::int32_t last = (view.level_count - 1) * 256;
    lod = biased_lod(sampler, lod);
    if (lod > high) lod = high;
    if (lod < low) lod = low;
    if (lod < 0) lod = 0;
    if (lod > last) lod = last;
    if (sampler.mip_filter == Filter::point) return {(lod + 128) >> 8, 0};
    return {lod >> 8, lod & 255};
}

/// An unsigned value of ten bits: mantissa * 2^(exponent - 9). The mantissa is 512 to 1023, or 0 for zero.
struct ShortFloat {
    std::int32_t mantissa;
    std::int32_t exponent;
};

TEXTON_HD inline bool is_less(const ShortFloat& a, const ShortFloat& b) {
    if (a.mantissa == 0 || b.mantissa == 0) return a.mantissa < b.mantissa;
    return a.exponent != b.exponent ? a.exponent < b.exponent : a.mantissa < b.mantissa;
}

TEXTON_HD inline ShortFloat longer_of(const ShortFloat& a, const ShortFloat& b) { return is_less(a, b) ? b : a; }

/// Returns |value| * 2^exponent, truncated to ten bits.
TEXTON_HD inline ShortFloat shorten(std::int64_t value, std::int32_t exponent) {
    const std::uint64_t magnitude = static_cast<std::uint64_t>(value < 0 ? -value : value);
    if (magnitude == 0) return {0, 0};
    const int top = highest_bit(magnitude);
    const std::uint64_t mantissa = top >= 9 ? magnitude >> (top - 9) : magnitude << (9 - top);
    return {static_cast<std::int32_t>(mantissa), exponent + top};
}

/// A value of ten bits and a sign: mantissa * 2^(exponent - 9).
struct SignedShortFloat {
    std::int32_t mantissa;
    std::int32_t exponent;
};

TEXTON_HD inline ShortFloat magnitude_of(const SignedShortFloat& value) {
    return {value.mantissa < 0 ? -value.mantissa : value.mantissa, value.exponent};
}

/// Returns a * b as the unit's multiplier computes it. The sum of the partial products leaves out its lowest six
/// columns, and 7 units of the next column are added to compensate. The result is truncated to ten bits. Recording:
/// rand_grad_aniso16_f32.
TEXTON_HD inline ShortFloat multiply(const ShortFloat& a, const ShortFloat& b) {
    if (a.mantissa == 0 || b.mantissa == 0) return {0, 0};
    std::int32_t sum = 7;
    for (int i = 0; i < 10; ++i) sum += ((a.mantissa << i) >> 6) & -(b.mantissa >> i & 1);
    return shorten(sum, a.exponent + b.exponent - 12);
}

TEXTON_HD inline SignedShortFloat multiply(const SignedShortFloat& a, const SignedShortFloat& b) {
    const ShortFloat product = multiply(magnitude_of(a), magnitude_of(b));
    return {(a.mantissa < 0) == (b.mantissa < 0) ? product.mantissa : -product.mantissa, product.exponent};
}

/// Returns the magnitude of a gradient component in texels, computed by the same multiplier (recording
/// lod_from_grad_1d). NaN, infinite and denormal components count as 0.
TEXTON_HD inline ShortFloat texels_of_gradient(float gradient, std::int32_t size) {
    const std::uint32_t bits = bits_of(gradient) & 0x7fffffffu;
    if (bits < 0x00800000u || bits >= 0x7f800000u) return {0, 0};
    const std::int64_t mantissa = static_cast<std::int64_t>((bits & 0x7fffffu) | 0x800000u);
    return multiply(shorten(mantissa, static_cast<std::int32_t>(bits >> 23) - 150), shorten(size, 0));
}

/// Three lengths in descending order.
struct SortedLengths {
    ShortFloat longest;
    ShortFloat center;
    ShortFloat shortest;
};

TEXTON_HD inline SortedLengths sort_lengths(const ShortFloat& a, const ShortFloat& b, const ShortFloat& c) {
    const ShortFloat longer = longer_of(a, b);
    const ShortFloat shorter = is_less(a, b) ? a : b;
    if (is_less(longer, c)) return {c, longer, shorter};
    return is_less(shorter, c) ? SortedLengths{longer, c, shorter} : SortedLengths{longer, shorter, c};
}

/// Returns a + b. b must not be longer than a. b is truncated to the last bit of a, and the sum to ten bits.
TEXTON_HD inline ShortFloat add_shorter(const ShortFloat& a, const ShortFloat& b) {
    const int distance = a.exponent - b.exponent;
    if (b.mantissa == 0 || distance > 30) return a;
    return shorten(a.mantissa + (b.mantissa >> distance), a.exponent - 9);
}

TEXTON_HD inline ShortFloat quarter_of(const ShortFloat& length) { return {length.mantissa, length.exponent - 2}; }

/// Returns an approximation of the length of (a, b, c): the longest component plus 11/32 of the middle one plus a
/// quarter of the shortest one. In a plane, the error is within -5.5 % and +6 %. Recordings: lod_from_grad,
/// lod_from_grad_3d.
TEXTON_HD inline ShortFloat approximate_length(const ShortFloat& a, const ShortFloat& b, const ShortFloat& c) {
    const SortedLengths sorted = sort_lengths(a, b, c);
    if (sorted.center.mantissa == 0) return sorted.longest;
    const ShortFloat share = shorten(11 * sorted.center.mantissa + 4, sorted.center.exponent - 14);
    return add_shorter(sorted.longest, add_shorter(share, quarter_of(sorted.shortest)));
}

/// Returns 11/16 of a length.
TEXTON_HD inline ShortFloat scale_length(const ShortFloat& length) {
    return length.mantissa == 0 ? length : shorten(11 * length.mantissa + 4, length.exponent - 13);
}

/// Returns 11/16 of approximate_length(). The factors 11/32 and 11/16 of the middle component are combined into one,
/// 121/512. Recordings: lod_from_diagonals, lod_from_diagonals_3d.
TEXTON_HD inline ShortFloat scaled_approximate_length(const ShortFloat& a, const ShortFloat& b, const ShortFloat& c) {
    const SortedLengths sorted = sort_lengths(a, b, c);
    const ShortFloat longest = scale_length(sorted.longest);
    if (sorted.center.mantissa == 0) return longest;
    const ShortFloat share = shorten(121 * sorted.center.mantissa + 32, sorted.center.exponent - 18);
    return add_shorter(longest, add_shorter(share, quarter_of(scale_length(sorted.shortest))));
}

/// Returns log2 in 1/256, and kNoDetail for 0. The fraction is 256 log2(1 + (i + 1/2) / 256) for the eight bits i after
/// the leading one, rounded up from .53 on. The first and last entries are 0 and 255 instead. Recording: lod_from_grad.
TEXTON_HD inline std::int32_t approximate_log2(const ShortFloat& value) {
    static constexpr std::uint8_t kFraction[256] = {
        0,   2,   4,   5,   6,   8,   9,   11,  12,  13,  15,  16,  18,  19,  20,  22,  23,  24,  26,  27,  28,  30,
        31,  32,  34,  35,  36,  38,  39,  40,  42,  43,  44,  45,  47,  48,  49,  50,  52,  53,  54,  55,  57,  58,
        59,  60,  62,  63,  64,  65,  66,  68,  69,  70,  71,  72,  74,  75,  76,  77,  78,  79,  81,  82,  83,  84,
        85,  86,  88,  89,  90,  91,  92,  93,  94,  95,  97,  98,  99,  100, 101, 102, 103, 104, 105, 106, 107, 109,
        110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131,
        132, 133, 135, 136, 137, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153,
        154, 155, 156, 157, 158, 159, 160, 161, 162, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 173,
        174, 175, 176, 177, 178, 179, 180, 181, 181, 182, 183, 184, 185, 186, 187, 188, 188, 189, 190, 191, 192, 193,
        194, 195, 195, 196, 197, 198, 199, 200, 200, 201, 202, 203, 204, 205, 205, 206, 207, 208, 209, 210, 210, 211,
        212, 213, 214, 214, 215, 216, 217, 218, 218, 219, 220, 221, 222, 222, 223, 224, 225, 226, 226, 227, 228, 229,
        229, 230, 231, 232, 233, 233, 234, 235, 236, 236, 237, 238, 239, 239, 240, 241, 242, 242, 243, 244, 245, 245,
        246, 247, 248, 248, 249, 250, 251, 251, 252, 253, 253, 254, 255, 255};
    return value.mantissa == 0 ? kNoDetail : value.exponent * 256 + kFraction[(value.mantissa >> 1) & 255];
}

/// Returns 256 * 2^(-fraction / 256), rounded, for fractions 0 to 256. Recording: onehot_aniso16.
TEXTON_HD inline std::int32_t inverse_exp2(std::int32_t fraction) {
    static constexpr std::uint16_t kInverse[257] = {
        256, 255, 255, 254, 253, 253, 252, 251, 251, 250, 249, 248, 248, 247, 246, 246, 245, 244, 244, 243, 243, 242,
        241, 241, 240, 239, 239, 238, 237, 237, 236, 235, 235, 234, 233, 233, 232, 232, 231, 230, 230, 229, 228, 228,
        227, 227, 226, 225, 225, 224, 224, 223, 222, 222, 221, 221, 220, 219, 219, 218, 218, 217, 216, 216, 215, 215,
        214, 214, 213, 212, 212, 211, 211, 210, 210, 209, 208, 208, 207, 207, 206, 206, 205, 204, 204, 203, 203, 202,
        202, 201, 201, 200, 200, 199, 198, 198, 197, 197, 196, 196, 195, 195, 194, 194, 193, 193, 192, 192, 191, 191,
        190, 190, 189, 189, 188, 188, 187, 186, 186, 185, 185, 184, 184, 183, 183, 182, 182, 182, 181, 181, 180, 180,
        179, 179, 178, 178, 177, 177, 176, 176, 175, 175, 174, 174, 173, 173, 172, 172, 171, 171, 171, 170, 170, 169,
        169, 168, 168, 167, 167, 166, 166, 166, 165, 165, 164, 164, 163, 163, 162, 162, 162, 161, 161, 160, 160, 159,
        159, 159, 158, 158, 157, 157, 156, 156, 156, 155, 155, 154, 154, 153, 153, 153, 152, 152, 151, 151, 151, 150,
        150, 149, 149, 149, 148, 148, 147, 147, 147, 146, 146, 145, 145, 145, 144, 144, 143, 143, 143, 142, 142, 141,
        141, 141, 140, 140, 140, 139, 139, 138, 138, 138, 137, 137, 137, 136, 136, 135, 135, 135, 134, 134, 134, 133,
        133, 133, 132, 132, 132, 131, 131, 130, 130, 130, 129, 129, 129, 128, 128};
    return kInverse[fraction];
}

/// Returns a + b, or a - b if `subtract` is set, truncated to ten bits. The operand with the smaller magnitude is
/// truncated first: to the last bit of the larger one, or to half of that bit if the magnitudes are subtracted.
/// Recording: rand_grad_general_f32.
TEXTON_HD inline SignedShortFloat short_sum(const SignedShortFloat& a, const SignedShortFloat& b, bool subtract) {
    const bool a_negative = a.mantissa < 0;
    const bool b_negative = (b.mantissa < 0) != subtract;
    const bool b_larger = is_less(magnitude_of(a), magnitude_of(b));
    const ShortFloat larger = magnitude_of(b_larger ? b : a);
    const ShortFloat smaller = magnitude_of(b_larger ? a : b);
    const int distance = larger.exponent - smaller.exponent;
    ShortFloat sum = larger;
    if (smaller.mantissa != 0 && distance <= 20) {
        if (a_negative != b_negative)
            sum = shorten(2 * larger.mantissa - ((2 * smaller.mantissa) >> distance), larger.exponent - 10);
        else
            sum = shorten(larger.mantissa + (smaller.mantissa >> distance), larger.exponent - 9);
    }
    const bool negative = b_larger ? b_negative : a_negative;
    return {negative ? -sum.mantissa : sum.mantissa, sum.exponent};
}

/// The parallelogram that a pixel covers in the texture, as two edges in texels of level 0.
struct PixelFootprint {
    SignedShortFloat x_edge[3];
    SignedShortFloat y_edge[3];
    bool folded;  ///< the footprint crosses an edge of a cube's face
};

TEXTON_HD inline SignedShortFloat signed_texels(float gradient, std::int32_t size) {
    const ShortFloat magnitude = texels_of_gradient(gradient, size);
    return {bits_of(gradient) >> 31 ? -magnitude.mantissa : magnitude.mantissa, magnitude.exponent};
}

TEXTON_HD inline PixelFootprint pixel_footprint(const LevelView& level, bool volume, const Gradients& gradients) {
    const std::int32_t size[3] = {level.width, level.height, level.depth};
    PixelFootprint footprint{};
    for (int i = 0; i < (volume ? 3 : 2); ++i) {
        footprint.x_edge[i] = signed_texels(gradients.dx[i], size[i]);
        footprint.y_edge[i] = signed_texels(gradients.dy[i], size[i]);
    }
    return footprint;
}

/// Returns neighbor - position, truncated toward zero. Bits of `position` below half of the neighbor's last bit are
/// dropped before the subtraction. Recording: lod_between_neighbours_3d.
TEXTON_HD inline float difference_of_neighbors(float neighbor, float position) {
    const auto exponent = [](float value) { return static_cast<std::int32_t>(bits_of(value) >> 23 & 255); };
    const std::int32_t lost = exponent(neighbor) - exponent(position) - 1;
    if (lost > 23) position = 0;
    if (lost > 0 && lost <= 23) position = float_of(bits_of(position) & ~((1u << lost) - 1));
    const double exact = static_cast<double>(neighbor) - static_cast<double>(position);
    const double magnitude = exact < 0 ? -exact : exact;
    const float near = static_cast<float>(magnitude);
    const float cut = static_cast<double>(near) > magnitude ? float_of(bits_of(near) - 1) : near;
    return exact < 0 ? -cut : cut;
}

/// Returns the gradients as the unit receives them for a 3D texture: as coordinates of neighboring pixels, with the
/// rounding of these. The unit treats coordinates from 2^97 as infinite; their gradients are longer than any texture.
/// Recordings: lod_from_diagonals_3d, lod_from_far_3d.
TEXTON_HD inline Gradients neighbor_gradients(const Coordinates& at, const Gradients& gradients) {
    constexpr float kInfinite = 0x1p97f, kLonger = 0x1p60f;
    const float position[3] = {at.x, at.y, at.z};
    Gradients taken = gradients;
    for (int i = 0; i < 3; ++i) {
        const bool infinite = position[i] >= kInfinite || position[i] <= -kInfinite;
        taken.dx[i] = infinite ? kLonger : difference_of_neighbors(position[i] + gradients.dx[i], position[i]);
        taken.dy[i] = infinite ? kLonger : difference_of_neighbors(position[i] + gradients.dy[i], position[i]);
    }
    return taken;
}

/// A direction in which a pixel extends in the texture, in texels, and its length.
struct Axis {
    SignedShortFloat part[3];
    ShortFloat length;
};

/// Returns the longer axis, and `a` if both have the same length.
TEXTON_HD inline Axis longer_axis(const Axis& a, const Axis& b) { return is_less(a.length, b.length) ? b : a; }

TEXTON_HD inline Axis edge_axis(const SignedShortFloat* edge) {
    return {{edge[0], edge[1], edge[2]},
            approximate_length(magnitude_of(edge[0]), magnitude_of(edge[1]), magnitude_of(edge[2]))};
}

/// Returns 11/16 of a diagonal, a + b or a - b. If the edges are nearly parallel, this is longer than both of them.
/// Recording: rand_grad_general_f32.
TEXTON_HD inline Axis diagonal_axis(const Axis& a, const Axis& b, bool subtract) {
    Axis axis{};
    ShortFloat magnitude[3];
    for (int i = 0; i < 3; ++i) {
        const SignedShortFloat part = short_sum(a.part[i], b.part[i], subtract);
        magnitude[i] = magnitude_of(part);
        const ShortFloat scaled = scale_length(magnitude[i]);
        axis.part[i] = {part.mantissa < 0 ? -scaled.mantissa : scaled.mantissa, scaled.exponent};
    }
    axis.length = scaled_approximate_length(magnitude[0], magnitude[1], magnitude[2]);
    return axis;
}

/// Returns the longest of the edges and the scaled diagonals. Of axes with the same length, the first in this order is
/// returned: x edge, sum, y edge, difference. The difference is the longer edge minus the shorter one, and y minus x if
/// both have the same length (recording aniso16_free_f32). The diagonals of a folded footprint are ignored (recording
/// lod_from_grad_cube).
TEXTON_HD inline Axis major_axis(const PixelFootprint& footprint) {
    const Axis x = edge_axis(footprint.x_edge);
    const Axis y = edge_axis(footprint.y_edge);
    if (footprint.folded) return longer_axis(x, y);
    const Axis longest = longer_axis(longer_axis(x, diagonal_axis(x, y, false)), y);
    const bool x_longer = is_less(y.length, x.length);
    return longer_axis(longest, x_longer ? diagonal_axis(x, y, true) : diagonal_axis(y, x, true));
}

}  // namespace texton::detail
