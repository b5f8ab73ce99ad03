#pragma once
// Kernels of gathers: a component of the four texels around a place at once. The texture is of a 2D array that was made
// with ArrayUsage::gather; either filter will do.
//
// Errors of all: bad_argument (a texture of another kind, or one that does not gather; pictures of another size; a
// parameter out of its range), and those of launch().
#include <optional>
#include <span>
#include <vector>

#include <texton/pool.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// The sizes of the levels of a min-max pyramid of a texture: half of the one below each, rounded down but at least 1,
/// to 1 x 1.
[[nodiscard]] std::vector<Extent> min_max_extents(const Texture& texture);

/// Enqueues as many levels of the pyramid as there are views, each of its size. A pixel has the lowest of 2 x 2 values
/// below it in its first channel, and the highest in its second; where sides below are odd, the last column and row
/// count to the last pixels. The values are those of one channel of the texture. Integers count as floats, NaNs not at
/// all: where there is nothing else, lowest is plus infinity and highest minus infinity.
///
/// All but the last level are also made in floats in scratch memory, 8 bytes a pixel: from the pool, or without one from the
/// current pool of the stream's device.
void min_max_pyramid(const Stream& stream, std::span<const View> levels, const Texture& texture, int channel = 0,
                     const std::optional<Pool>& scratch = {});

/// Texels a side whose depths are compared.
enum class CloserSize : std::uint8_t {
    two,   ///< weighted as linear filtering does
    three  ///< weighted by what a square of two texels' width covers of them
};

struct PercentageCloserOptions {
    CloserSize size = CloserSize::two;
    float bias = 0;  ///< taken from every reference
};

/// Enqueues how much of the depths around a place is not nearer than a reference: 0 in shadow to 1 in light, in the
/// first channel. A texel of `places`, a 2D texture as large as the picture, holds the place in `depths`, x and y in
/// texels, and the reference in its third channel. A depth of NaN is nearer. Depths beyond the edges are as the sampler
/// of `depths` says.
void percentage_closer(const Stream& stream, const View& picture, const Texture& depths, const Texture& places,
                       const PercentageCloserOptions& options = {});

}  // namespace texton
