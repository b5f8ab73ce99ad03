#pragma once
// Cubes: pictures of six square slices, +x -x +y -y +z -z, which may be a level of a cubemap array. Each face is as it
// is seen from inside, with rows from its left to its right, as CUDA's cubemaps have them.
//
// Textures of kind cubemap are read as their samplers say: seamless_cubemap with Filter::linear hides the edges between
// faces.
#include <array>
#include <cstdint>
#include <span>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Six faces of side n in one picture.
enum class CubeNet : std::uint8_t {
    horizontal_cross,  ///< 4n x 3n: +y above, -y below, and -x +z +x -z in the middle row
    vertical_cross,    ///< 3n x 4n: +y above, -x +z +x in the second row, then -y, then -z turned by 180 degrees
    horizontal_strip,  ///< 6n x n, in the order of the faces
    vertical_strip     ///< n x 6n
};

/// Enqueues the texels of a 2D texture's net as a cube: the texels themselves where it has Filter::point.
/// Errors: bad_argument (a texture of another kind; sides that do not fit), and those of launch().
void net_to_cube(const Stream& stream, const View& cube, const Texture& net, CubeNet layout);
/// ... and back; what is not a face is 0.
void cube_to_net(const Stream& stream, const View& net, const Texture& cube, CubeNet layout);

/// A direction (x, y, z) is at u = 1/2 + atan2(x, z) / 2pi, v = acos(y / length) / pi, in shares of a 2D texture's
/// width and height. A sampler that wraps in x has no seam at -z. Errors as above.
void equirect_to_cube(const Stream& stream, const View& cube, const Texture& equirect);
/// ... and back.
void cube_to_equirect(const Stream& stream, const View& equirect, const Texture& cube);

/// What the cube shows in direction `rotation` * d, rows of the matrix one after the other, in direction d. A matrix
/// that also mirrors, scales or shears is as good, but must be finite. Another side than the texture's is filled too.
void rotate_cube(const Stream& stream, const View& rotated, const Texture& cube, const std::array<float, 9>& rotation);

struct LightOptions {
    int samples = 1024;  ///< directions a texel, 1 to 65536
};

/// The light that a white matt surface sends back that faces a texel's direction: the mean over the half space by the
/// cosine, which is the irradiance over pi. From Hammersley points, each at the level of detail that covers its share
/// of directions: a texture with levels and Filter::linear (also as mip_filter) shows little noise.
void irradiance(const Stream& stream, const View& cube, const Texture& environment, const LightOptions& options = {});

/// For each level the mean of a glossy lobe (GGX of that roughness, 0 to 1, seen from its own normal) around each
/// texel's direction: the first half of Karis's split sum. Roughness 0 is the environment itself. Samples as above.
///
/// Errors: bad_argument (as many levels as there are not numbers; roughness or samples out of range; levels that are no
/// cubes), and those of launch().
void prefilter_ggx(const Stream& stream, std::span<const View> levels, const Texture& environment,
                   std::span<const float> roughness, const LightOptions& options = {});

}  // namespace texton
