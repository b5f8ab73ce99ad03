#pragma once
// The level choice of a fetch. Calls the functions of the model in the same order as detail::fetch_point().
#include "arrays/unit/texture_unit.h"
#include "viewer/inspect/model.h"

namespace texton::viewer::model {

/// How a fetch samples: a row of samples along a line in one or two levels, or one sample in each.
struct Plan {
    bool row = false;  ///< true: a row of samples along `line`
    detail::FootprintLine line{};
    std::int32_t lod = 0;
    bool has_lod = false;  ///< false: level 0 is sampled, regardless of the sampler
    detail::LevelBlend blend{};
};

/// Returns the coordinates of a fetch for the model.
[[nodiscard]] detail::Coordinates coordinates_of(const FetchPoint& point);
/// Returns how the fetch samples.
[[nodiscard]] Plan plan_of(const detail::TextureView& view, const Sampler& sampler, const Fetch& fetch);
/// Returns the level choice that leads to the plan.
[[nodiscard]] LevelChoice choice_of(const detail::TextureView& view, const Sampler& sampler, const Plan& plan);
/// Returns the number of samples on each side of a row's center.
[[nodiscard]] int pairs_of(const detail::SampleRow& row);

}  // namespace texton::viewer::model
