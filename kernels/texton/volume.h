#pragma once
// Images of volumes: slices, projections and ray marching of 3D textures.
//
// Coordinates are in texels, whichever coordinates the sampler has: texel (i, j, k) covers [i, i + 1) x [j, j + 1) x
// [k, k + 1). The image is a parallelogram in the volume. Views follow parallel rays that start on it.
//
// Each function enqueues its work on the stream and returns without waiting. The caller must keep the memory of the
// images and of the textures until the work is done, as for launch(). Several threads may call these functions at once.
//
// All functions throw Error{bad_argument} if a texture is of another kind, if numbers are not finite or out of their
// ranges, or if the image has more than one slice. They also throw the errors of launch(). If a function throws, it has
// enqueued nothing.
#include <array>
#include <cstdint>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// A vector or a coordinate in a volume, in texels.
struct Vector3 {
    float x = 0;  ///< x component
    float y = 0;  ///< y component
    float z = 0;  ///< z component
};

/// The parallelogram in the volume that the image shows.
struct VolumePlane {
    Vector3 origin;  ///< upper left corner
    Vector3 across;  ///< upper edge, from left to right
    Vector3 down;    ///< left edge, from top to bottom
};

/// Enqueues a slice of a 3D texture, at any angle. The sampler's address modes define the values outside the volume.
void volume_slice(const Stream& stream, const View& image, const Texture& texture, const VolumePlane& plane);

/// Parallel rays that start on a plane, one per pixel. The vector `along` leads from the start of each ray to its end.
/// A ray is divided into `steps` steps of equal length. One fetch is made at the center of each step. Steps outside the
/// volume are skipped.
struct VolumeView {
    VolumePlane plane;       ///< where the rays start
    Vector3 along;           ///< from the start of a ray to its end
    std::int32_t steps = 1;  ///< steps per ray, 1 to 65536
};

/// How volume_projection() combines the values along a ray.
enum class Projection : std::uint8_t {
    maximum,  ///< highest value
    minimum,  ///< lowest value
    mean      ///< mean of the values inside the volume
};

/// Enqueues the highest, lowest or mean value of each channel along each ray. Rays that miss the volume have the color
/// `background`.
void volume_projection(const Stream& stream, const View& image, const Texture& texture, const VolumeView& view,
                       Projection projection = Projection::maximum, const std::array<float, 4>& background = {});

/// Options of volume_march().
struct MarchOptions {
    float low = 0;                      ///< values up to this read the center of the transfer function's first texel
    float high = 1;                     ///< values from this on read the center of its last texel; must exceed `low`
    float opaque_length = 1;            ///< ray length in texels to which the transfer function's alpha refers
    bool shading = false;               ///< shades isosurfaces: two-sided Lambert reflection of a directional light
    Vector3 light{0, 0, -1};            ///< direction toward the light, of any length except 0
    float ambient = 0.3f;               ///< part of the light that is ambient, 0 to 1
    std::array<float, 4> background{};  ///< premultiplied color behind the volume
};

/// Enqueues ray marching from front to back. The first channel of `texture` selects a color and its opacity from
/// `transfer`: a texture of a 1D array with four channels whose color is not premultiplied. The image is premultiplied.
///
/// A step of length s has the opacity 1 - (1 - alpha)^(s / opaque_length), so more steps do not make the image more
/// opaque (K. Engel et al., "Real-Time Volume Graphics", 2006, 1.4). A ray ends when its alpha reaches 0.999.
///
/// Throws Error{bad_argument} also if `transfer` returns integers, has fewer than four channels or is a texture of
/// memory, or if the length of `view.along` is 0.
void volume_march(const Stream& stream, const View& image, const Texture& texture, const Texture& transfer,
                  const VolumeView& view, const MarchOptions& options = {});

}  // namespace texton
