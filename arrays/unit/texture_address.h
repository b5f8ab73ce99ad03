// texture_address.h: converts a coordinate to the two texels of an axis and the weight of the second one.
//
// The texture unit uses fixed point: texel positions have 8 fraction bits, normalized coordinates 21 to 23. This
// determines which texel a tie selects, and the steps that are visible in filtered images.
#pragma once
#include <cstdint>

#include "arrays/unit/float_bits.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Properties of an address mode, for code that handles several modes alike. An address mode is defined by its row in
/// address_rule(), its case in address_texel(), and its case in address() in arrays/cpu/rows_taps.h.
struct AddressRule {
    const char* name = nullptr;  ///< name of the enumerator; null if there is no such mode
    int period = 0;              ///< period in multiples of the texture's size; 0 if the texture does not repeat
    bool clamps = false;         ///< linear filtering clamps the coordinate
    bool border = false;         ///< texels outside have the border color

    TEXTON_HD constexpr bool repeats() const { return period != 0; }
};

TEXTON_HD constexpr AddressRule address_rule(AddressMode mode) {
    switch (mode) {
        case AddressMode::wrap: return {.name = "wrap", .period = 1};
        case AddressMode::clamp: return {.name = "clamp", .clamps = true};
        case AddressMode::mirror: return {.name = "mirror", .period = 2};
        case AddressMode::border: return {.name = "border", .border = true};
    }
    return {};
}

/// Number of address modes. Their values are 0 to kAddressModeCount - 1.
inline constexpr int kAddressModeCount = [] {
    int count = 0;
    while (address_rule(static_cast<AddressMode>(count)).name != nullptr) ++count;
    return count;
}();

/// Returns whether the address modes of both x and y clamp.
inline bool clamps_rows(const Sampler& sampler) {
    return address_rule(sampler.address[0]).clamps && address_rule(sampler.address[1]).clamps;
}

/// Index that stands for a texel outside of the texture, which has the border color.
inline constexpr std::int32_t kBorderTexel = -1;

/// The two texels that a fetch reads along an axis, and the weight of the second one in 1/256.
struct AxisTaps {
    std::int32_t texel[2];
    std::int32_t weight;
};

/// Kinds of axes, which differ in the number of fraction bits they keep. `long_axis`: axes of 1D and 2D textures with
/// one level that are not gathered; these may be longer than others. `depth`: the depth of a 3D texture.
enum class AxisKind : std::uint8_t { ordinary, long_axis, depth };

/// Returns the number of fraction bits that a normalized coordinate keeps: 21, and more if an axis has many texels.
/// Each limit was measured from both sides on an H200. The limit of the depth, 2300, is the same for all tested formats
/// and sizes; the reason is not known. Recordings: rand_1d_linear_wide_norm, long_1d_u8, long_1d_layered_u8,
/// deep_3d_u8.
TEXTON_HD inline int coordinate_fraction_bits(std::int32_t size, AxisKind kind = AxisKind::ordinary) {
    switch (kind) {
        case AxisKind::ordinary: return size > 16384 ? 23 : size > 8192 ? 22 : 21;
        case AxisKind::long_axis: return size > 65536 ? 23 : size > 8192 ? 22 : 21;
        case AxisKind::depth: return size > 2300 ? 22 : 21;
    }
    return 21;
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

/// Returns the coordinate in 1/512 of a texel, rounded down. Very large coordinates saturate, far outside of the
/// texture. If the texture repeats, only coordinates saturate that are so large that all floats are even integers.
TEXTON_HD inline std::int64_t scale_coordinate(float coordinate, std::int32_t size, bool normalized, AddressMode mode,
                                               AxisKind kind) {
    const AddressRule rule = address_rule(mode);
    const bool repeats = normalized && rule.repeats();
    const int limit_bits = repeats ? 60 : 40;
    if (!normalized) return floor_to_fixed(coordinate, 9, limit_bits);
    const int fraction_bits = coordinate_fraction_bits(size, kind);
    std::int64_t u = floor_to_fixed(coordinate, fraction_bits, limit_bits);
    // With wrap and mirror, infinite and very large coordinates read the same texels as even integers. Recordings:
    // sweep_special_coords_f0_n1_a0, sweep_special_coords_f0_n1_a2, mirror_far_u16.
    const std::int64_t one = std::int64_t{1} << fraction_bits;
    if (repeats) u &= rule.period * one - 1;
    return (u * size) >> (fraction_bits - 9);
}

/// Returns a position on a cube face, which ranges from -1 to 1, in the same unit.
TEXTON_HD inline std::int64_t scale_face_coordinate(float coordinate, std::int32_t size) {
    const int fraction_bits = coordinate_fraction_bits(size);
    const std::int64_t u = floor_to_fixed(coordinate, fraction_bits - 1, 40) + (std::int64_t{1} << (fraction_bits - 1));
    return (u * size) >> (fraction_bits - 9);
}

/// The value that clamping changes. Filtering clamps the fixed-point coordinate, which leaves no weight beyond the edge
/// (recording rand_2d_linear_f32_n0_a1). Gathering clamps the indices of the two texels (recording
/// rand_gather_u8x4_c0_n0).
enum class Split : std::uint8_t { fixed_point, texels };

/// Returns the position that linear filtering reads along an axis, in 1/256 of a texel. Texel centers are integers:
/// half a texel is subtracted from the coordinate, and the result is rounded half up. `scaled` is in 1/512 of a texel.
/// `shift`, in 1/256, moves the footprint.
TEXTON_HD inline std::int64_t linear_position(std::int64_t scaled, std::int32_t shift) {
    return ((scaled - 255) >> 1) + shift;
}

TEXTON_HD inline AxisTaps linear_taps(std::int64_t scaled, std::int32_t size, AddressMode mode, Split split,
                                      std::int32_t shift) {
    std::int64_t fixed = linear_position(scaled, shift);
    if (address_rule(mode).clamps && split == Split::fixed_point) {
        const std::int64_t last = (std::int64_t{size} - 1) * 256;
        fixed = fixed < 0 ? 0 : fixed > last ? last : fixed;
    }
    const std::int64_t texel = fixed >> 8;
    return {{address_texel(texel, size, mode), address_texel(texel + 1, size, mode)},
            static_cast<std::int32_t>(fixed & 255)};
}

/// Returns the taps of a point read. `shift`, in 1/256 of a texel, moves the sample. Recording: aniso16_point.
TEXTON_HD inline AxisTaps point_taps(std::int64_t scaled, std::int32_t size, AddressMode mode, std::int32_t shift) {
    const std::int32_t texel = address_texel((scaled + 2 * shift) >> 9, size, mode);
    return {{texel, texel}, 0};
}

}  // namespace texton::detail
