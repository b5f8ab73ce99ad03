// A fetch runs address -> texels -> sum, as in texture_unit.h.
#include "arrays/cpu/single_fetches.h"

#include "arrays/unit/texture_unit.h"

namespace texton::detail {
namespace {

// Returns the result of a footprint of which all texels have the border color.
Texel border_result(const Sampler& sampler, const TexelFormat& format) {
    if (sampler.filter == Filter::point) {
        const TexelFormat unfiltered = unfiltered_format(format);
        return unfiltered_texel(border_lanes(sampler, unfiltered), unfiltered);
    }
    const Lanes border = border_lanes(sampler, format);
    Lane lanes[4][4];
    for (int c = 0; c < 4; ++c)
        for (Lane& lane : lanes[c]) lane = border.channel[c];
    TexelSum sum(format);
    sum.add(lanes, footprint_weights(0, 0, kFullWeight), 0);
    sum.end_position();
    return sum.result();
}

}  // namespace

// --- fetches ---------------------------------------------------------------------------------------------------------

SingleFetches::SingleFetches(const TextureView& view, const Sampler& sampler)
    : view_(view), sampler_(sampler), plan_(view, sampler) {
    const LevelView& level = view.levels[0];
    const bool rows =
        view.kind == ArrayKind::array_1d || view.kind == ArrayKind::array_2d || view.kind == ArrayKind::layered_2d;
    if (!rows || level.partial != nullptr) return;
    const bool point = sampler.filter == Filter::point;
    // Otherwise, point reads pass through the filter.
    const bool unfiltered =
        sampler.max_anisotropy < 2 && (sampler.mip_filter == Filter::point || view.level_count == 1);
    if (point && !unfiltered) return;
    row_pitch_ = level.row_pitch;
    bytes_ = view.format.bytes;
    quick_ = point ? plan_.functions.read != nullptr : plan_.functions.add != nullptr;
    const bool has_border = address_rule(sampler.address[0]).border || address_rule(sampler.address[1]).border;
    if (has_border) border_ = border_result(sampler, view.format);
}

Texel SingleFetches::fetch(float x, float y, std::int32_t layer) const {
    if (!quick_) return fetch({.x = x, .y = y, .layer = layer}, FetchOperation::plain, 0);
    const LevelView& level = view_.levels[0];
    if (view_.kind == ArrayKind::array_1d) y = 0;
    const std::int32_t slice = view_.kind == ArrayKind::layered_2d ? clamp_layer(layer, level.depth) : 0;
    const unsigned char* texels = level.data + slice * level.slice_pitch;
    if (sampler_.filter == Filter::point) {
        const std::int32_t column = plan_.axes[0][0].nearest(x);
        const std::int32_t row = plan_.axes[0][1].nearest(y);
        if (column == kBorderTexel || row == kBorderTexel) return border_;
        return plan_.functions.read(texel(texels, column, row));
    }
    const AxisTaps columns = plan_.axes[0][0].linear(x);
    const AxisTaps rows = plan_.axes[0][1].linear(y);
    const bool left = columns.texel[0] != kBorderTexel, right = columns.texel[1] != kBorderTexel;
    const bool top = rows.texel[0] != kBorderTexel, bottom = rows.texel[1] != kBorderTexel;
    if (!(left && right && top && bottom)) {
        if (!(left || right) || !(top || bottom)) return border_;
        return detail::fetch(view_, sampler_, {x, y, 0, layer});
    }
    const unsigned char* const footprint[4] = {
        texel(texels, columns.texel[0], rows.texel[0]), texel(texels, columns.texel[1], rows.texel[0]),
        texel(texels, columns.texel[0], rows.texel[1]), texel(texels, columns.texel[1], rows.texel[1])};
    FetchSum sum(plan_);
    sum.add(footprint, footprint_weights(columns.weight, rows.weight, kFullWeight), 0);
    sum.end_position();
    const Texel result = sum.result();
    return sum.failed() ? detail::fetch(view_, sampler_, {x, y, 0, layer}) : result;
}

Texel SingleFetches::fetch(const FetchPoint& at, FetchOperation operation, int component) const {
    if (quick_ && operation == FetchOperation::plain) return fetch(at.x, at.y, at.layer);
    const bool sums = operation != FetchOperation::gather && operation != FetchOperation::texel;
    if (sums && plan_.functions.read != nullptr) {
        FetchSum sum(plan_);
        const Texel texel = fetch_point(view_, sampler_, at, operation, component, sum);
        if (!sum.failed()) return texel;
    }
    return fetch_point(view_, sampler_, at, operation, component);
}

}  // namespace texton::detail
