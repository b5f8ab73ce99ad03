// affine_map.h: where the pixels of a picture lead, the same on host and device.
#pragma once
#include <texton/sample.h>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Pixels a side up to which the middle of each is a float32.
inline constexpr std::size_t kMostPixels = std::size_t{1} << 23;

/// The place of pixel (i, j).
TEXTON_HD inline Coordinates place_of_pixel(const AffineMap& map, std::uint32_t i, std::uint32_t j) {
    const float x = static_cast<float>(static_cast<std::int32_t>(i)) + 0.5f;
    const float y = static_cast<float>(static_cast<std::int32_t>(j)) + 0.5f;
    return {(map.xx * x + map.xy * y) + map.x0, (map.yx * x + map.yy * y) + map.y0, 0, map.layer};
}

}  // namespace texton::detail
