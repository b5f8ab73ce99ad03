// texture_unit.h: what a CUDA texture unit returns, in integer steps.
//
// A fetch runs level of detail (lod.h, anisotropy.h) -> address (texture_address.h, cube_map.h) -> footprint
// (footprint.h) -> decode (texel_decode.h, bc_decode.h) -> weight and sum (texel_filter.h) -> round. Weights are 1.8
// fixed point because the hardware's are: with exact weights, parity fails away from texel centres. Each rule names
// the capture that shows it.
#pragma once
#include <cstdint>

#include "arrays/anisotropy.h"
#include "arrays/footprint.h"
#include "arrays/lod.h"
#include "arrays/texel_decode.h"
#include "arrays/texel_filter.h"
#include "arrays/texture_view.h"

namespace texton::detail {

/// The format in which texels that are not filtered are read: float32 comes through untouched, NaN and all.
TEXTON_HD inline TexelFormat unfiltered_format(TexelFormat format) {
    if (format.encoding == Encoding::floating && format.bits == 32) format.encoding = Encoding::uint;
    return format;
}

/// The bits that one channel of one texel returns through the filter.
TEXTON_HD inline std::uint32_t channel_result(const Lane& lane, LaneKind kind) {
    if (is_integer(kind)) return static_cast<std::uint32_t>(lane.mantissa);
    ChannelSum sum;
    sum.start(kind, 0);
    const Lane lanes[4] = {lane, {}, {}, {}};
    sum.add(lanes, {{kFullWeight, 0, 0, 0}});
    return sum.result();
}

/// The same where nothing filters, neither in a level nor between them. The filter widens snorm8 and 10 bits to
/// 16 bits; a point read divides by the largest code: TextureModelTest, r8_snorm and rgb10a2_unorm on an H200.
TEXTON_HD inline std::uint32_t unfiltered_result(const Lane& lane, LaneKind kind) {
    if (kind == LaneKind::float16 && lane.exponent == 16) {  // infinite, or no number
        const bool negative = lane.mantissa < 0;
        const auto fraction = static_cast<std::uint32_t>(negative ? -lane.mantissa : lane.mantissa) & 1023U;
        return (negative ? 0xff800000U : 0x7f800000U) | fraction << 13;
    }
    if (kind == LaneKind::unorm10) return bits_of(static_cast<float>(lane.mantissa >> 6) / 1023.0f);
    if (kind == LaneKind::snorm8)
        return bits_of(static_cast<float>(lane.mantissa < -127 ? -127 : lane.mantissa) / 127.0f);
    if (kind == LaneKind::unorm16) return bits_of(static_cast<float>(lane.mantissa) / 65535.0f);  // as the filter would
    return channel_result(lane, kind);
}

/// What a fetch makes of one texel where nothing filters.
TEXTON_HD inline Texel unfiltered_texel(const Lanes& lanes, const TexelFormat& format) {
    Texel texel{};
    for (int c = 0; c < returned_channels(format); ++c)
        texel.channel[c] = unfiltered_result(lanes.channel[c], lane_kind(format, c));
    return texel;
}

TEXTON_HD inline Texel point_texel(const TextureView& view, const Sampler& sampler, int level, const Coordinates& at) {
    const TexelFormat format = unfiltered_format(view.format);
    const LevelTaps taps = find_taps(view, sampler, view.levels[level], at, {});
    const Lanes lanes =
        load_tap(view.levels[level], format, sampler, taps.x.texel[0], taps.y.texel[0], taps.z.texel[0]);
    // Where there is one level, mip_filter counts for nothing: r8_snorm of flat arrays on an H200.
    if (sampler.mip_filter == Filter::point || view.level_count == 1) return unfiltered_texel(lanes, format);
    Texel texel{};
    for (int c = 0; c < returned_channels(format); ++c)
        texel.channel[c] = channel_result(lanes.channel[c], lane_kind(format, c));
    return texel;
}

TEXTON_HD inline Texel sample_levels(const TextureView& view, const Sampler& sampler, const Coordinates& at,
                                     const LevelBlend& blend) {
    // With anisotropy a point read goes through the filter, too, but in a volume: random gradients, snorm8 and rgb10a2.
    const bool filtered = sampler.max_anisotropy > 1 && view.kind != ArrayKind::array_3d;
    if (sampler.filter == Filter::point && blend.weight == 0 && !filtered)
        return point_texel(view, sampler, blend.level, at);
    TexelSum sum(view.format, 0);
    add_footprint(sum, view, sampler, blend.level, at, kFullWeight - blend.weight, {});
    add_footprint(sum, view, sampler, blend.level + 1, at, blend.weight, {});
    return sum.result();
}

/// Adds a row of pairs in one level. Shares of `level_share` are rounded so that their running total is right:
/// rand_grad_aniso8_f32. A row of fewer parts than the sum counts each sample so much oftener.
TEXTON_HD inline void add_row(TexelSum& sum, const TextureView& view, const Sampler& sampler, int level,
                              const Coordinates& at, const SampleRow& row, int scale, std::int32_t level_share,
                              const Direction& first, const Direction& step) {
    const std::int32_t side = 128 << row.scale;
    std::int32_t given = 0;
    Direction offset = first;
    while (given < side) {
        const std::int32_t next = given + row.share < side ? given + row.share : side;
        const std::int32_t share = round_to_256th(next * level_share) - round_to_256th(given * level_share);
        for (int repeat = 0; repeat < 1 << (scale - row.scale); ++repeat) {
            add_footprint(sum, view, sampler, level, at, share, {Split::fixed_point, 2 * offset.x, 2 * offset.y});
            add_footprint(sum, view, sampler, level, at, share, {Split::fixed_point, -2 * offset.x, -2 * offset.y});
        }
        given = next;
        offset = {offset.x + step.x, offset.y + step.y};
    }
}

/// The finer level's row is that of the ratio, stretched; the coarser one's is that of a ratio as much smaller as its
/// texels are larger: rand_grad_aniso2_f32.
TEXTON_HD inline Texel sample_line(const TextureView& view, const Sampler& sampler, const Coordinates& at,
                                   const FootprintLine& line) {
    const LevelBlend blend = sharpen_blend(blend_levels(view, sampler, line.lod), sampler);
    if (line.ratio == 0) return sample_levels(view, sampler, at, blend);
    const SampleRow fine = sample_row(line.ratio);
    const SampleRow coarse = sample_row(line.ratio + blend.weight - 256);
    const int scale = blend.weight && coarse.scale > fine.scale ? coarse.scale : fine.scale;
    TexelSum sum(view.format, scale);
    Direction first = pair_offset(line.direction, fine.first);
    Direction step = {2 * line.direction.x, 2 * line.direction.y};
    if (blend.weight) {
        first = stretch_offset(first, blend.weight);
        step = {2 * first.x, 2 * first.y};
    }
    add_row(sum, view, sampler, blend.level, at, fine, scale, kFullWeight - blend.weight, first, step);
    if (blend.weight)
        add_row(sum, view, sampler, blend.level + 1, at, coarse, scale, blend.weight,
                pair_offset(line.direction, coarse.first), {2 * line.direction.x, 2 * line.direction.y});
    return sum.result();
}

// --- the fetches -----------------------------------------------------------------------------------------------------

/// A fetch from level 0.
TEXTON_HD inline Texel fetch(const TextureView& view, const Sampler& sampler, const Coordinates& at) {
    return sample_levels(view, sampler, at, {0, 0});
}

/// A fetch at a level of detail that the caller gives.
TEXTON_HD inline Texel fetch_lod(const TextureView& view, const Sampler& sampler, const Coordinates& at, float lod) {
    return sample_levels(view, sampler, at, sharpen_blend(blend_levels(view, sampler, lod_to_fixed(lod)), sampler));
}

/// A fetch whose level of detail and anisotropy follow from how the coordinates change between pixels. Cubemaps: the
/// gradients are those of the direction.
TEXTON_HD inline Texel fetch_grad(const TextureView& view, const Sampler& sampler, const Coordinates& at,
                                  const Gradients& gradients) {
    const bool volume = view.kind == ArrayKind::array_3d;
    const Gradients on_face = is_cube(view.kind) ? project_gradients(at.x, at.y, at.z, gradients) : gradients;
    const PixelFootprint footprint = pixel_footprint(view.levels[0], volume, on_face);
    const bool isotropic =
        sampler.max_anisotropy < 2 || volume || view.kind == ArrayKind::layered_1d || is_cube(view.kind);
    if (!isotropic) return sample_line(view, sampler, at, footprint_line(footprint, sampler.max_anisotropy));
    const std::int32_t lod = approximate_log2(major_axis(footprint).length);
    return sample_levels(view, sampler, at, sharpen_blend(blend_levels(view, sampler, lod), sampler));
}

/// Texel number `index` of a row of memory, of which those outside read as zeros.
TEXTON_HD inline Texel fetch_texel(const TextureView& view, std::int32_t index) {
    if (index < 0 || index >= view.levels[0].width) return {};
    const TexelFormat format = unfiltered_format(view.format);
    return unfiltered_texel(load_texel(view.levels[0], format, index, 0, 0), format);
}

/// One channel of the four texels that linear filtering would blend, in the order (0,1) (1,1) (1,0) (0,0):
/// rand_gather_*.
TEXTON_HD inline Texel gather(const TextureView& view, const Sampler& sampler, const Coordinates& at, int channel) {
    constexpr int kOrder[4] = {2, 3, 1, 0};
    Sampler linear = sampler;
    linear.filter = Filter::linear;
    LevelTaps taps = find_taps(view, linear, view.levels[0], at, {Split::texels, 0, 0});
    taps.x.weight = taps.y.weight = kFullWeight;  // all four are read
    const TexelFormat format = unfiltered_format(view.format);
    const Quad quad = load_quad(view.levels[0], format, sampler, taps, 0);
    Texel result{};
    for (int i = 0; i < 4; ++i)
        result.channel[i] = channel_result(quad.texel[kOrder[i]].channel[channel], lane_kind(format, channel));
    return result;
}

/// Any of them.
TEXTON_HD inline Texel fetch_point(const TextureView& view, const Sampler& sampler, const FetchPoint& point,
                                   FetchOperation operation, int component) {
    const Coordinates at{point.x, point.y, point.z, point.layer};
    switch (operation) {
        case FetchOperation::plain: return fetch(view, sampler, at);
        case FetchOperation::lod: return fetch_lod(view, sampler, at, point.lod);
        case FetchOperation::gradients: {
            Gradients gradients{{point.dx[0], 0, 0}, {point.dy[0], 0, 0}};
            for (int axis = 1; axis < 3 && !is_flat(view.kind); ++axis) {
                gradients.dx[axis] = point.dx[axis];
                gradients.dy[axis] = point.dy[axis];
            }
            return fetch_grad(view, sampler, at, gradients);
        }
        case FetchOperation::gather: return gather(view, sampler, at, component);
        case FetchOperation::texel: return fetch_texel(view, point.layer);
    }
    return {};
}

}  // namespace texton::detail
