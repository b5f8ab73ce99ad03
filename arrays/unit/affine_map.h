// affine_map.h: maps the pixels of a destination to coordinates, with the same result on host and device.
#pragma once
#include <texton/sample.h>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Maximum width and height of an image whose pixel centers are exact in float32.
inline constexpr std::size_t kMaxPixels = std::size_t{1} << 23;

/// Returns the coordinates to which `map` maps the center of pixel (i, j). z is 0.
TEXTON_HD inline Coordinates position_of_pixel(const AffineMap& map, std::uint32_t i, std::uint32_t j) {
    const float x = static_cast<float>(static_cast<std::int32_t>(i)) + 0.5f;
    const float y = static_cast<float>(static_cast<std::int32_t>(j)) + 0.5f;
    return {(map.xx * x + map.xy * y) + map.x0, (map.yx * x + map.yy * y) + map.y0, 0, map.layer};
}

}  // namespace texton::detail
