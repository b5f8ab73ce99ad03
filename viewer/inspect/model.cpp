#include "viewer/inspect/model.h"

#include <cmath>
#include <deque>

#include "arrays/unit/texel_format.h"
#include "arrays/unit/texture_unit.h"
#include "viewer/inspect/copied_texels.h"
#include "viewer/inspect/model_levels.h"

namespace texton::viewer {
namespace model {

using detail::Gradients;
using detail::TextureView;

namespace {

// Same as in detail::fetch_point().
Gradients gradients_of(const TextureView& view, const FetchPoint& point) {
    Gradients gradients{{point.dx[0], 0, 0}, {point.dy[0], 0, 0}};
    for (int axis = 1; axis < 3 && !is_flat(view.kind); ++axis) {
        gradients.dx[axis] = point.dx[axis];
        gradients.dy[axis] = point.dy[axis];
    }
    return gradients;
}

// Same decisions as in detail::fetch_grad().
Plan gradient_plan(const TextureView& view, const Sampler& sampler, const FetchPoint& point) {
    const detail::Coordinates at = coordinates_of(point);
    const Gradients gradients = gradients_of(view, point);
    const bool volume = view.kind == ArrayKind::array_3d;
    const detail::PixelFootprint footprint =
        is_cube(view.kind) ? detail::cube_footprint(view.levels[0].width, at, gradients)
                           : detail::pixel_footprint(view.levels[0], volume,
                                                     volume ? detail::neighbor_gradients(at, gradients) : gradients);
    const bool isotropic =
        sampler.max_anisotropy < 2 || volume || view.kind == ArrayKind::layered_1d || footprint.folded;
    Plan plan;
    plan.has_lod = true;
    if (isotropic) {
        plan.lod = detail::approximate_log2(detail::major_axis(footprint).length);
    } else {
        plan.line = detail::footprint_line(footprint, sampler.max_anisotropy);
        plan.lod = plan.line.lod;
        plan.row = plan.line.ratio != 0;
    }
    plan.blend = detail::blend_levels(view, sampler, plan.lod);
    return plan;
}

}  // namespace

detail::Coordinates coordinates_of(const FetchPoint& point) { return {point.x, point.y, point.z, point.layer}; }

int pairs_of(const detail::SampleRow& row) { return ((128 << row.scale) + row.share - 1) / row.share; }

Plan plan_of(const TextureView& view, const Sampler& sampler, const Fetch& fetch) {
    switch (fetch.operation) {
        case FetchOperation::gradients: return gradient_plan(view, sampler, fetch.point);
        case FetchOperation::lod: {
            const std::int32_t lod = detail::lod_to_fixed(fetch.point.lod);
            return {.lod = lod, .has_lod = true, .blend = detail::blend_levels(view, sampler, lod)};
        }
        case FetchOperation::plain:
        case FetchOperation::gather:
        case FetchOperation::texel: break;
    }
    return {};
}

LevelChoice choice_of(const TextureView& view, const Sampler& sampler, const Plan& plan) {
    LevelChoice choice;
    if (!plan.has_lod) return choice;
    choice.lod = plan.lod;
    choice.biased = detail::biased_lod(sampler, plan.lod);
    choice.level = plan.blend.level;
    choice.next_weight = plan.blend.weight;
    Sampler blended = sampler;  // gives the exact level, which a point filter between levels rounds
    blended.mip_filter = Filter::linear;
    const detail::LevelBlend exact = detail::blend_levels(view, blended, plan.lod);
    choice.clamped = exact.level * 256 + exact.weight;
    choice.samples = {1, plan.blend.weight != 0 ? 1 : 0};
    if (!plan.row) return choice;
    choice.ratio = std::exp2(plan.line.ratio / 256.0);
    choice.samples[0] = 2 * pairs_of(detail::sample_row(plan.line.ratio));
    const std::int32_t coarse = plan.line.ratio + plan.blend.weight - 256;
    if (plan.blend.weight != 0 && coarse > 0) choice.samples[1] = 2 * pairs_of(detail::sample_row(coarse));
    return choice;
}

}  // namespace model

struct Model::State {
    State(const Array& array, const Sampler& sampler) : texture(array, sampler) {
        const ArrayInfo& info = array.info();
        view.kind = info.kind;
        view.format = detail::texel_format(info.format);
        view.level_count = info.levels;
        for (int level = 0; level < info.levels; ++level) {
            Extent extent = level_extent(info, level);
            extent.depth = slice_count(info, level);
            view.levels[level] = detail::level_view(nullptr, extent, 0, 0);
            view.levels[level].partial = &levels.emplace_back(array, level);
        }
    }

    Texture texture;
    std::deque<CopiedTexels> levels;
    detail::TextureView view{};
};

static_assert(kNoDetail == detail::kNoDetail);

Model::Model(const Array& array, const Sampler& sampler) : state_(std::make_unique<State>(array, sampler)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

const Texture& Model::texture() const { return state_->texture; }
const detail::TextureView& Model::view() const { return state_->view; }

std::size_t Model::copied_bytes() const {
    std::size_t bytes = 0;
    for (const CopiedTexels& level : state_->levels) bytes += level.bytes();
    return bytes;
}

Texel Model::fetch(const Fetch& fetch) const {
    return detail::fetch_point(view(), texture().sampler(), fetch.point, fetch.operation, fetch.component);
}

LevelChoice Model::levels(const Fetch& fetch) const {
    const Sampler& sampler = texture().sampler();
    return model::choice_of(view(), sampler, model::plan_of(view(), sampler, fetch));
}

}  // namespace texton::viewer
