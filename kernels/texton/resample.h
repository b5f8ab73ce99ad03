#pragma once
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

enum class ResampleFilter : std::uint8_t {
    nearest,
    linear,       ///< the texture unit's: 8 bits of weight
    catmull_rom,  ///< cubic, through the texels, in nine linear fetches
    b_spline,     ///< cubic, smoother than the texels, in four linear fetches
    lanczos3,     ///< windowed sinc of three lobes; wider where it minifies
    area          ///< each texel by the share of it that a pixel covers
};

/// The part of a texture that fills the picture, in texels; it may begin between texels and reach beyond the edges.
struct Crop {
    float x = 0;
    float y = 0;
    float width = 0;  ///< 0: all from x on
    float height = 0;
};

struct ResampleOptions {
    ResampleFilter filter = ResampleFilter::linear;
    Crop crop{};
};

/// Enqueues the crop of a 2D texture, or of all layers of a layered one (a slice of the picture each), in the picture's size.
/// What lies beyond the edges is as the sampler says. linear, catmull_rom and b_spline need a texture with Filter::linear; the
/// others take either.
///
/// Errors: bad_argument (a texture of another kind, with another filter than needed, of integers that it would blend; a crop
/// that is not finite or not positive; as many slices as there are no layers), and those of launch().
void resample(const Stream& stream, const View& picture, const Texture& texture, const ResampleOptions& options = {});

}  // namespace texton
