#pragma once
// Pictures of volumes: slices, projections and ray marching of 3D textures.
//
// Places are in texels, whichever coordinates the sampler has: texel (i, j, k) covers [i, i + 1) x [j, j + 1) x [k, k +
// 1). A picture is a parallelogram in the volume, and views look along rays that start on it, all in one direction.
#include <array>
#include <cstdint>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

struct Vector3 {
    float x = 0;
    float y = 0;
    float z = 0;
};

/// Where the picture lies: its upper left corner, its upper edge to the right and its left edge downward.
struct VolumePlane {
    Vector3 origin;
    Vector3 across;
    Vector3 down;
};

/// Enqueues a slice of a 3D texture, at any angle. What lies outside is as the sampler says.
///
/// Errors of this and the other functions: bad_argument (a texture of another kind; numbers that are not finite or out
/// of their range; a picture of several slices), and those of launch().
void volume_slice(const Stream& stream, const View& picture, const Texture& texture, const VolumePlane& plane);

/// Rays from the picture on, as long as `along`. They fetch in the middle of each of the steps that it is cut into;
/// what lies outside of the volume is not fetched and counts nothing.
struct VolumeView {
    VolumePlane plane;
    Vector3 along;
    std::int32_t steps = 1;  ///< 1 to 65536
};

enum class Projection : std::uint8_t { maximum, minimum, mean };

/// Enqueues the highest, the lowest or the mean value of each channel along each ray. Rays that miss the volume have
/// the colour `background`.
void volume_projection(const Stream& stream, const View& picture, const Texture& texture, const VolumeView& view,
                       Projection projection = Projection::maximum, const std::array<float, 4>& background = {});

struct MarchOptions {
    /// The values for which the transfer function has its first and its last texel, in their middles; those beyond have
    /// the same.
    float low = 0;
    float high = 1;
    float opaque_length = 1;  ///< texels of a ray for which its alpha is meant
    bool shading = false;     ///< by a light from afar: surfaces of equal values reflect as Lambert's do, on both sides
    Vector3 light{0, 0, -1};  ///< toward it
    float ambient = 0.3f;     ///< the share of light that comes from everywhere: 0 to 1
    std::array<float, 4> background{};  ///< with its colour multiplied by alpha
};

/// Enqueues what light of each ray comes to the eye, from front to back: the first channel of `texture` chooses a
/// colour and its opacity from `transfer`, a 1D texture of four channels, not multiplied by alpha. A step of length s
/// has the opacity 1 - (1 - alpha)^(s / opaque_length), so that the picture does not grow darker with more steps (K.
/// Engel et al., "Real-Time Volume Graphics", 2006, 1.4). A ray ends where its alpha is 0.999. Colours of the picture
/// are multiplied by alpha.
void volume_march(const Stream& stream, const View& picture, const Texture& texture, const Texture& transfer,
                  const VolumeView& view, const MarchOptions& options = {});

}  // namespace texton
