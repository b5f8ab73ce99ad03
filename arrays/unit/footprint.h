// footprint.h: finds the texels around a position in one level, and their weights.
#pragma once
#include <cstdint>

#include "arrays/unit/cube_map.h"
#include "arrays/unit/cube_seam.h"
#include "arrays/unit/texel_decode.h"
#include "arrays/unit/texel_filter.h"
#include "arrays/unit/texture_address.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Clamps the index of a layer. The hardware treats indices as unsigned: -1 and indices past the last layer read the
/// last one. Recording: rand_1dlayered_f32.
TEXTON_HD inline std::int32_t clamp_layer(std::int32_t layer, std::int32_t count) {
    return static_cast<std::uint32_t>(layer) >= static_cast<std::uint32_t>(count) ? count - 1 : layer;
}

// --- border color ----------------------------------------------------------------------------------------------------

/// Returns the code of a border value. The value is clamped to the range from `low` to 1; NaN counts as 0. It is
/// truncated to four fraction bits more than `code_bits`, multiplied by the largest code of `code_bits` bits, and
/// rounded to the nearest code, halves toward zero.
///
/// Recording rand_2d_linear_u8x4_n0_a3: the border value 0.5 reads as 127/255. Random border colors on an H200 show
/// that rgb10a2, BC4 and BC5 have 16 bits.
TEXTON_HD inline std::int32_t quantize_border(float value, float low, int code_bits) {
    if (is_nan(value)) return 0;
    const float clamped = value > low ? (value < 1.0f ? value : 1.0f) : low;
    const bool negative = clamped < 0.0f;
    const std::int64_t largest = (std::int64_t{1} << code_bits) - 1;
    const int fraction_bits = code_bits + 4;
    const std::int64_t product = floor_to_fixed(negative ? -clamped : clamped, fraction_bits, 40) * largest;
    const std::int64_t half = std::int64_t{1} << (fraction_bits - 1);
    const auto magnitude = static_cast<std::int32_t>((product + half - 1) >> fraction_bits);
    return negative ? -magnitude : magnitude;
}

/// Returns a channel of the border color as the filter receives it. Integer formats take the low bits of the float's
/// bit pattern.
TEXTON_HD inline Lane border_lane(float value, const TexelFormat& format, int channel) {
    switch (lane_kind(format, channel)) {
        case LaneKind::integer:
        case LaneKind::wide_uint:
        case LaneKind::wide_sint: {
            const std::uint32_t low = format.bits < 32 ? bits_of(value) & ((1U << format.bits) - 1U) : bits_of(value);
            const bool is_signed = format.encoding == Encoding::sint;
            return {is_signed ? sign_extend(low, format.bits) : static_cast<std::int32_t>(low), 0};
        }
        case LaneKind::unorm16:
            if (format.bits == 8) return {quantize_border(value, 0.0f, 8) * 257, 0};
            return {quantize_border(value, 0.0f, 16), 0};
        case LaneKind::snorm8: return {quantize_border(value, -1.0f, 7), 0};
        case LaneKind::snorm16: return {quantize_border(value, -1.0f, 15), 0};
        case LaneKind::srgb: return lane_of_srgb(srgb_code_of(value));
        case LaneKind::float16: return lane_of_half(half_toward_zero(value));  // recordings border_f16_*
        case LaneKind::float32: return lane_of_float(bits_of(value));
    }
    return {};
}

/// Returns the border color as the filter receives it. Channels that a block or packed format lacks have the same
/// values as in its texels.
TEXTON_HD inline Lanes border_lanes(const Sampler& sampler, const TexelFormat& format) {
    Lanes lanes{};
    for (int c = 0; c < 4 && c < format.channels; ++c) lanes.channel[c] = border_lane(sampler.border[c], format, c);
    if (format.packing != Packing::plain && format.channels < 4) lanes.channel[3] = border_lane(1.0f, format, 3);
    return lanes;
}

// --- texels of an axis -----------------------------------------------------------------------------------------------

/// The texels that a fetch reads in one level.
struct LevelTaps {
    AxisTaps x;
    AxisTaps y;
    AxisTaps z;     ///< slices; the weight is 0 for layers and faces
    bool seamless;  ///< texels outside of the face are on the neighboring faces
};

/// Placement of a footprint relative to the coordinates.
struct Placement {
    Split split = Split::fixed_point;
    std::int32_t shift_x = 0;  ///< in 1/256 of a texel
    std::int32_t shift_y = 0;
};

TEXTON_HD inline AxisTaps axis_taps(float coordinate, std::int32_t size, AxisKind kind, const Sampler& sampler,
                                    int axis, Split split, std::int32_t shift) {
    const AddressMode mode = sampler.address[axis];
    const std::int64_t scaled = scale_coordinate(coordinate, size, sampler.normalized_coordinates, mode, kind);
    return sampler.filter == Filter::point ? point_taps(scaled, size, mode, shift)
                                           : linear_taps(scaled, size, mode, split, shift);
}

/// Returns the taps of an axis of a cube face. A face is addressed as a separate 2D texture, and a coordinate of 1 is
/// outside of it. A seamless cubemap always clamps, whatever the address mode of the sampler. Measured on an H200 with
/// random directions.
TEXTON_HD inline AxisTaps face_taps(std::int64_t scaled, std::int32_t size, const Sampler& sampler, int axis,
                                    Split split, std::int32_t shift) {
    const AddressMode mode = sampler.seamless_cubemap ? AddressMode::clamp : sampler.address[axis];
    return sampler.filter == Filter::point ? point_taps(scaled, size, mode, shift)
                                           : linear_taps(scaled, size, mode, split, shift);
}

TEXTON_HD inline AxisTaps single_tap(std::int32_t texel) { return {{texel, texel}, 0}; }

TEXTON_HD inline LevelTaps find_cube_taps(const TextureView& view, const Sampler& sampler, const LevelView& level,
                                          const Coordinates& at, const Placement& placement) {
    const CubePoint point = project_to_cube(at.x, at.y, at.z);
    const std::int32_t size = level.width;
    const std::int64_t u = scale_face_coordinate(point.u, size);
    const std::int64_t v = scale_face_coordinate(point.v, size);
    const std::int32_t layer = is_layered(view.kind) ? clamp_layer(at.layer, level.depth / 6) : 0;
    LevelTaps taps{};
    taps.z = single_tap(layer * 6 + point.face);
    taps.seamless = sampler.seamless_cubemap && sampler.filter == Filter::linear;
    if (taps.seamless) {
        const SeamlessPosition position =
            seamless_position(linear_position(u, placement.shift_x), linear_position(v, placement.shift_y), size);
        taps.x = seamless_taps(position.x, size);
        taps.y = seamless_taps(position.y, size);
    } else {
        taps.x = face_taps(u, size, sampler, 0, placement.split, placement.shift_x);
        taps.y = face_taps(v, size, sampler, 1, placement.split, placement.shift_y);
    }
    return taps;
}

/// Returns the kind of the x and y axes. Split::texels identifies a gather.
TEXTON_HD inline AxisKind flat_axis_kind(const TextureView& view, Split split) {
    const bool plain = view.kind == ArrayKind::array_1d || view.kind == ArrayKind::array_2d;
    return plain && view.level_count == 1 && split != Split::texels ? AxisKind::long_axis : AxisKind::ordinary;
}

TEXTON_HD inline LevelTaps find_taps(const TextureView& view, const Sampler& sampler, const LevelView& level,
                                     const Coordinates& at, const Placement& placement) {
    if (is_cube(view.kind)) return find_cube_taps(view, sampler, level, at, placement);
    LevelTaps taps{};
    const AxisKind kind = flat_axis_kind(view, placement.split);
    taps.x = axis_taps(at.x, level.width, kind, sampler, 0, placement.split, placement.shift_x);
    // A 1D fetch is a 2D fetch at y = 0 of a texture that is one texel high (recording sweep_linear_norm_addr3). A
    // fetch of a layered 1D texture is not: measured on an H200 with random border colors.
    if (view.kind == ArrayKind::layered_1d) {
        taps.y = single_tap(0);
    } else {
        const float y = is_flat(view.kind) ? 0.0f : at.y;
        taps.y = axis_taps(y, level.height, kind, sampler, 1, placement.split, placement.shift_y);
    }
    if (view.kind == ArrayKind::array_3d)
        taps.z = axis_taps(at.z, level.depth, AxisKind::depth, sampler, 2, placement.split, 0);
    else
        taps.z = single_tap(is_layered(view.kind) ? clamp_layer(at.layer, level.depth) : 0);
    return taps;
}

// --- texels and weights ----------------------------------------------------------------------------------------------

TEXTON_HD inline Lanes load_tap(const LevelView& level, const TexelFormat& format, const Sampler& sampler,
                                std::int32_t x, std::int32_t y, std::int32_t z) {
    if (x != kBorderTexel && y != kBorderTexel && z != kBorderTexel) return load_texel(level, format, x, y, z);
    return border_lanes(sampler, format);
}

/// The four texels of a footprint in one slice: (x0, y0), (x1, y0), (x0, y1), (x1, y1).
struct Quad {
    Lanes texel[4];
};

/// Returns whether a texel of a quad contributes to the result. A texel whose weight along an axis is 0 does not
/// contribute and needs no memory: on an H200, fetches at the center of the last texel before an unmapped tile are
/// resident. A texel whose weight is rounded to 0 needs no memory either, but NaN and infinity contribute: measured on
/// an H100 with levels of small shares.
TEXTON_HD inline bool has_weight(const LevelTaps& taps, int texel) {
    return ((texel & 1) == 0 || taps.x.weight != 0) && ((texel & 2) == 0 || taps.y.weight != 0);
}

TEXTON_HD inline Quad load_quad(const LevelView& level, const TexelFormat& format, const Sampler& sampler,
                                const LevelTaps& taps, int slice, const FootprintWeights* weights = nullptr) {
    Quad quad{};
    for (int i = 0; i < 4; ++i) {
        const std::int32_t x = taps.x.texel[i & 1];
        const std::int32_t y = taps.y.texel[i >> 1];
        const std::int32_t z = taps.z.texel[slice];
        const CubeStep step = taps.seamless ? cube_step(x, y, level.width) : CubeStep::inside;
        if (level.partial != nullptr) {
            if (!has_weight(taps, i)) continue;
            level.partial->counts = weights == nullptr || weights->of[i] != 0;
        }
        if (step == CubeStep::inside) {
            quad.texel[i] = load_tap(level, format, sampler, x, y, z);
        } else if (step == CubeStep::edge) {
            const CubeTexel texel = cross_cube_edge(z % 6, x, y, level.width);
            quad.texel[i] = load_texel(level, format, texel.x, texel.y, z - z % 6 + texel.face);
        }
    }
    if (level.partial != nullptr) level.partial->counts = true;
    return quad;
}

/// Redistributes the weight of a texel beyond a corner, where three faces meet and no fourth texel exists. Its two
/// neighbors in the quad get a third each, rounded, and the texel diagonally opposite gets the rest. These three count
/// as reached even if their weight is 0. Recording: rand_cube_f32_s1_f1.
TEXTON_HD inline FootprintWeights share_cube_corner(const LevelTaps& taps, std::int32_t size,
                                                    FootprintWeights weights) {
    if (!taps.seamless) return weights;
    for (int i = 0; i < 4; ++i) {
        if (cube_step(taps.x.texel[i & 1], taps.y.texel[i >> 1], size) != CubeStep::corner) continue;
        const std::int32_t third = (2 * weights.of[i] + 3) / 6;
        weights.of[i ^ 1] += third;
        weights.of[i ^ 2] += third;
        weights.of[i ^ 3] += weights.of[i] - 2 * third;
        weights.of[i] = 0;
        for (int j = 0; j < 4; ++j) weights.reaches[j] = j != i;
    }
    return weights;
}

/// Finds the texels of a level. Other sums have functions of their own.
TEXTON_HD inline LevelTaps find_taps_for(TexelSum&, const TextureView& view, const Sampler& sampler, int level,
                                         const Coordinates& at, const Placement& placement) {
    return find_taps(view, sampler, view.levels[level], at, placement);
}

/// Adds the texels of one slice.
TEXTON_HD inline void add_quad(TexelSum& sum, const LevelView& level, const TexelFormat& format, const Sampler& sampler,
                               const LevelTaps& taps, int slice, const FootprintWeights& weights, int scale) {
    Lane lanes[4][4];
    const Quad quad = load_quad(level, format, sampler, taps, slice, &weights);
    for (int c = 0; c < 4; ++c)
        for (int i = 0; i < 4; ++i) lanes[c][i] = quad.texel[i].channel[c];
    sum.add(lanes, share_cube_corner(taps, level.width, weights), scale);
}

/// Adds the texels around a position in one level. Their weights add up to `share`. With two slices, the share of the
/// first one is rounded and the second one gets the rest. Recording: onehot_mip3d_l0_t0.
///
/// `Sum` is TexelSum, or a class with the same functions and overloads of find_taps_for(), add_quad() and read_point().
template <class Sum>
TEXTON_HD inline void add_footprint(Sum& sum, const TextureView& view, const Sampler& sampler, int level,
                                    const Coordinates& at, std::int32_t share, int scale, const Placement& placement) {
    if (share == 0) return;
    const LevelView& info = view.levels[level];
    const LevelTaps taps = find_taps_for(sum, view, sampler, level, at, placement);
    const std::int32_t near = round_to_256th((kFullWeight - taps.z.weight) * share);
    for (int slice = 0; slice < 2; ++slice) {
        const std::int32_t slice_share = slice == 0 ? near : share - near;
        if (slice_share == 0) continue;
        const FootprintWeights weights = footprint_weights(taps.x.weight, taps.y.weight, slice_share);
        add_quad(sum, info, view.format, sampler, taps, slice, weights, scale);
    }
}

}  // namespace texton::detail
