// cube_map.h: a direction -> a face and a place on it, and the texels beyond a face's edge.
//
// The direction is divided by its largest component before the texture unit sees it, with the approximate reciprocal
// of the shader core. On the face it is then a normalized coordinate as any other.
#pragma once
#include <cstdint>

#include "arrays/float_bits.h"
#include "arrays/texture_view.h"

namespace texton::detail {

/// Faces in memory order: +X -X +Y -Y +Z -Z.
struct CubePoint {
    std::int32_t face;
    float u;  ///< -1 to 1 along the face's rows
    float v;
};

/// Axis (0 x, 1 y, 2 z) and sign that a face's u, v and outward direction follow.
struct CubeFace {
    std::int8_t u_axis, u_sign, v_axis, v_sign, out_axis, out_sign;
};

TEXTON_HD inline CubeFace cube_face(int face) {
    constexpr CubeFace kFaces[6] = {{2, -1, 1, -1, 0, 1}, {2, 1, 1, -1, 0, -1}, {0, 1, 2, 1, 1, 1},
                                    {0, 1, 2, -1, 1, -1}, {0, 1, 1, -1, 2, 1},  {0, -1, 1, -1, 2, -1}};
    return kFaces[face];
}

TEXTON_HD inline float magnitude_of(float value) { return float_of(bits_of(value) & 0x7fffffffu); }

TEXTON_HD inline CubePoint project_to_cube(float x, float y, float z) {
    const float direction[3] = {x, y, z};
    std::uint32_t largest = 0;  // bits; what is no number does not count, what is denormal is 0
    for (float component : direction) {
        const std::uint32_t magnitude = bits_of(component) & 0x7fffffffu;
        if (magnitude <= 0x7f800000u && magnitude > largest) largest = magnitude;
    }
    const float infinity = float_of(0x7f800000u);
    float reciprocal = largest < 0x00800000u ? infinity : 1.0f / float_of(largest);
    if (bits_of(reciprocal) < 0x00800000u) reciprocal = 0.0f;
    float scaled[3];
    float size[3];  // what is no number (0 times infinity) is smaller than all, and reads as 0
    for (int i = 0; i < 3; ++i) {
        scaled[i] = direction[i] * reciprocal;
        size[i] = magnitude_of(scaled[i]);
        if (scaled[i] == scaled[i]) continue;
        scaled[i] = 0.0f;
        size[i] = -1.0f;
    }
    int axis = 2;
    if (size[0] > size[1] && size[0] > size[2])
        axis = 0;
    else if (size[1] > size[2])
        axis = 1;
    const bool negative = scaled[axis] < 0.0f;  // no direction at all reads the middle of +Z: sweep_cube_ties
    const int face = 2 * axis + (negative ? 1 : 0);
    const CubeFace f = cube_face(face);
    const float s = scaled[f.u_axis] * static_cast<float>(f.u_sign);
    const float t = scaled[f.v_axis] * static_cast<float>(f.v_sign);
    return {face, s, t};
}

/// Where a texel lies that a footprint on a face reads.
enum class CubeStep : std::uint8_t { inside, edge, corner };

TEXTON_HD inline CubeStep cube_step(std::int32_t x, std::int32_t y, std::int32_t size) {
    const bool x_out = x < 0 || x >= size;
    const bool y_out = y < 0 || y >= size;
    return x_out && y_out ? CubeStep::corner : x_out || y_out ? CubeStep::edge : CubeStep::inside;
}

/// Where `at` lies beside `face`: on a neighbouring face that is folded flat, so that u or v pass 1. The opposite face is out of
/// every level's reach.
TEXTON_HD inline CubePoint unfold_to_face(int face, const CubePoint& at) {
    if (at.face == face) return at;
    if (at.face == (face ^ 1)) return {face, 3.0f, 3.0f};
    const CubeFace from = cube_face(at.face);
    float place[3];
    place[from.u_axis] = at.u * static_cast<float>(from.u_sign);
    place[from.v_axis] = at.v * static_cast<float>(from.v_sign);
    place[from.out_axis] = static_cast<float>(from.out_sign);
    const CubeFace to = cube_face(face);
    const float beyond = 1.0f - place[to.out_axis] * static_cast<float>(to.out_sign);
    place[from.out_axis] += beyond * static_cast<float>(from.out_sign);
    return {face, place[to.u_axis] * static_cast<float>(to.u_sign), place[to.v_axis] * static_cast<float>(to.v_sign)};
}

/// The gradients of the direction, as gradients of u and v from 0 to 1 on the face that the direction meets: differences to the
/// places that the direction and each gradient together meet, as between the pixels of a picture. lod_from_grad_cube.
TEXTON_HD inline Gradients project_gradients(float x, float y, float z, const Gradients& gradients) {
    const CubePoint centre = project_to_cube(x, y, z);
    const float* const dx = gradients.dx;
    const float* const dy = gradients.dy;
    const CubePoint beyond_x = project_to_cube(x + dx[0], y + dx[1], z + dx[2]);
    const CubePoint beyond_y = project_to_cube(x + dy[0], y + dy[1], z + dy[2]);
    const CubePoint right = unfold_to_face(centre.face, beyond_x);
    const CubePoint below = unfold_to_face(centre.face, beyond_y);
    return {{0.5f * (right.u - centre.u), 0.5f * (right.v - centre.v), 0.0f},
            {0.5f * (below.u - centre.u), 0.5f * (below.v - centre.v), 0.0f},
            beyond_x.face != centre.face || beyond_y.face != centre.face};
}

struct CubeTexel {
    std::int32_t face;
    std::int32_t x;
    std::int32_t y;
};

/// The texel of the neighbouring face that touches the edge where (x, y), one step outside of `face` along one axis,
/// would be: rand_cube_f32_s1_f1.
TEXTON_HD inline CubeTexel cross_cube_edge(int face, std::int32_t x, std::int32_t y, std::int32_t size) {
    const CubeFace from = cube_face(face);
    // Texel centres in units of half a texel from the face's middle; the face itself lies `size` out.
    std::int32_t u = 2 * x + 1 - size;
    std::int32_t v = 2 * y + 1 - size;
    std::int32_t out = size;
    if (u < -size || u > size) {
        u = u < 0 ? -size : size;
        out = size - 1;
    } else if (v < -size || v > size) {
        v = v < 0 ? -size : size;
        out = size - 1;
    }
    std::int32_t place[3];
    place[from.u_axis] = u * from.u_sign;
    place[from.v_axis] = v * from.v_sign;
    place[from.out_axis] = out * from.out_sign;
    int axis = 0;
    for (int i = 0; i < 3; ++i)
        if (place[i] == size || place[i] == -size) axis = i;
    const int to_face = 2 * axis + (place[axis] < 0 ? 1 : 0);
    const CubeFace to = cube_face(to_face);
    return {to_face, (place[to.u_axis] * to.u_sign + size - 1) / 2, (place[to.v_axis] * to.v_sign + size - 1) / 2};
}

}  // namespace texton::detail
