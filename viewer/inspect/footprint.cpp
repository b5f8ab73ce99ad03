// Lists the texels that contribute to a fetch, with the addresses and weights of the model of the texture unit.
//
// The model adds texels to a sum and keeps no list. This file visits the same sample positions in the same order. At
// each position it uses the model's functions for the taps and their weights, and lists them.
// tests/viewer/inspect/model_test.cpp compares the list with the reads and weights of the model itself.
#include <cmath>
#include <limits>

#include "viewer/inspect/model.h"
#include "viewer/inspect/model_levels.h"

namespace texton::viewer {
namespace {

using detail::AxisKind;
using detail::Coordinates;
using detail::kFullWeight;
using detail::Lane;
using detail::LaneKind;
using detail::Lanes;
using detail::LevelTaps;
using detail::LevelView;
using detail::Placement;
using detail::Split;
using detail::TexelFormat;
using detail::TextureView;

double number_of(const Lane& lane, LaneKind kind) {
    const detail::LaneWidth width = detail::lane_width(kind);
    switch (kind) {
        case LaneKind::integer:
        case LaneKind::wide_sint: return lane.mantissa;
        case LaneKind::wide_uint: return static_cast<std::uint32_t>(lane.mantissa);
        case LaneKind::unorm16: return lane.mantissa / 65535.0;
        case LaneKind::snorm8: return lane.mantissa / 127.0;
        case LaneKind::snorm16: return lane.mantissa / 32767.0;
        case LaneKind::srgb: break;
        case LaneKind::float16:
        case LaneKind::float32:
            if (lane.exponent != width.special_exponent) break;
            if (std::abs(lane.mantissa) != 1 << width.fraction_bits) return std::numeric_limits<double>::quiet_NaN();
            return lane.negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    }
    return std::ldexp(lane.mantissa, lane.exponent - width.fraction_bits);
}

// Returns the index of the first tap along one axis, before the address mode is applied.
std::int64_t asked_texel(float coordinate, std::int32_t size, AxisKind kind, const Sampler& sampler, int axis,
                         std::int32_t shift) {
    // Scaling for clamp keeps the whole periods, which scaling for wrap and mirror removes.
    const std::int64_t scaled =
        detail::scale_coordinate(coordinate, size, sampler.normalized_coordinates, AddressMode::clamp, kind);
    const std::int64_t asked =
        sampler.filter == Filter::point ? (scaled + 2 * shift) >> 9 : detail::linear_position(scaled, shift) >> 8;
    const AddressMode mode = sampler.address[axis];
    if (!detail::address_rule(mode).repeats()) return asked;
    // Far outside, scaling for wrap and mirror is more precise. If the results address different texels, the second is
    // the one that is read.
    const std::int64_t turned = detail::scale_coordinate(coordinate, size, sampler.normalized_coordinates, mode, kind);
    const std::int64_t texel =
        sampler.filter == Filter::point ? (turned + 2 * shift) >> 9 : detail::linear_position(turned, shift) >> 8;
    return detail::address_texel(asked, size, mode) == detail::address_texel(texel, size, mode) ? asked : texel;
}

// Visits the texels of one fetch. Non-owning: the arguments must outlive it.
class Walk {
public:
    Walk(const TextureView& view, const Sampler& sampler, const Fetch& fetch)
        : view_(view), sampler_(sampler), fetch_(fetch), at_(model::coordinates_of(fetch.point)) {}

    std::vector<FootprintTexel> run() {
        const model::Plan plan = model::plan_of(view_, sampler_, fetch_);
        if (fetch_.operation == FetchOperation::texel) {
            row_texel();
        } else if (fetch_.operation == FetchOperation::gather) {
            gather();
        } else if (plan.row) {
            line(plan);
        } else {
            levels(plan.blend);
        }
        return std::move(texels_);
    }

private:
    // Same steps as detail::sample_levels().
    void levels(const detail::LevelBlend& blend) {
        const bool filtered = sampler_.max_anisotropy > 1 && view_.kind != ArrayKind::array_3d;
        if (sampler_.filter == Filter::point && blend.weight == 0 && !filtered) {
            place(blend.level, kFullWeight, 0, {}, 0);
            const bool between = sampler_.mip_filter == Filter::linear && view_.level_count > 1;
            if (!between) set_unfiltered(texels_.back());
            return;
        }
        place(blend.level, kFullWeight - blend.weight, 0, {}, 0);
        place(blend.level + 1, blend.weight, 0, {}, 0);
    }

    // Same steps as detail::sample_line().
    void line(const model::Plan& plan) {
        const detail::Direction& direction = plan.line.direction;
        const detail::Direction texel{2 * direction.x, 2 * direction.y};
        const detail::LevelBlend& blend = plan.blend;
        const detail::SampleRow fine = detail::sample_row(plan.line.ratio);
        const detail::Direction offset = detail::pair_offset(direction, fine.first);
        if (blend.weight == 0) return row({blend.level, kFullWeight, fine, offset, texel});
        const detail::Direction first = detail::stretch_offset(offset, blend.weight);
        row({blend.level, kFullWeight - blend.weight, fine, first, {2 * first.x, 2 * first.y}});
        const std::int32_t coarse_ratio = plan.line.ratio + blend.weight - 256;
        if (coarse_ratio <= 0) return place(blend.level + 1, blend.weight, 0, {}, 0);
        const detail::SampleRow coarse = detail::sample_row(coarse_ratio);
        row({blend.level + 1, blend.weight, coarse, detail::pair_offset(direction, coarse.first), texel});
    }

    // Same steps as detail::add_row().
    void row(const detail::LevelRow& level) {
        const std::int32_t pairs = model::pairs_of(level.row);
        const std::int32_t last_share = (128 << level.row.scale) - (pairs - 1) * level.row.share;
        std::int32_t given = 0;
        for (std::int32_t i = -pairs; i < pairs; ++i) {
            const std::int32_t pair = i < 0 ? -i - 1 : i;
            const std::int32_t sign = i < 0 ? -2 : 2;
            const std::int32_t next = given + (pair == pairs - 1 ? last_share : level.row.share);
            const std::int32_t share =
                detail::round_to_256th(next * level.level_share) - detail::round_to_256th(given * level.level_share);
            place(level.level, share, level.row.scale,
                  {Split::fixed_point, sign * (level.first.x + pair * level.step.x),
                   sign * (level.first.y + pair * level.step.y)},
                  i);
            given = next;
        }
    }

    // Same steps as detail::add_footprint().
    void place(int level, std::int32_t share, int scale, const Placement& placement, int sample) {
        if (share == 0) return;
        const LevelView& info = view_.levels[level];
        const LevelTaps taps = detail::find_taps(view_, sampler_, info, at_, placement);
        const std::array<std::int64_t, 3> asked = first_asked(info, taps, placement);
        const std::int32_t near = detail::round_to_256th((kFullWeight - taps.z.weight) * share);
        for (int slice = 0; slice < 2; ++slice) {
            const std::int32_t slice_share = slice == 0 ? near : share - near;
            if (slice_share == 0) continue;
            const detail::FootprintWeights weights = detail::share_cube_corner(
                taps, info.width, detail::footprint_weights(taps.x.weight, taps.y.weight, slice_share));
            for (int i = 0; i < 4; ++i) {
                if (!weights.reaches[i] || (weights.of[i] == 0 && !shows_without_weight())) continue;
                FootprintTexel texel = texel_at(level, taps, asked, i, slice);
                texel.sample = sample;
                texel.weight = static_cast<double>(weights.of[i]) / (kFullWeight << scale);
                add(texel);
            }
        }
    }

    // Same steps as detail::gather(): each texel becomes a channel.
    void gather() {
        static constexpr int kOrder[4] = {2, 3, 1, 0};
        Sampler linear = sampler_;
        linear.filter = Filter::linear;
        const Placement placement{Split::texels, 0, 0};
        const LevelTaps taps = detail::find_taps(view_, linear, view_.levels[0], at_, placement);
        sampler_ = linear;
        const std::array<std::int64_t, 3> asked = first_asked(view_.levels[0], taps, placement);
        for (std::size_t c = 0; c < 4; ++c) {
            FootprintTexel texel = texel_at(0, taps, asked, kOrder[c], 0);
            texel.weight = 1;
            texel.contribution[c] = texel.value[static_cast<std::size_t>(fetch_.component)];
            sum(texel);
        }
    }

    // Same steps as detail::fetch_texel(): no texel outside the row is read.
    void row_texel() {
        const std::int32_t index = fetch_.point.layer;
        if (index < 0 || index >= view_.levels[0].width) return;
        const LevelTaps taps{detail::single_tap(index), detail::single_tap(0), detail::single_tap(0), false};
        FootprintTexel texel = texel_at(0, taps, {index, 0, 0}, 0, 0);
        texel.weight = 1;
        add(texel);
        set_unfiltered(texels_.back());
    }

    std::array<std::int64_t, 3> first_asked(const LevelView& level, const LevelTaps& taps,
                                            const Placement& placement) const {
        std::array<std::int64_t, 3> asked{taps.x.texel[0], taps.y.texel[0], taps.z.texel[0]};
        if (is_cube(view_.kind)) {
            if (!taps.seamless) {
                const detail::CubePoint point = detail::project_to_cube(at_.x, at_.y, at_.z);
                asked[0] = asked_on_face(point.u, level.width, placement.shift_x);
                asked[1] = asked_on_face(point.v, level.width, placement.shift_y);
            }
            asked[2] = is_layered(view_.kind) ? at_.layer : 0;
            return asked;
        }
        const AxisKind kind = detail::flat_axis_kind(view_, placement.split);
        asked[0] = asked_texel(at_.x, level.width, kind, sampler_, 0, placement.shift_x);
        if (!is_flat(view_.kind)) asked[1] = asked_texel(at_.y, level.height, kind, sampler_, 1, placement.shift_y);
        if (view_.kind == ArrayKind::array_1d)
            asked[1] = asked_texel(0.0f, level.height, kind, sampler_, 1, placement.shift_y);
        if (view_.kind == ArrayKind::array_3d)
            asked[2] = asked_texel(at_.z, level.depth, AxisKind::depth, sampler_, 2, 0);
        else
            asked[2] = is_layered(view_.kind) ? at_.layer : 0;
        return asked;
    }

    std::int64_t asked_on_face(float coordinate, std::int32_t size, std::int32_t shift) const {
        const std::int64_t scaled = detail::scale_face_coordinate(coordinate, size);
        return sampler_.filter == Filter::point ? (scaled + 2 * shift) >> 9
                                                : detail::linear_position(scaled, shift) >> 8;
    }

    // Returns the i-th of the four texels of a slice. Same steps as detail::load_quad().
    FootprintTexel texel_at(int level, const LevelTaps& taps, const std::array<std::int64_t, 3>& asked, int i,
                            int slice) const {
        const LevelView& info = view_.levels[level];
        std::int32_t x = taps.x.texel[i & 1];
        std::int32_t y = taps.y.texel[i >> 1];
        std::int32_t z = taps.z.texel[slice];
        FootprintTexel texel;
        texel.level = level;
        texel.asked = {asked[0] + (i & 1), asked[1] + (i >> 1), asked[2] + slice};
        if (taps.seamless) {
            texel.asked[0] = x;
            texel.asked[1] = y;
            if (detail::cube_step(x, y, info.width) == detail::CubeStep::edge) {
                const detail::CubeTexel there = detail::cross_cube_edge(z % 6, x, y, info.width);
                z += there.face - z % 6;
                x = there.x;
                y = there.y;
            }
        } else {
            texel.border = x == detail::kBorderTexel || y == detail::kBorderTexel || z == detail::kBorderTexel;
        }
        const Lanes lanes = detail::load_tap(info, view_.format, sampler_, x, y, z);
        for (int c = 0; c < detail::returned_channels(view_.format); ++c)
            texel.value[static_cast<std::size_t>(c)] = number_of(lanes.channel[c], detail::lane_kind(view_.format, c));
        if (is_cube(view_.kind)) {
            texel.face = z % 6;
            z /= 6;
        }
        texel.found = {x, y, z};
        return texel;
    }

    // Without a filter, the value of the texel is the result of the fetch, so rounding is included.
    void set_unfiltered(FootprintTexel& texel) const {
        const Texel returned = detail::fetch_point(view_, sampler_, fetch_.point, fetch_.operation, fetch_.component);
        for (int c = 0; c < detail::returned_channels(view_.format); ++c) {
            const auto channel = static_cast<std::size_t>(c);
            const bool integer = detail::is_integer(detail::lane_kind(view_.format, c));
            texel.value[channel] =
                integer ? texel.value[channel] : static_cast<double>(detail::float_of(returned.channel[c]));
        }
        texel.contribution = texel.sum = texel.value;
    }

    bool shows_without_weight() const {
        const LaneKind kind = detail::lane_kind(view_.format, 0);
        return kind == LaneKind::float16 || kind == LaneKind::float32;
    }

    void add(FootprintTexel& texel) {
        for (std::size_t c = 0; c < 4; ++c) {
            // With weight 0, only NaN and infinity change the sum.
            if (texel.weight != 0 || !std::isfinite(texel.value[c]))
                texel.contribution[c] = texel.weight == 0 ? texel.value[c] : texel.weight * texel.value[c];
        }
        sum(texel);
    }

    void sum(FootprintTexel& texel) {
        if (!texels_.empty()) texel.sum = texels_.back().sum;
        for (std::size_t c = 0; c < 4; ++c) texel.sum[c] += texel.contribution[c];
        texels_.push_back(texel);
    }

    const TextureView& view_;
    Sampler sampler_;
    const Fetch& fetch_;
    Coordinates at_;
    std::vector<FootprintTexel> texels_;
};

}  // namespace

Footprint Model::footprint(const Fetch& fetch) const {
    const Sampler& sampler = texture().sampler();
    return {Walk(view(), sampler, fetch).run(), levels(fetch), this->fetch(fetch)};
}

}  // namespace texton::viewer
