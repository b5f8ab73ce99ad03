#pragma once
// Bounds checks and clamping of surface accesses. The same rule applies to all coordinates, including layers and faces,
// on every device.
#include <cstdint>

#include <texton/host_device.h>
#include <texton/surface.h>

namespace texton::detail {

/// Size of a surface's level in texels. `depth` counts slices, layers or faces.
struct SurfaceSize {
    std::int32_t width;
    std::int32_t height;
    std::int32_t depth;
};

TEXTON_HD constexpr bool is_inside(const SurfacePoint& point, const SurfaceSize& size) {
    return point.x >= 0 && point.x < size.width && point.y >= 0 && point.y < size.height && point.z >= 0 &&
           point.z < size.depth;
}

TEXTON_HD constexpr std::int32_t nearest_inside(std::int32_t at, std::int32_t size) {
    return at < 0 ? 0 : at < size ? at : size - 1;
}

TEXTON_HD constexpr SurfacePoint nearest_inside(const SurfacePoint& point, const SurfaceSize& size) {
    return {nearest_inside(point.x, size.width), nearest_inside(point.y, size.height),
            nearest_inside(point.z, size.depth)};
}

}  // namespace texton::detail
