// texture_address.h: one coordinate -> the two texels of an axis and the weight between them.
//
// The unit works in fixed point: texels have 8 fraction bits, normalized coordinates at least 21. All else follows
// from that: which texel a tie falls to, and the steps that filtered pictures show.
#pragma once
#include <cstdint>

#include "arrays/float_bits.h"
#include "arrays/texture_view.h"

namespace texton::detail {

/// A texel that is not there: the border colour is read instead.
inline constexpr std::int32_t kBorderTexel = -1;

/// The texels that an axis reads and the weight of the second in 1/256.
struct AxisTaps {
    std::int32_t texel[2];
    std::int32_t weight;
};

/// Fraction bits that a normalized coordinate keeps. 21, but a coordinate times the size keeps 8 bits: at width 16384
/// there are 22 (rand_1d_linear_wide_norm).
TEXTON_HD inline int coordinate_fraction_bits(std::int32_t size) {
    const int bits = highest_bit(static_cast<std::uint64_t>(size - 1)) + 1 + 8;
    return bits > 21 ? bits : 21;
}

TEXTON_HD inline std::int32_t address_texel(std::int64_t texel, std::int32_t size, AddressMode mode) {
    switch (mode) {
        case AddressMode::wrap: {
            const std::int64_t rest = texel % size;
            return static_cast<std::int32_t>(rest < 0 ? rest + size : rest);
        }
        case AddressMode::clamp: return static_cast<std::int32_t>(texel < 0 ? 0 : texel >= size ? size - 1 : texel);
        case AddressMode::mirror: {
            const std::int64_t period = 2 * std::int64_t{size};
            std::int64_t rest = texel % period;
            if (rest < 0) rest += period;
            return static_cast<std::int32_t>(rest < size ? rest : period - 1 - rest);
        }
        case AddressMode::border: return texel < 0 || texel >= size ? kBorderTexel : static_cast<std::int32_t>(texel);
    }
    return 0;
}

/// The coordinate in 1/512 of a texel, rounded down. Saturates at +-2^40, far outside of every texture.
TEXTON_HD inline std::int64_t scale_coordinate(float coordinate, std::int32_t size, bool normalized, AddressMode mode) {
    constexpr int kLimitBits = 40;
    if (!normalized) return floor_to_fixed(coordinate, 9, kLimitBits);
    const int fraction_bits = coordinate_fraction_bits(size);
    std::int64_t u = floor_to_fixed(coordinate, fraction_bits, kLimitBits);
    // Infinite and huge coordinates wrap and mirror as whole numbers do: sweep_special_coords_f0_n1_a0, _a2.
    const std::int64_t one = std::int64_t{1} << fraction_bits;
    if (mode == AddressMode::wrap) u &= one - 1;
    if (mode == AddressMode::mirror) u &= 2 * one - 1;
    return (u * size) >> (fraction_bits - 9);
}

/// The same for a place on a cube face, which runs from -1 to 1.
TEXTON_HD inline std::int64_t scale_face_coordinate(float coordinate, std::int32_t size) {
    const int fraction_bits = coordinate_fraction_bits(size);
    const std::int64_t u = floor_to_fixed(coordinate, fraction_bits - 1, 40) + (std::int64_t{1} << (fraction_bits - 1));
    return (u * size) >> (fraction_bits - 9);
}

/// What clamping acts on. Filtering clamps the fixed-point coordinate, which leaves no weight beside the edge
/// (rand_2d_linear_f32_n0_a1); gathering clamps the two texels (rand_gather_u8x4_c0_n0).
enum class Split : std::uint8_t { fixed_point, texels };

/// Linear filtering: texel centres are whole numbers after half a texel is taken off, rounded half up to 1/256.
/// `scaled` is in 1/512 of a texel.
/// `shift`, in 1/256 of a texel, moves the footprint.
TEXTON_HD inline AxisTaps linear_taps(std::int64_t scaled, std::int32_t size, AddressMode mode, Split split,
                                      std::int32_t shift) {
    std::int64_t fixed = ((scaled - 255) >> 1) + shift;
    if (mode == AddressMode::clamp && split == Split::fixed_point) {
        const std::int64_t last = (std::int64_t{size} - 1) * 256;
        fixed = fixed < 0 ? 0 : fixed > last ? last : fixed;
    }
    const std::int64_t texel = fixed >> 8;
    return {{address_texel(texel, size, mode), address_texel(texel + 1, size, mode)},
            static_cast<std::int32_t>(fixed & 255)};
}

/// `shift`, in 1/256 of a texel, moves the sample: aniso16_point.
TEXTON_HD inline AxisTaps point_taps(std::int64_t scaled, std::int32_t size, AddressMode mode, std::int32_t shift) {
    const std::int32_t texel = address_texel((scaled + 2 * shift) >> 9, size, mode);
    return {{texel, texel}, 0};
}

/// Linear filtering on a seamless cubemap: texels -1 and `size` stay, for cross_cube_edge() to find.
TEXTON_HD inline AxisTaps seamless_taps(std::int64_t scaled) {
    const std::int64_t fixed = (scaled - 255) >> 1;
    const std::int32_t texel = static_cast<std::int32_t>(fixed >> 8);
    return {{texel, texel + 1}, static_cast<std::int32_t>(fixed & 255)};
}

}  // namespace texton::detail
