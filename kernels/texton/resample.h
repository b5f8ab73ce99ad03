#pragma once
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Filter of resample().
enum class ResampleFilter : std::uint8_t {
    nearest,      ///< the nearest texel
    linear,       ///< linear filtering of the texture unit, with 8-bit weights
    catmull_rom,  ///< cubic filter that interpolates the texels
    b_spline,     ///< cubic filter that smooths the texels
    lanczos3,     ///< sinc with a Lanczos window of three lobes; widened for minification
    area          ///< mean of the texels that the pixel covers, weighted by the covered part
};

/// The region of a texture that fills the image, in texels. It may start between texels and reach beyond the edges.
struct Crop {
    float x = 0;       ///< left edge
    float y = 0;       ///< upper edge
    float width = 0;   ///< 0: from x to the texture's right edge
    float height = 0;  ///< 0: from y to the texture's lower edge
};

/// Options of resample().
struct ResampleOptions {
    ResampleFilter filter = ResampleFilter::linear;  ///< how texels are weighted
    Crop crop{};                                     ///< region to resample; by default the whole texture
};

/// Enqueues the resampling of a region of a 2D texture, or of all layers of a layered 2D texture, to the size of the
/// image. The image has one slice per layer. The sampler's address modes define the texels beyond the edges.
///
/// `linear` needs a texture with Filter::linear. The other filters read texels exactly, whichever filter the sampler
/// has. `nearest` copies one texel. The cubic filters, lanczos3 and area have weights for the columns and for the rows of
/// texels around a pixel, as floats that add up to 1, except for rounding: the texels of each row are summed first, then
/// the rows. Sums start at 0, and each term is added with a fused multiply-add. Texels whose weight is 0 do not count,
/// even if they are infinite or NaN.
///
/// Returns without waiting for the work. The caller must keep the memory of the image and of the texture until the work
/// is done, as for launch(). Several threads may call this function at once. If it throws, nothing was enqueued.
///
/// Throws Error{bad_argument} if
/// - the texture is of another kind or does not have the required filter,
/// - integers would be interpolated (all filters except nearest),
/// - x or y of the crop is not in the range from -2^23 to 2^23, or its width or height is not positive or exceeds 2^23,
/// - the numbers of slices and layers differ.
///
/// Also throws the errors of launch().
void resample(const Stream& stream, const View& image, const Texture& texture, const ResampleOptions& options = {});

}  // namespace texton
