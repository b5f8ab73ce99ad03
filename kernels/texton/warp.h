#pragma once
// Pictures whose pixels read a texture at places that a map says: affine, perspective, of a lens, polar, or given by an
// image.
//
// All maps lead from the middle of a pixel to a place in texels: pixel (i, j) is at (i + 1/2, j + 1/2), texel (i, j)
// covers [i, i + 1) x [j, j + 1), whichever coordinates the sampler has. A place beyond the edges reads what the
// sampler says. Textures are 2D, or layered 2D: then the picture has a slice for each layer.
#include <array>
#include <cstdint>
#include <optional>
#include <variant>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// What is read where a pixel covers many texels.
enum class Minification : std::uint8_t {
    none,  ///< a plain fetch of the first level
    mip,  ///< the level whose texels are as far apart as the places of pixels, in the direction where they are farthest
    anisotropic  ///< a fetch with gradients: sharper across that direction, as the sampler's max_anisotropy allows
};

struct WarpOptions {
    Minification minification = Minification::none;  ///< others need a texture with levels
    std::array<float, 4> border{};                   ///< of pixels that have no place in the texture
};

/// x = (xx px + xy py) + x0, y = (yx px + yy py) + y0.
struct Affine {
    float xx = 1, xy = 0, x0 = 0;
    float yx = 0, yy = 1, y0 = 0;
};

/// Enqueues the texture seen through an affine map. On the CPU device it is the fastest of the warps, where it is one
/// layer, not minified, and the picture not an array.
///
/// Errors of this and the other warps: bad_argument (a texture of another kind; numbers that are not finite or out of
/// their range; Minification other than none without levels; as many slices as there are no layers), and those of
/// launch().
void warp_affine(const Stream& stream, const View& picture, const Texture& texture, const Affine& map,
                 const WarpOptions& options = {});

/// Rows of a matrix that is multiplied with (px, py, 1): its product (x, y, w) is the place (x / w, y / w).
using Perspective = std::array<std::array<float, 3>, 3>;

/// Enqueues the texture seen through a perspective map. Pixels behind the horizon, where w is not above 0, have the
/// border colour.
void warp_perspective(const Stream& stream, const View& picture, const Texture& texture, const Perspective& map,
                      const WarpOptions& options = {});

enum class MapPlaces : std::uint8_t {
    absolute,  ///< the map's first two channels are a place
    offset     ///< ... how far the place is from the pixel
};

/// Enqueues the texture at the places that the image `map` says: a 2D texture of floats, or layered with as many layers
/// as `texture`. One of another size than the picture is stretched to it: with Filter::linear a coarse map does. Pixels
/// where it is NaN have the border colour. Minification follows from the places of neighbouring pixels.
void warp_map(const Stream& stream, const View& picture, const Texture& texture, const Texture& map,
              MapPlaces places = MapPlaces::absolute, const WarpOptions& options = {});

/// A pinhole: (x, y, 1) in front of it is seen at (fx x + cx, fy y + cy), in texels. OpenCV counts from the middle of
/// the first texel: its cx and cy are less by 1/2.
struct Camera {
    float fx = 1;
    float fy = 1;
    float cx = 0;
    float cy = 0;
};

/// With r^2 = x^2 + y^2 and g = 1 + k1 r^2 + k2 r^4 + k3 r^6, (x, y) is seen at
///     x' = g x + 2 p1 x y + p2 (r^2 + 2 x^2)
///     y' = g y + p1 (r^2 + 2 y^2) + 2 p2 x y
/// D. C. Brown, "Close-range camera calibration", 1971, with the signs and the order of OpenCV.
struct BrownConrady {
    float k1 = 0;
    float k2 = 0;
    float k3 = 0;
    float p1 = 0;
    float p2 = 0;
};

/// What is seen at an angle a from the axis lies a (1 + k1 a^2 + k2 a^4 + k3 a^6 + k4 a^8) from the middle; without
/// coefficients that is the equidistant projection. J. Kannala, S. Brandt, "A generic camera model and calibration
/// method for conventional, wide-angle, and fish-eye lenses", 2006, as in OpenCV's fisheye.
struct Fisheye {
    float k1 = 0;
    float k2 = 0;
    float k3 = 0;
    float k4 = 0;
};

struct Lens {
    Camera camera{};  ///< of the picture that was taken through the lens
    std::variant<BrownConrady, Fisheye> distortion{};
    std::optional<Camera> straight{};  ///< of the picture without distortion, if it is another one
};

/// Enqueues the straight picture that a pinhole would have made, from one taken through a lens.
void undistort(const Stream& stream, const View& picture, const Texture& texture, const Lens& lens,
               const WarpOptions& options = {});
/// Enqueues the picture taken through the lens, from a straight one: the inverse, in a fixed number of Newton's steps.
/// Pixels that see nothing of the straight picture (90 degrees off the axis; beyond where the polynomial turns back)
/// have the border colour.
void distort(const Stream& stream, const View& picture, const Texture& texture, const Lens& lens,
             const WarpOptions& options = {});

enum class PolarDirection : std::uint8_t { to_polar, from_polar };

/// A polar picture has angles from left to right, a whole turn from the x axis toward the y axis, and radii from top to
/// bottom.
struct Polar {
    PolarDirection direction = PolarDirection::to_polar;
    bool logarithmic = false;  ///< radii grow by the same factor from row to row
    float middle_x = 0;        ///< in the other picture, as the radii
    float middle_y = 0;
    float inner = 0;  ///< radius at the top edge; 0 of a logarithmic one: 1
    float outer = 0;  ///< ... at the bottom edge; 0: around the picture's middle, to its nearest edge
};

/// Enqueues a polar picture, or what one was made of. AddressMode::wrap in x joins the ends of a polar texture. The
/// middle itself has no place in a logarithmic one: the border colour.
void warp_polar(const Stream& stream, const View& picture, const Texture& texture, const Polar& polar = {},
                const WarpOptions& options = {});

}  // namespace texton
