#pragma once
// Color operations that compute each pixel from the texel at the same position.
//
// The texture must be 2D or layered 2D and must return floats. The destination image has the texture's width and height
// and one slice per layer. It may be the image that the texture reads. Texels are read exactly, whichever filter the
// sampler has. Channels that the texture's format lacks read as zero.
//
// Each function enqueues its work on the stream and returns without waiting. The caller must keep the memory of the
// images and of the textures until the work is done, as for launch(). Several threads may call these functions at once.
//
// All functions throw Error{bad_argument} if the texture's kind or size does not match, if the texture returns
// integers, or if a number is out of its range. They also throw the errors of launch(). If a function throws, it has
// enqueued nothing.
#include <string_view>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// A 3 x 4 color matrix. The default is the identity.
struct ColorMatrix {
    /// One row each for the resulting red, green and blue. Each row contains the factors of red, green and blue and a
    /// constant.
    float row[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
};

/// Enqueues the multiplication of the colors with a matrix. Alpha is unchanged. The matrix must be finite.
void color_matrix(const Stream& stream, const View& image, const Texture& texture, const ColorMatrix& matrix);

/// Direction of transfer().
enum class Transfer : std::uint8_t {
    to_linear,  ///< from sRGB-encoded values to linear light
    to_srgb     ///< from linear light to sRGB-encoded values
};

/// Enqueues the conversion with the sRGB transfer curve of IEC 61966-2-1 or with its inverse. The curve is mirrored for
/// negative values. Alpha is unchanged.
///
/// Use it for values that are stored without conversion. Textures of an sRGB format already return linear values, and
/// images of an sRGB format are encoded when they are written.
void transfer(const Stream& stream, const View& image, const Texture& texture, Transfer direction);

/// Enqueues the multiplication of the colors by 2^stops. `stops` is -64 to 64. Alpha is unchanged.
void exposure(const Stream& stream, const View& image, const Texture& texture, float stops);

/// Parameters of grade(). All must be finite.
struct Grade {
    float contrast = 1;    ///< factor of a channel's difference from `gray`
    float saturation = 1;  ///< factor of a channel's difference from the BT.709 luminance; 0 removes all color
    float gray = 0.18f;    ///< the value that contrast does not change
};

/// Enqueues a change of contrast, followed by a change of saturation. Alpha is unchanged.
void grade(const Stream& stream, const View& image, const Texture& texture, const Grade& grade);

/// A curve that compresses bright linear light to the range 0 to 1. It is applied to each channel separately.
enum class ToneCurve : std::uint8_t {
    reinhard,  ///< Reinhard, Stark, Shirley and Ferwerda 2002, equation 4
    filmic,    ///< Hable 2010, the curve of Uncharted 2
    aces       ///< Narkowicz 2015, a fit of the ACES reference transforms; has no white parameter
};

/// Enqueues tone mapping. Negative values become 0. With `reinhard` and `filmic`, the value `white`, 0.01 to 1e6,
/// becomes 1, and higher values exceed 1. `aces` ignores `white`, and its results are at most 1. Alpha is unchanged.
/// For other curves see curve_array() and lut_1d().
void tone_curve(const Stream& stream, const View& image, const Texture& texture, ToneCurve curve, float white = 11.2f);

/// Operation of change_alpha().
enum class AlphaChange : std::uint8_t {
    premultiply,   ///< multiplies the colors by alpha
    unpremultiply  ///< divides the colors by alpha
};

/// Enqueues the multiplication of the colors by alpha, or their division by it. A division where alpha is 0 gives 0 in
/// all channels. A texture whose format has no alpha is opaque.
void change_alpha(const Stream& stream, const View& image, const Texture& texture, AlphaChange change);

/// Enqueues a rearrangement of the channels. `channels` consists of four letters, one for each resulting channel: r, g,
/// b and a select a channel, 0 and 1 are constants. "bgra" swaps red and blue; "rrr1" shows red as gray.
///
/// Throws Error{bad_argument} if `channels` is not four of these letters.
void swizzle(const Stream& stream, const View& image, const Texture& texture, std::string_view channels);

}  // namespace texton
