#pragma once
// The texels of a cube's faces as directions.
#include <cstdint>

#include "arrays/unit/cube_map.h"

namespace texton::detail {

struct CubeDirection {
    float x;
    float y;
    float z;
};

/// Of a place on a face along one of its sides, in texels: -1 to 1, and for mirrored places the same but for the sign.
TEXTON_HD inline float from_middle(float place, std::int32_t side) {
    const auto size = static_cast<float>(side);
    return (2.0f * place - size) / size;
}

/// Its largest component is 1 or -1. Faces as CUDA has them: +x -x +y -y +z -z.
TEXTON_HD inline CubeDirection direction_on_face(std::int32_t face, float u, float v) {
    const CubeFace axes = cube_face(face);
    const auto along = [&](int axis) {
        if (axes.u_axis == axis) return u * static_cast<float>(axes.u_sign);
        if (axes.v_axis == axis) return v * static_cast<float>(axes.v_sign);
        return static_cast<float>(axes.out_sign);
    };
    return {along(0), along(1), along(2)};
}

/// Through the middle of a texel, or any place on the face in texels.
TEXTON_HD inline CubeDirection direction_on_face(std::int32_t face, float x, float y, std::int32_t side) {
    return direction_on_face(face, from_middle(x, side), from_middle(y, side));
}

}  // namespace texton::detail
