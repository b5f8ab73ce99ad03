#pragma once
#include <string>
#include <vector>

#include <texton/metrics.h>

#include "viewer/render/render.h"

namespace texton::viewer {

struct PlaceComparison {
    Comparison comparison{};  ///< b is the shown picture, a what it is held against
    Place place{};
    Extent extent{};                ///< of what both have, from the first texel on; of samplers: of the fetches
    std::string note{};             ///< what is not as in the pictures; empty if nothing
    std::vector<Position> worst{};  ///< where comparison.worst are, in texels of the place
};

/// How the texels of the scene's place differ from those at the same place of what the scene is held against, as they are stored: of
/// blocks, what they stand for. Error{bad_argument} if there is nothing to compare with, or if the scene compares two samplers:
/// see compare_samplers().
[[nodiscard]] PlaceComparison compare_place(const Scene& scene, const ComparisonOptions& options = {});

/// Of one of the worst: "(3, 4): 12 ulp, 0.047".
[[nodiscard]] std::string worst_words(const PlaceComparison& found, std::size_t index);

}  // namespace texton::viewer
