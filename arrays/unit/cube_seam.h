// cube_seam.h: finds the texels that linear filtering reads beyond the edges of a seamless cubemap's faces.
#pragma once
#include <cstdint>

#include "arrays/unit/cube_map.h"
#include "arrays/unit/texture_address.h"

namespace texton::detail {

/// Location of a texel relative to the face of its footprint: inside, beyond an edge or beyond a corner.
enum class CubeStep : std::uint8_t { inside, edge, corner };

TEXTON_HD inline CubeStep cube_step(std::int32_t x, std::int32_t y, std::int32_t size) {
    const bool x_out = x < 0 || x >= size;
    const bool y_out = y < 0 || y >= size;
    return x_out && y_out ? CubeStep::corner : x_out || y_out ? CubeStep::edge : CubeStep::inside;
}

/// A texel of a cubemap's level.
struct CubeTexel {
    std::int32_t face;
    std::int32_t x;
    std::int32_t y;
};

/// Returns the texel of the neighboring face that is at (x, y) when that face is unfolded into the plane of `face`. (x,
/// y) must be outside of `face` along exactly one axis. Recordings: rand_cube_f32_s1_f1, cube_aniso16_rim.
TEXTON_HD inline CubeTexel cross_cube_edge(int face, std::int32_t x, std::int32_t y, std::int32_t size) {
    const CubeFace from = cube_face(face);
    // Texel centers relative to the center of the face, in half texels. The distance of the face from the center of the
    // cube is `size` half texels.
    std::int32_t u = 2 * x + 1 - size;
    std::int32_t v = 2 * y + 1 - size;
    std::int32_t out = size;
    const bool over_u = u < -size || u > size;
    std::int32_t& over = over_u ? u : v;
    out -= (over < 0 ? -over : over) - size;
    over = over < 0 ? -size : size;
    std::int32_t position[3];
    position[from.u_axis] = u * from.u_sign;
    position[from.v_axis] = v * from.v_sign;
    position[from.out_axis] = out * from.out_sign;
    const int axis = over_u ? from.u_axis : from.v_axis;
    const int to_face = 2 * axis + (position[axis] < 0 ? 1 : 0);
    const CubeFace to = cube_face(to_face);
    return {to_face, (position[to.u_axis] * to.u_sign + size - 1) / 2,
            (position[to.v_axis] * to.v_sign + size - 1) / 2};
}

/// Returns the taps of an axis at a position in 1/256 of a texel. Texels beyond the face are not clamped:
/// cross_cube_edge() finds them. At the last texel of the neighboring face, both taps are that texel.
TEXTON_HD inline AxisTaps seamless_taps(std::int64_t position, std::int32_t size) {
    const auto texel = static_cast<std::int32_t>(position >> 8);
    const bool last = texel == 2 * size - 1;
    return {{texel, last ? texel : texel + 1}, static_cast<std::int32_t>(position & 255)};
}

/// Returns whether one of the two taps is beyond the face, even if its weight is 0.
TEXTON_HD inline bool is_beyond(std::int64_t position, std::int32_t size) {
    return position < 0 || position >= (std::int64_t{size} - 1) * 256;
}

TEXTON_HD inline std::int64_t clamp_position(std::int64_t position, std::int64_t low, std::int64_t high) {
    return position < low ? low : position > high ? high : position;
}

/// The position on a face that linear filtering reads, in 1/256 of a texel.
struct SeamlessPosition {
    std::int64_t x;
    std::int64_t y;
};

/// Clamps a position on a face. Beyond an edge, a sample can read the neighboring face up to its far edge. Beyond a
/// corner, where three faces meet, there is no further face, so both coordinates are clamped to one texel beyond the
/// edge. Recording: cube_aniso16_rim.
TEXTON_HD inline SeamlessPosition seamless_position(std::int64_t x, std::int64_t y, std::int32_t size) {
    const bool corner = is_beyond(x, size) && is_beyond(y, size);
    const std::int64_t side = std::int64_t{size} * 256;
    const std::int64_t low = corner ? -256 : -side;
    const std::int64_t high = corner ? side - 1 : 2 * side - 256;
    return {clamp_position(x, low, high), clamp_position(y, low, high)};
}

}  // namespace texton::detail
