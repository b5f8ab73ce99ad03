// footprint.h: a place in one level -> the texels around it and what each of them weighs.
#pragma once
#include <cstdint>

#include "arrays/unit/cube_map.h"
#include "arrays/unit/cube_seam.h"
#include "arrays/unit/texel_decode.h"
#include "arrays/unit/texel_filter.h"
#include "arrays/unit/texture_address.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Layers are unsigned: -1 and those past the last read the last (rand_1dlayered_f32).
TEXTON_HD inline std::int32_t clamp_layer(std::int32_t layer, std::int32_t count) {
    return static_cast<std::uint32_t>(layer) >= static_cast<std::uint32_t>(count) ? count - 1 : layer;
}

// --- the border colour -----------------------------------------------------------------------------------------------

/// `value`, at least `low` and at most 1 (0 if it is no number), times the largest code, which has `code_bits` bits: cut
/// to four fraction bits more than those first, then to the nearest, halves toward zero. rand_2d_linear_u8x4_n0_a3, whose
/// 0.5 reads as 127/255;
/// random borders on an H200, which of rgb10a2, BC4 and BC5 have 16 bits.
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

/// A border channel as the filter takes it. Integer formats take the low bits.
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
        case LaneKind::float16: return lane_of_half(half_toward_zero(value));  // border_f16_far, border_f16_special
        case LaneKind::float32: return lane_of_float(bits_of(value));
    }
    return {};
}

/// The channels that a block or packed format lacks read in the border as they do in its texels.
TEXTON_HD inline Lanes border_lanes(const Sampler& sampler, const TexelFormat& format) {
    Lanes lanes{};
    for (int c = 0; c < 4 && c < format.channels; ++c) lanes.channel[c] = border_lane(sampler.border[c], format, c);
    if (format.packing != Packing::plain && format.channels < 4) lanes.channel[3] = border_lane(1.0f, format, 3);
    return lanes;
}

// --- the texels of an axis -------------------------------------------------------------------------------------------

/// Where the texels of a fetch lie in one level.
struct LevelTaps {
    AxisTaps x;
    AxisTaps y;
    AxisTaps z;     ///< slices; a layer or face has weight 0
    bool seamless;  ///< texels -1 and `width` lie on the neighbouring faces
};

/// How a footprint is placed beside the coordinates themselves.
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

/// A face is addressed as a 2D texture of its own, of which a coordinate of 1 lies outside; a seamless one clamps, whatever the
/// sampler says: random directions on an H200.
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
        const SeamlessPlace place =
            seamless_place(linear_place(u, placement.shift_x), linear_place(v, placement.shift_y), size);
        taps.x = seamless_taps(place.x, size);
        taps.y = seamless_taps(place.y, size);
    } else {
        taps.x = face_taps(u, size, sampler, 0, placement.split, placement.shift_x);
        taps.y = face_taps(v, size, sampler, 1, placement.split, placement.shift_y);
    }
    return taps;
}

/// Gathering splits by texels.
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
    // A 1D fetch is a 2D fetch at y = 0 of a texture one texel high (sweep_linear_norm_addr3), that of a layer is not:
    // random borders on an H200.
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

/// The four texels of one slice: (x0 y0), (x1 y0), (x0 y1), (x1 y1).
struct Quad {
    Lanes texel[4];
};

/// A texel of a quad has no part in the result where its weight along an axis is 0, and need not have memory then: fetches at
/// the centre of the last texel before an unmapped tile are resident on an H200.
TEXTON_HD inline bool has_weight(const LevelTaps& taps, int texel) {
    return ((texel & 1) == 0 || taps.x.weight != 0) && ((texel & 2) == 0 || taps.y.weight != 0);
}

TEXTON_HD inline Quad load_quad(const LevelView& level, const TexelFormat& format, const Sampler& sampler,
                                const LevelTaps& taps, int slice) {
    Quad quad{};
    for (int i = 0; i < 4; ++i) {
        const std::int32_t x = taps.x.texel[i & 1];
        const std::int32_t y = taps.y.texel[i >> 1];
        const std::int32_t z = taps.z.texel[slice];
        const CubeStep step = taps.seamless ? cube_step(x, y, level.width) : CubeStep::inside;
        if (level.partial != nullptr && !has_weight(taps, i)) continue;
        if (step == CubeStep::inside) {
            quad.texel[i] = load_tap(level, format, sampler, x, y, z);
        } else if (step == CubeStep::edge) {
            const CubeTexel texel = cross_cube_edge(z % 6, x, y, level.width);
            quad.texel[i] = load_texel(level, format, texel.x, texel.y, z - z % 6 + texel.face);
        }
    }
    return quad;
}

/// Where three faces meet there is no fourth texel. Its weight goes to the other three: a third, rounded, to each of
/// its neighbours and the rest to the one across, which are all reached: rand_cube_f32_s1_f1.
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

/// Adds the texels around a place in one level; their weights add up to `share`. Of two slices the nearer one's share
/// is rounded and the other's is the rest: onehot_mip3d_l0_t0.
TEXTON_HD inline void add_footprint(TexelSum& sum, const TextureView& view, const Sampler& sampler, int level,
                                    const Coordinates& at, std::int32_t share, int scale, const Placement& placement) {
    if (share == 0) return;
    const LevelView& info = view.levels[level];
    const LevelTaps taps = find_taps(view, sampler, info, at, placement);
    const std::int32_t near = round_to_256th((kFullWeight - taps.z.weight) * share);
    for (int slice = 0; slice < 2; ++slice) {
        const std::int32_t slice_share = slice == 0 ? near : share - near;
        if (slice_share == 0) continue;
        const FootprintWeights weights = footprint_weights(taps.x.weight, taps.y.weight, slice_share);
        Lane lanes[4][4];
        const Quad quad = load_quad(info, view.format, sampler, taps, slice);
        for (int c = 0; c < 4; ++c)
            for (int i = 0; i < 4; ++i) lanes[c][i] = quad.texel[i].channel[c];
        sum.add(lanes, share_cube_corner(taps, info.width, weights), scale);
    }
}

}  // namespace texton::detail
