#pragma once
// The levels of detail of a fetch by the model's own functions, in the order in which fetch_point() calls them.
#include "arrays/unit/texture_unit.h"
#include "viewer/inspect/model.h"

namespace texton::viewer::model {

/// What a fetch runs with: a row of samples along a line in one or two levels, or one place in each.
struct Plan {
    bool row = false;
    detail::FootprintLine line{};
    std::int32_t lod = 0;
    bool has_lod = false;  ///< false: level 0, whatever the sampler says
    detail::LevelBlend blend{};
};

[[nodiscard]] detail::Coordinates coordinates_of(const FetchPoint& point);
[[nodiscard]] Plan plan_of(const detail::TextureView& view, const Sampler& sampler, const Fetch& fetch);
[[nodiscard]] LevelChoice choice_of(const detail::TextureView& view, const Sampler& sampler, const Plan& plan);
/// Pairs on each side of a row's middle.
[[nodiscard]] int pairs_of(const detail::SampleRow& row);

}  // namespace texton::viewer::model
