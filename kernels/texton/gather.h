#pragma once
// Kernels that use gather fetches, which read one component of the four texels around a coordinate at once.
//
// The gathered texture must be a texture of a 2D array that was created with ArrayUsage::gather. It may have either
// filter. Each function that enqueues work does so on the stream and returns without waiting. The caller must keep the
// memory of the images and of the textures until the work is done, as for launch(). Several threads may call these
// functions at once.
//
// The functions that enqueue work throw Error{bad_argument} if a texture is of another kind or the gathered texture
// does not support gather, if an image is of another size, or if a parameter is out of its range. They also throw the
// errors of launch().
#include <optional>
#include <span>
#include <vector>

#include <texton/pool.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Returns the extents of the levels of a texture's min-max pyramid. The first is half the texture's extent. Each
/// further width and height is half that of the level before, rounded down but at least 1. The last level is 1 x 1.
[[nodiscard]] std::vector<Extent> min_max_extents(const Texture& texture);

/// Enqueues the first levels of the min-max pyramid, one per view. There must be at least one view. Each view must have
/// the extent that min_max_extents() returns for its level.
///
/// The pyramid is computed from one channel of the texture. Each pixel covers 2 x 2 texels of the texture, or 2 x 2
/// pixels of the previous level. Its first channel is the lowest of the covered values, its second channel the highest.
/// If the covered image has an odd width or height, the pixels of the last column or row also cover the remaining
/// column or row. Integers are converted to floats. NaN values are ignored: if all values are NaN, the lowest value is
/// plus infinity and the highest minus infinity.
///
/// Every level except the last is also computed as floats in scratch memory, 8 bytes per pixel. The memory is allocated
/// from `scratch`, or else from the current pool of the stream's device. It is freed in stream order. Throws the errors
/// of the pool.
///
/// Throws Error{overlap} also if two levels share bytes or texels. If an argument is invalid or the pool has too little
/// memory, nothing was enqueued.
void min_max_pyramid(const Stream& stream, std::span<const View> levels, const Texture& texture, int channel = 0,
                     const std::optional<Pool>& scratch = {});

/// Size of the square of depths that percentage_closer() compares.
enum class CloserSize : std::uint8_t {
    two,   ///< 2 x 2 texels, weighted as by linear filtering
    three  ///< 3 x 3 texels, weighted by how much of each a square of 2 x 2 texels covers
};

/// Options of percentage_closer().
struct PercentageCloserOptions {
    CloserSize size = CloserSize::two;  ///< size of the compared square
    float bias = 0;                     ///< subtracted from every reference
};

/// Enqueues percentage-closer filtering of a shadow map. The first channel of each pixel is the weighted fraction of
/// the depths around a coordinate that are not nearer than a reference: 0 is in shadow, 1 is in light. A depth is
/// nearer if it is less than the reference minus `bias`, or NaN.
///
/// `positions` is a 2D texture of the image's size, not necessarily with gather. The first two channels of its texel
/// are the coordinate x, y in `depths`, in texels, and the third channel is the reference. The sampler of `depths`
/// defines the depths beyond the edges. The image has one slice.
///
/// Throws Error{bad_argument} also if a texture returns integers or if `bias` is not finite. If the function throws,
/// nothing was enqueued.
void percentage_closer(const Stream& stream, const View& image, const Texture& depths, const Texture& positions,
                       const PercentageCloserOptions& options = {});

}  // namespace texton
