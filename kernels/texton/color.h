#pragma once
// Colours, pixel by pixel. Textures are 2D or layered, of floats; the picture has their size and a slice for each
// layer, and may be what the texture reads. Channels that the texture's format lacks are 0.
//
// Errors of all: bad_argument (a texture of another kind or size, or of integers; a number that the function does not
// take), and those of launch().
#include <string_view>

#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// A row for each of red, green and blue: what they get of red, green, blue and of 1.
struct ColorMatrix {
    float row[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
};

/// Alpha stays as it is.
void color_matrix(const Stream& stream, const View& picture, const Texture& texture, const ColorMatrix& matrix);

enum class Transfer : std::uint8_t { to_linear, to_srgb };

/// The curve of IEC 61966-2-1, or its inverse, with the same for negative values mirrored; alpha stays. For numbers
/// that are stored as they are: textures of an srgb format are linear already, and pictures of one become sRGB as they
/// are written.
void transfer(const Stream& stream, const View& picture, const Texture& texture, Transfer direction);

/// Times 2^stops, -64 to 64; alpha stays.
void exposure(const Stream& stream, const View& picture, const Texture& texture, float stops);

struct Grade {
    float contrast = 1;    ///< how far from the grey channels are, times this
    float saturation = 1;  ///< how far from their luminance (BT.709) channels are, times this; 0 leaves no colour
    float grey = 0.18f;    ///< what contrast leaves as it is
};

/// Contrast, then saturation; alpha stays.
void grade(const Stream& stream, const View& picture, const Texture& texture, const Grade& grade);

/// Linear light of any brightness to 0 to 1, each channel by itself.
enum class ToneCurve : std::uint8_t {
    reinhard,  ///< Reinhard, Stark, Shirley, Ferwerda 2002, equation 4
    filmic,    ///< Hable 2010, the curve of Uncharted 2
    aces       ///< Narkowicz 2015, his fit of ACES' reference transforms; its white is fixed
};

/// What is negative becomes 0; `white` becomes 1, what is brighter more, but in aces, which ends at 1. Alpha stays. For
/// curves of your own: curve_array() and lut_1d().
void tone_curve(const Stream& stream, const View& picture, const Texture& texture, ToneCurve curve,
                float white = 11.2f);

enum class AlphaChange : std::uint8_t { premultiply, unpremultiply };

/// Colours times alpha, or divided by it: those of alpha 0 become 0. A format without alpha is opaque.
void change_alpha(const Stream& stream, const View& picture, const Texture& texture, AlphaChange change);

/// Four letters say what the channels become: r, g, b, a, 0 or 1. "bgra" swaps red and blue, "rrr1" shows red as grey.
void swizzle(const Stream& stream, const View& picture, const Texture& texture, std::string_view channels);

}  // namespace texton
