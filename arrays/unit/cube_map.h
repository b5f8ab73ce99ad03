// cube_map.h: projects a direction onto a cube face, and computes the footprint of gradients of the direction.
//
// The shader core divides the direction by its largest component before the texture unit receives it, with an
// approximate reciprocal. The position on the face is then a normalized coordinate like any other. A fetch with
// gradients passes three directions to the unit, as if they came from three neighboring pixels. The unit computes the
// gradients from the differences of their positions on the cube.
#pragma once
#include <cstdint>

#include "arrays/unit/float_bits.h"
#include "arrays/unit/lod.h"
#include "arrays/unit/reciprocal.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// A position on a face. The faces are numbered in memory order: +X, -X, +Y, -Y, +Z, -Z.
struct CubePoint {
    std::int32_t face;
    float u;  ///< -1 to 1, along the rows of the face
    /// -1 to 1, along the columns of the face
    float v;
};

/// Axes (0 is x, 1 is y, 2 is z) and signs of a face's u, v and outward direction.
struct CubeFace {
    std::int8_t u_axis, u_sign, v_axis, v_sign, out_axis, out_sign;
};

TEXTON_HD inline CubeFace cube_face(int face) {
    static constexpr CubeFace kFaces[6] = {{2, -1, 1, -1, 0, 1}, {2, 1, 1, -1, 0, -1}, {0, 1, 2, 1, 1, 1},
                                           {0, 1, 2, -1, 1, -1}, {0, 1, 1, -1, 2, 1},  {0, -1, 1, -1, 2, -1}};
    return kFaces[face];
}

TEXTON_HD inline float magnitude_of(float value) { return float_of(bits_of(value) & 0x7fffffffu); }

TEXTON_HD inline CubePoint project_to_cube(float x, float y, float z) {
    const float direction[3] = {x, y, z};
    std::uint32_t largest = 0;  // bits of the largest magnitude; NaN is ignored
    for (float component : direction) {
        const std::uint32_t magnitude = bits_of(component) & 0x7fffffffu;
        if (magnitude <= 0x7f800000u && magnitude > largest) largest = magnitude;
    }
    const float reciprocal = approximate_reciprocal(float_of(largest));
    float scaled[3];
    float size[3];  // magnitudes; for NaN (0 times infinity) -1, and the scaled component is 0
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
    const bool negative = scaled[axis] < 0.0f;  // a zero direction reads the center of +Z (recording sweep_cube_ties)
    const int face = 2 * axis + (negative ? 1 : 0);
    const CubeFace f = cube_face(face);
    const float u = scaled[f.u_axis] * static_cast<float>(f.u_sign);
    const float v = scaled[f.v_axis] * static_cast<float>(f.v_sign);
    // The approximate reciprocal may scale the largest component to slightly above 1 (recording cube_edges_border).
    return {face, u < -1.0f ? -1.0f : u, v < -1.0f ? -1.0f : v};
}

// --- gradients of the direction --------------------------------------------------------------------------------------

/// Returns the mantissa of a float with its leading bit, and 0 for denormal values.
TEXTON_HD inline std::int64_t mantissa_of(std::uint32_t bits) {
    return (bits >> 23 & 255) == 0 ? 0 : (bits & 0x7fffffu) | 0x800000u;
}

/// Returns a - b, truncated to ten bits. The operand with the smaller magnitude is truncated first: to the last bit of
/// the larger one if the magnitudes are added, and to half of that bit if they are subtracted, as in short_sum().
/// Measured on an H200 with differences slightly above and below powers of two.
TEXTON_HD inline SignedShortFloat short_difference(float a, float b) {
    const bool swapped = magnitude_of(a) < magnitude_of(b);
    const std::uint32_t larger = bits_of(swapped ? b : a);
    const std::uint32_t smaller = bits_of(swapped ? a : b);
    const auto exponent = static_cast<std::int32_t>(larger >> 23 & 255);
    const int apart = exponent - static_cast<int>(smaller >> 23 & 255);
    const int distance = apart < 32 ? apart : 32;  // larger shifts also leave 0
    const std::int64_t rest = mantissa_of(smaller);
    const bool magnitudes_add = (larger ^ smaller) >> 31;
    const std::int64_t doubled = magnitudes_add ? 2 * (mantissa_of(larger) + (rest >> distance))
                                                : 2 * mantissa_of(larger) - (2 * rest >> distance);
    const ShortFloat difference = shorten(doubled, exponent - 151);
    const bool negative = (larger >> 31 != 0) != swapped;
    return {negative ? -difference.mantissa : difference.mantissa, difference.exponent};
}

/// Returns a - b in texels. The coordinates of a face range from -1 to 1.
TEXTON_HD inline SignedShortFloat texels_between(float a, float b, std::int32_t size) {
    const SignedShortFloat distance = short_difference(0.5f * a, 0.5f * b);
    const ShortFloat texels = multiply(magnitude_of(distance), shorten(size, 0));
    return {distance.mantissa < 0 ? -texels.mantissa : texels.mantissa, texels.exponent};
}

/// Returns the coordinate of a point along an axis of the cube. `axis` must be one of the two axes of the point's face.
TEXTON_HD inline float position_along(const CubePoint& point, int axis) {
    const CubeFace face = cube_face(point.face);
    return face.u_axis == axis ? point.u * static_cast<float>(face.u_sign) : point.v * static_cast<float>(face.v_sign);
}

/// Returns the distance in texels from a point to the edge between its face and `other`.
TEXTON_HD inline SignedShortFloat texels_to_edge(const CubePoint& point, const CubeFace& other, std::int32_t size) {
    return texels_between(1.0f, position_along(point, other.out_axis) * static_cast<float>(other.out_sign), size);
}

/// Computes the vector from `center` to `beyond` in texels, along the rows and columns of the face of `center` and
/// outward. If `beyond` is on an adjacent face, the distances of both points from the shared edge are added. The
/// opposite face is one face width away. Recording: lod_from_grad_cube_folded.
TEXTON_HD inline void edge_on_cube(const CubePoint& center, const CubePoint& beyond, std::int32_t size,
                                   SignedShortFloat* edge) {
    const CubeFace here = cube_face(center.face);
    const CubeFace there = cube_face(beyond.face);
    const int axes[2] = {here.u_axis, here.v_axis};
    const int signs[2] = {here.u_sign, here.v_sign};
    for (int i = 0; i < 2; ++i) {
        const auto sign = static_cast<float>(signs[i]);
        if (axes[i] == there.out_axis)
            edge[i] = short_sum(texels_to_edge(center, there, size), texels_to_edge(beyond, here, size), false);
        else
            edge[i] =
                texels_between(position_along(beyond, axes[i]) * sign, position_along(center, axes[i]) * sign, size);
    }
    if (beyond.face == (center.face ^ 1)) edge[2] = texels_between(1.0f, -1.0f, size);
}

/// Returns the footprint of a pixel on the face that its direction hits. The edges of the footprint end at the
/// positions of the direction plus each gradient. Recording: lod_from_grad_cube.
TEXTON_HD inline PixelFootprint cube_footprint(std::int32_t size, const Coordinates& at, const Gradients& gradients) {
    const float* const dx = gradients.dx;
    const float* const dy = gradients.dy;
    const CubePoint center = project_to_cube(at.x, at.y, at.z);
    const CubePoint right = project_to_cube(at.x + dx[0], at.y + dx[1], at.z + dx[2]);
    const CubePoint below = project_to_cube(at.x + dy[0], at.y + dy[1], at.z + dy[2]);
    PixelFootprint footprint{};
    edge_on_cube(center, right, size, footprint.x_edge);
    edge_on_cube(center, below, size, footprint.y_edge);
    footprint.folded = right.face != center.face || below.face != center.face;
    return footprint;
}

}  // namespace texton::detail
