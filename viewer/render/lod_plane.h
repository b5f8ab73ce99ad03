#pragma once
#include <optional>

#include <texton/extent.h>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Returns the normalized position on a perspective plane that is visible at a position of the flat image, in texels.
/// Returns nothing above the horizon. A plane without tilt has the size of the image. Positions beyond 0 to 1 belong to
/// repetitions of the image.
[[nodiscard]] std::optional<Position> subresource_on_plane(const LodPlane& plane, Position texel, Extent image);

}  // namespace texton::viewer
