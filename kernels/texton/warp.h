#pragma once
// Warps: each pixel reads a texture at a coordinate that a map computes. The map is affine, perspective, polar, a lens
// model, or given by an image.
//
// Every map leads from the center of a pixel to a coordinate in texels, whichever coordinates the sampler has: the
// center of pixel (i, j) is (i + 1/2, j + 1/2), and texel (i, j) covers [i, i + 1) x [j, j + 1). The sampler's address
// modes define the texels beyond the edges. Textures are 2D or layered 2D. The image has one slice per layer.
//
// Each function enqueues its work on the stream and returns without waiting. The caller must keep the memory of the
// images and of the textures until the work is done, as for launch(). Several threads may call these functions at once.
//
// All warps throw Error{bad_argument} if a texture is of another kind, if numbers are not finite or out of their
// ranges, if minification is not `none` but the texture has one level, or if the numbers of slices and layers differ.
// They also throw the errors of launch(). If a function throws, it has enqueued nothing.
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// How a warp reads the texture where a pixel covers many texels.
enum class Minification : std::uint8_t {
    none,  ///< a plain fetch of the first level
    /// The level of detail log2(d), where d is the larger of the distances, in texels, from the pixel's coordinate to
    /// the coordinates of its right and its lower neighbor.
    mip,
    anisotropic  ///< a fetch with gradients: sharper than `mip` where both distances differ; see max_anisotropy
};

/// Options of all warps.
struct WarpOptions {
    Minification minification = Minification::none;  ///< all except `none` need a texture with several levels
    std::array<float, 4> border{};                   ///< color of pixels for which the map has no coordinate
};

/// An affine map: x = (xx px + xy py) + x0, y = (yx px + yy py) + y0. The default is the identity.
struct Affine {
    float xx = 1,  ///< change of x from a pixel to its right neighbor
        xy = 0,    ///< change of x from a pixel to the neighbor below
        x0 = 0;    ///< offset of x, in texels
    float yx = 0,  ///< change of y from a pixel to its right neighbor
        yy = 1,    ///< change of y from a pixel to the neighbor below
        y0 = 0;    ///< offset of y, in texels
};

/// Enqueues the texture warped by an affine map. On the CPU device this is the fastest warp if the texture has one
/// layer, minification is `none` and the image is in memory, not in an array.
void warp_affine(const Stream& stream, const View& image, const Texture& texture, const Affine& map,
                 const WarpOptions& options = {});

/// The rows of a matrix that is multiplied with (px, py, 1). The product (x, y, w) is the coordinate (x / w, y / w).
using Perspective = std::array<std::array<float, 3>, 3>;

/// Enqueues the texture warped by a perspective map. Pixels behind the horizon, where w is not positive, have the
/// border color.
void warp_perspective(const Stream& stream, const View& image, const Texture& texture, const Perspective& map,
                      const WarpOptions& options = {});

/// Meaning of the channels of the map of warp_map().
enum class MapCoordinates : std::uint8_t {
    absolute,  ///< the first two channels are the coordinate x, y
    offset     ///< the first two channels are the coordinate minus the center of the pixel
};

/// Enqueues the texture warped by an image: `map` is a 2D texture of floats with at least two channels, or a layered 2D
/// texture with as many layers as `texture`. A map of the destination image's size is read exactly, whichever filter
/// its sampler has. A map of another size is stretched to the image; with Filter::linear a coarse map is enough. Pixels
/// where the map is NaN have the border color. Minification depends on the difference between the coordinates of
/// neighboring pixels.
void warp_map(const Stream& stream, const View& image, const Texture& texture, const Texture& map,
              MapCoordinates coordinates = MapCoordinates::absolute, const WarpOptions& options = {});

/// A pinhole camera: the ray (x, y, 1) is seen at (fx x + cx, fy y + cy), in texels. OpenCV's coordinates are 0 at the
/// center of the first texel, so its cx and cy are smaller by 1/2.
struct Camera {
    float fx = 1;  ///< focal length in x, in texels; positive
    float fy = 1;  ///< focal length in y, in texels; positive
    float cx = 0;  ///< x of the principal point, in texels
    float cy = 0;  ///< y of the principal point, in texels
};

/// Brown-Conrady distortion. With r^2 = x^2 + y^2 and g = 1 + k1 r^2 + k2 r^4 + k3 r^6, the ray (x, y) is seen at
///     x' = g x + 2 p1 x y + p2 (r^2 + 2 x^2)
///     y' = g y + p1 (r^2 + 2 y^2) + 2 p2 x y
/// D. C. Brown, "Close-range camera calibration", 1971, with the signs and the order of OpenCV.
struct BrownConrady {
    float k1 = 0;  ///< radial coefficient of r^2
    float k2 = 0;  ///< radial coefficient of r^4
    float k3 = 0;  ///< radial coefficient of r^6
    float p1 = 0;  ///< first tangential coefficient
    float p2 = 0;  ///< second tangential coefficient
};

/// Fisheye distortion. A ray at the angle a from the axis is seen at the distance a (1 + k1 a^2 + k2 a^4 + k3 a^6 + k4
/// a^8) from the center. Without coefficients this is the equidistant projection. J. Kannala, S. Brandt, "A generic
/// camera model and calibration method for conventional, wide-angle, and fish-eye lenses", 2006, as in OpenCV's fisheye
/// module.
struct Fisheye {
    float k1 = 0;  ///< coefficient of a^2
    float k2 = 0;  ///< coefficient of a^4
    float k3 = 0;  ///< coefficient of a^6
    float k4 = 0;  ///< coefficient of a^8
};

/// A camera with a distorting lens.
struct Lens {
    Camera camera{};                                   ///< camera of the distorted image
    std::variant<BrownConrady, Fisheye> distortion{};  ///< distortion model and its coefficients
    std::optional<Camera> straight{};                  ///< camera of the undistorted image; empty: same as `camera`
};

/// Enqueues the removal of lens distortion: the image that a pinhole camera would have recorded, from an image recorded
/// through the lens.
void undistort(const Stream& stream, const View& image, const Texture& texture, const Lens& lens,
               const WarpOptions& options = {});
/// Enqueues the inverse: the image as seen through the lens, from an image without distortion. The inverse is computed
/// in a fixed number of Newton steps. Pixels that see nothing of the undistorted image have the border color: rays 90
/// degrees or more off the axis, and pixels beyond the point where the polynomial turns back.
void distort(const Stream& stream, const View& image, const Texture& texture, const Lens& lens,
             const WarpOptions& options = {});

/// Direction of warp_polar().
enum class PolarDirection : std::uint8_t {
    to_polar,   ///< from a Cartesian texture to a polar image
    from_polar  ///< from a polar texture to a Cartesian image
};

/// Parameters of warp_polar(). A polar image shows angles from left to right, one full turn that starts at the x axis
/// and goes toward the y axis, and radii from top to bottom.
struct Polar {
    PolarDirection direction = PolarDirection::to_polar;  ///< to or from polar coordinates
    bool logarithmic = false;                             ///< radii grow by the same factor from row to row
    float center_x = 0;                                   ///< x of the center in the Cartesian image, in texels
    float center_y = 0;                                   ///< y of the center in the Cartesian image, in texels
    float inner = 0;  ///< radius at the upper edge, in texels; 0 with `logarithmic` means 1
    /// Radius at the lower edge, in texels. 0 replaces the center by the center of the Cartesian image, and the radius
    /// by the distance to its nearest edge.
    float outer = 0;
};

/// Enqueues the conversion between Cartesian and polar coordinates. AddressMode::wrap in x joins the ends of a polar
/// texture. The center itself has no coordinate in a logarithmic polar texture and has the border color.
void warp_polar(const Stream& stream, const View& image, const Texture& texture, const Polar& polar = {},
                const WarpOptions& options = {});

}  // namespace texton
