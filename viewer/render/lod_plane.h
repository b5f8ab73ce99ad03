#pragma once
#include <optional>

#include <texton/extent.h>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Where the plane is met by what is seen at a place of the flat picture, in shares of the carried one; none above the
/// horizon. A plane that is not tilted is as large as the picture.
[[nodiscard]] std::optional<Position> place_on_plane(const LodPlane& plane, Position texel, Extent picture);

}  // namespace texton::viewer
