// texture_unit.h: a model of a CUDA texture unit that uses integer arithmetic.
//
// The steps of a fetch are:
// 1. level of detail and anisotropy (lod.h, anisotropy.h)
// 2. addressing (texture_address.h, cube_map.h)
// 3. footprint (footprint.h)
// 4. decoding (texel_decode.h, bc_decode.h)
// 5. weighting, summation and rounding (texel_filter.h)
//
// Weights have 8 fraction bits, as in the hardware: with exact weights, results away from texel centers would differ
// from the hardware. Comments name the recording that shows a rule.
#pragma once
#include <cstdint>

#include "arrays/unit/anisotropy.h"
#include "arrays/unit/footprint.h"
#include "arrays/unit/lod.h"
#include "arrays/unit/texel_decode.h"
#include "arrays/unit/texel_filter.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Returns the format for reading texels without filtering. float32 is read as integers, so that all bits are
/// unchanged, including those of NaN.
TEXTON_HD inline TexelFormat unfiltered_format(TexelFormat format) {
    if (format.encoding == Encoding::floating && format.bits == 32) format.encoding = Encoding::uint;
    return format;
}

/// Returns the bits that one channel of a single texel gives through the filter.
TEXTON_HD inline std::uint32_t channel_result(const Lane& lane, LaneKind kind) {
    if (is_integer(kind)) return static_cast<std::uint32_t>(lane.mantissa);
    ChannelSum sum;
    sum.start(kind);
    const Lane lanes[4] = {lane, {}, {}, {}};
    sum.add(lanes, {{kFullWeight, 0, 0, 0}, {true, false, false, false}}, 0);
    sum.end_position();
    return sum.result();
}

/// Returns the bits that one channel of a texel gives without filtering, both within a level and between levels. The
/// filter widens snorm8 and the codes of packed formats to 16 bits; a point read divides by the largest code instead
/// (TextureModelTest; measured on an H200 with r8_snorm and rgb10a2_unorm). `bits` is the channel's point_bits().
TEXTON_HD inline std::uint32_t unfiltered_result(const Lane& lane, LaneKind kind, int bits = 16) {
    if (kind == LaneKind::float16 && lane.exponent == 16) {  // infinity or NaN
        const bool negative = lane.mantissa < 0;
        const auto fraction = static_cast<std::uint32_t>(negative ? -lane.mantissa : lane.mantissa) & 1023U;
        return (negative ? 0xff800000U : 0x7f800000U) | fraction << 13;
    }
    if (kind == LaneKind::snorm8)
        return bits_of(static_cast<float>(lane.mantissa < -127 ? -127 : lane.mantissa) / 127.0f);
    if (kind == LaneKind::unorm16)  // with all 16 bits, equal to the result of the filter
        return bits_of(static_cast<float>(lane.mantissa >> (16 - bits)) / static_cast<float>((1 << bits) - 1));
    return channel_result(lane, kind);
}

/// Returns the result of an unfiltered fetch of one texel.
TEXTON_HD inline Texel unfiltered_texel(const Lanes& lanes, const TexelFormat& format) {
    Texel texel{};
    for (int c = 0; c < returned_channels(format); ++c)
        texel.channel[c] = unfiltered_result(lanes.channel[c], lane_kind(format, c), point_bits(format, c));
    return texel;
}

TEXTON_HD inline Texel point_texel(const TextureView& view, const Sampler& sampler, int level, const Coordinates& at) {
    // A texture with a single level ignores mip_filter: measured on an H200 with r8_snorm.
    const bool filtered = sampler.mip_filter == Filter::linear && view.level_count > 1;
    const TexelFormat format = filtered ? view.format : unfiltered_format(view.format);
    const LevelTaps taps = find_taps(view, sampler, view.levels[level], at, {});
    const Lanes lanes =
        load_tap(view.levels[level], format, sampler, taps.x.texel[0], taps.y.texel[0], taps.z.texel[0]);
    if (!filtered) return unfiltered_texel(lanes, format);
    Texel texel{};
    for (int c = 0; c < returned_channels(format); ++c)
        texel.channel[c] = channel_result(lanes.channel[c], lane_kind(format, c));
    return texel;
}

/// Executes a fetch of a single texel.
TEXTON_HD inline Texel read_point(TexelSum&, const TextureView& view, const Sampler& sampler, int level,
                                  const Coordinates& at) {
    return point_texel(view, sampler, level, at);
}

// The functions below add the texels to `sum`, which must be new. Its class is TexelSum, or one with the same functions
// (see add_footprint()).

template <class Sum>
[[gnu::noinline]] TEXTON_HD Texel sample_levels(const TextureView& view, const Sampler& sampler, const Coordinates& at,
                                                const LevelBlend& blend, Sum& sum) {
    // With anisotropy, point reads also pass through the filter, except in 3D textures: measured on an H200 with random
    // gradients, snorm8 and rgb10a2.
    const bool filtered = sampler.max_anisotropy > 1 && view.kind != ArrayKind::array_3d;
    if (sampler.filter == Filter::point && blend.weight == 0 && !filtered)
        return read_point(sum, view, sampler, blend.level, at);
    add_footprint(sum, view, sampler, blend.level, at, kFullWeight - blend.weight, 0, {});
    sum.end_position();
    add_footprint(sum, view, sampler, blend.level + 1, at, blend.weight, 0, {});
    sum.end_position();
    return sum.result();
}

/// A row of pairs of samples in one level. `level_share` is the weight of the level, `first` the offset of the first
/// pair, and `step` the distance between pairs.
struct LevelRow {
    int level;
    std::int32_t level_share;
    SampleRow row;
    Direction first;
    Direction step;
};

/// Returns how many footprints of a row are aligned together: four, or two if texels have more than 32 bits. Recording:
/// aniso8_f16x4.
TEXTON_HD inline int footprints_per_position(const TexelFormat& format) {
    const bool wide = format.packing == Packing::plain
                          ? format.bytes > 4
                          : format.packing == Packing::bc6h_unsigned || format.packing == Packing::bc6h_signed;
    return wide ? 2 : kLargestPosition;
}

/// Adds a row of samples. The order is from the far end to the end that the direction points to. The weights of the
/// samples are rounded so that their running total is correct. Recording: rand_grad_aniso8_f32.
template <class Sum>
TEXTON_HD void add_row(Sum& sum, const TextureView& view, const Sampler& sampler, const Coordinates& at,
                       const LevelRow& level) {
    const SampleRow& row = level.row;
    const std::int32_t side = 128 << row.scale;
    const std::int32_t pairs = (side + row.share - 1) / row.share;
    const std::int32_t last_share = side - (pairs - 1) * row.share;
    const int position = footprints_per_position(view.format);
    std::int32_t given = 0;
    for (std::int32_t i = -pairs; i < pairs; ++i) {
        const std::int32_t pair = i < 0 ? -i - 1 : i;
        const std::int32_t sign = i < 0 ? -2 : 2;
        const std::int32_t next = given + (pair == pairs - 1 ? last_share : row.share);
        const std::int32_t share = round_to_256th(next * level.level_share) - round_to_256th(given * level.level_share);
        const Placement placement{Split::fixed_point, sign * (level.first.x + pair * level.step.x),
                                  sign * (level.first.y + pair * level.step.y)};
        add_footprint(sum, view, sampler, level.level, at, share, row.scale, placement);
        if ((i + pairs + 1) % position == 0) sum.end_position();
        given = next;
    }
    sum.end_position();
}

/// Returns the result for an anisotropic footprint. In the finer level, the row follows from the ratio, and its offsets
/// are stretched. In the coarser level, whose texels are larger, the ratio is smaller by the same factor; if it is 1 or
/// less, one sample is taken. Recording: rand_grad_aniso2_f32.
template <class Sum>
TEXTON_HD Texel sample_line(const TextureView& view, const Sampler& sampler, const Coordinates& at,
                            const FootprintLine& line, Sum& sum) {
    const LevelBlend blend = blend_levels(view, sampler, line.lod);
    if (line.ratio == 0) return sample_levels(view, sampler, at, blend, sum);
    const Direction texel{2 * line.direction.x, 2 * line.direction.y};
    const SampleRow fine = sample_row(line.ratio);
    const Direction offset = pair_offset(line.direction, fine.first);
    if (blend.weight == 0) {
        add_row(sum, view, sampler, at, {blend.level, kFullWeight, fine, offset, texel});
        return sum.result();
    }
    const Direction first = stretch_offset(offset, blend.weight);
    add_row(sum, view, sampler, at, {blend.level, kFullWeight - blend.weight, fine, first, {2 * first.x, 2 * first.y}});
    const std::int32_t coarse_ratio = line.ratio + blend.weight - 256;
    if (coarse_ratio > 0) {
        const SampleRow coarse = sample_row(coarse_ratio);
        add_row(sum, view, sampler, at,
                {blend.level + 1, blend.weight, coarse, pair_offset(line.direction, coarse.first), texel});
    } else {
        add_footprint(sum, view, sampler, blend.level + 1, at, blend.weight, 0, {});
        sum.end_position();
    }
    return sum.result();
}

// --- fetches ---------------------------------------------------------------------------------------------------------

/// Fetches from level 0.
template <class Sum>
TEXTON_HD Texel fetch(const TextureView& view, const Sampler& sampler, const Coordinates& at, Sum& sum) {
    return sample_levels(view, sampler, at, {0, 0}, sum);
}
TEXTON_HD inline Texel fetch(const TextureView& view, const Sampler& sampler, const Coordinates& at) {
    TexelSum sum(view.format);
    return fetch(view, sampler, at, sum);
}

/// Fetches at the given level of detail.
template <class Sum>
TEXTON_HD Texel fetch_lod(const TextureView& view, const Sampler& sampler, const Coordinates& at, float lod, Sum& sum) {
    return sample_levels(view, sampler, at, blend_levels(view, sampler, lod_to_fixed(lod)), sum);
}

/// Fetches with a level of detail and an anisotropy that follow from the gradients, the change of the coordinates
/// between pixels. For cubemaps, the gradients are those of the direction.
template <class Sum>
TEXTON_HD Texel fetch_grad(const TextureView& view, const Sampler& sampler, const Coordinates& at,
                           const Gradients& gradients, Sum& sum) {
    const bool volume = view.kind == ArrayKind::array_3d;
    const PixelFootprint footprint =
        is_cube(view.kind)
            ? cube_footprint(view.levels[0].width, at, gradients)
            : pixel_footprint(view.levels[0], volume, volume ? neighbor_gradients(at, gradients) : gradients);
    // A footprint that crosses an edge of a cube is treated as isotropic (recording cube_aniso16_f32).
    const bool isotropic =
        sampler.max_anisotropy < 2 || volume || view.kind == ArrayKind::layered_1d || footprint.folded;
    if (!isotropic) return sample_line(view, sampler, at, footprint_line(footprint, sampler.max_anisotropy), sum);
    const std::int32_t lod = approximate_log2(major_axis(footprint).length);
    return sample_levels(view, sampler, at, blend_levels(view, sampler, lod), sum);
}

/// Returns texel `index` of linear memory. Texels outside read as zeros.
TEXTON_HD inline Texel fetch_texel(const TextureView& view, std::int32_t index) {
    if (index < 0 || index >= view.levels[0].width) return {};
    const TexelFormat format = unfiltered_format(view.format);
    return unfiltered_texel(load_texel(view.levels[0], format, index, 0, 0), format);
}

/// Returns one channel of the four texels that linear filtering would blend, in the order (0, 1), (1, 1), (1, 0), (0,
/// 0). Recordings: rand_gather_*.
TEXTON_HD inline Texel gather(const TextureView& view, const Sampler& sampler, const Coordinates& at, int channel) {
    static constexpr int kOrder[4] = {2, 3, 1, 0};
    Sampler linear = sampler;
    linear.filter = Filter::linear;
    LevelTaps taps = find_taps(view, linear, view.levels[0], at, {Split::texels, 0, 0});
    taps.x.weight = taps.y.weight = kFullWeight;  // all four are read
    const Quad quad = load_quad(view.levels[0], view.format, sampler, taps, 0);
    const LaneKind kind = lane_kind(view.format, channel);
    Texel result{};
    for (int i = 0; i < 4; ++i) result.channel[i] = channel_result(quad.texel[kOrder[i]].channel[channel], kind);
    return result;
}

/// Performs the given fetch operation. Gathers and texel fetches do not use `sum`.
template <class Sum>
TEXTON_HD Texel fetch_point(const TextureView& view, const Sampler& sampler, const FetchPoint& point,
                            FetchOperation operation, int component, Sum& sum) {
    const Coordinates at{point.x, point.y, point.z, point.layer};
    switch (operation) {
        case FetchOperation::plain: return fetch(view, sampler, at, sum);
        case FetchOperation::lod: return fetch_lod(view, sampler, at, point.lod, sum);
        case FetchOperation::gradients: {
            Gradients gradients{{point.dx[0], 0, 0}, {point.dy[0], 0, 0}};
            for (int axis = 1; axis < 3 && !is_flat(view.kind); ++axis) {
                gradients.dx[axis] = point.dx[axis];
                gradients.dy[axis] = point.dy[axis];
            }
            return fetch_grad(view, sampler, at, gradients, sum);
        }
        case FetchOperation::gather: return gather(view, sampler, at, component);
        case FetchOperation::texel: return fetch_texel(view, point.layer);
    }
    return {};
}
TEXTON_HD inline Texel fetch_point(const TextureView& view, const Sampler& sampler, const FetchPoint& point,
                                   FetchOperation operation, int component) {
    TexelSum sum(view.format);
    return fetch_point(view, sampler, point, operation, component, sum);
}

}  // namespace texton::detail
