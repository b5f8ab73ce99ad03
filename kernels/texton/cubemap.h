#pragma once
// Conversions and filters of cubemaps.
//
// A cube is an image of six square slices in the order +x -x +y -y +z -z. It may be a level of a cubemap array. Faces
// are oriented as in CUDA's cubemaps: each face shows the cube as seen from inside, and its rows run from left to
// right.
//
// Textures of kind cubemap are read as their samplers specify. With Filter::linear, seamless_cubemap hides the edges
// between faces.
//
// Each function enqueues its work on the stream and returns without waiting. The caller must keep the memory of the
// images and of the textures until the work is done, as for launch(). Several threads may call these functions at once.
// If a function other than prefilter_ggx() throws, it has enqueued nothing.
#include <array>
#include <cstdint>
#include <span>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Layout of the six faces of a cube in one 2D image. The width and height of a face are n.
enum class CubeNet : std::uint8_t {
    horizontal_cross,  ///< 4n x 3n: +y in the first row, -x +z +x -z in the second row, -y in the third row
    vertical_cross,  ///< 3n x 4n: +y in the first row, -x +z +x in the second, then -y, then -z rotated by 180 degrees
    horizontal_strip,  ///< 6n x n, in the order of the faces
    vertical_strip     ///< n x 6n, in the order of the faces
};

/// Enqueues the conversion of a net, a 2D texture, to a cube. If the texture has Filter::point, the texels are copied
/// unchanged.
///
/// Throws Error{bad_argument} if the texture is not 2D, if the cube does not have six square slices, or if the size of
/// the net does not match. Also throws the errors of launch().
void net_to_cube(const Stream& stream, const View& cube, const Texture& net, CubeNet layout);
/// Enqueues the conversion of a cubemap texture to a net. Pixels outside the faces become 0. Throws the same errors as
/// net_to_cube().
void cube_to_net(const Stream& stream, const View& net, const Texture& cube, CubeNet layout);

/// Enqueues the conversion of an equirectangular image, a 2D texture, to a cube. The direction (x, y, z) reads the
/// normalized coordinate u = 1/2 + atan2(x, z) / 2pi, v = acos(y / length) / pi. A sampler that wraps in x has no seam
/// at -z. Throws the same errors as net_to_cube().
void equirect_to_cube(const Stream& stream, const View& cube, const Texture& equirect);
/// Enqueues the conversion of a cubemap texture to an equirectangular image, with the mapping of equirect_to_cube().
/// The image must have one slice. Throws the same errors as net_to_cube().
void cube_to_equirect(const Stream& stream, const View& equirect, const Texture& cube);

/// Enqueues a rotated cube: in direction d it shows what `cube` shows in direction `rotation` * d. The matrix is stored
/// row by row. It may also mirror, scale or shear, but must be finite. The faces of `rotated` may have another size
/// than the faces of the texture. Throws the same errors as net_to_cube().
void rotate_cube(const Stream& stream, const View& rotated, const Texture& cube, const std::array<float, 9>& rotation);

/// Options of irradiance() and prefilter_ggx().
struct LightOptions {
    int samples = 1024;  ///< sample directions per texel, 1 to 65536
};

/// Enqueues the irradiance of an environment, divided by pi: the light that a white matte surface reflects if its
/// normal is the direction of the texel. It is the mean over the hemisphere, weighted by the cosine.
///
/// The directions are Hammersley points. Each sample is fetched at the level of detail that covers its solid angle, so
/// a texture with all levels, Filter::linear and linear `mip_filter` reduces noise.
///
/// Throws the same errors as net_to_cube(), and Error{bad_argument} if `samples` is out of its range or the texture
/// returns integers.
void irradiance(const Stream& stream, const View& cube, const Texture& environment, const LightOptions& options = {});

/// Enqueues the prefiltered environment for glossy reflections, one level per element of `roughness`: the first part of
/// Karis's split-sum approximation. Each texel is the mean of the GGX lobe of that roughness, 0 to 1, around the
/// texel's direction, where the view direction equals the normal. A level of roughness 0 is the environment itself.
/// Samples are chosen as in irradiance().
///
/// Throws Error{bad_argument} if the numbers of levels and of roughness values differ, if roughness or samples are out
/// of their ranges, if a level is not a cube, or if the texture is not a cubemap or returns integers. Throws
/// Error{overlap} if two levels share bytes or texels. Also throws the errors of launch(). If an argument is invalid,
/// nothing was enqueued.
void prefilter_ggx(const Stream& stream, std::span<const View> levels, const Texture& environment,
                   std::span<const float> roughness, const LightOptions& options = {});

}  // namespace texton
