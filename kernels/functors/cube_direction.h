#pragma once
// Conversion from texels of a cube's faces to directions.
#include <cstdint>

#include "arrays/unit/cube_map.h"

namespace texton::detail {

struct CubeDirection {
    float x;
    float y;
    float z;
};

/// Converts a coordinate along one side of a face from texels (0 to `side`) to -1 to 1. Mirrored coordinates give
/// results that differ in the sign only.
TEXTON_HD inline float from_center(float position, std::int32_t side) {
    const auto size = static_cast<float>(side);
    return (2.0f * position - size) / size;
}

/// Returns the direction of the point (u, v) of a face, u and v from -1 to 1. The component along the face's axis is 1
/// or -1. Faces are in CUDA's order: +x -x +y -y +z -z.
TEXTON_HD inline CubeDirection direction_on_face(std::int32_t face, float u, float v) {
    const CubeFace axes = cube_face(face);
    const auto along = [&](int axis) {
        if (axes.u_axis == axis) return u * static_cast<float>(axes.u_sign);
        if (axes.v_axis == axis) return v * static_cast<float>(axes.v_sign);
        return static_cast<float>(axes.out_sign);
    };
    return {along(0), along(1), along(2)};
}

/// Returns the direction of the point (x, y) of a face, in texels. The center of texel i is at i + 0.5.
TEXTON_HD inline CubeDirection direction_on_face(std::int32_t face, float x, float y, std::int32_t side) {
    return direction_on_face(face, from_center(x, side), from_center(y, side));
}

}  // namespace texton::detail
