#pragma once
// Filters on CUDA devices whose blocks fetch a tile of texels once and share it.
//
// What they make is what launch() makes of the functors, to the bit. False, and nothing is enqueued, where the device is
// none of CUDA's or where a tile is larger than its shared memory; the functors are for those.
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

#include "kernels/functors/filter_functors.h"

namespace texton::filters {

/// The picture must lie apart from what the texture reads. `sharpen` is what becomes of a texel and its blur; null: the blur.
[[nodiscard]] bool enqueue_in_strips(const char* object, const Stream& stream, const View& picture,
                                     const Texture& texture, const Separable& filter, const Sharpen* sharpen);

[[nodiscard]] bool enqueue_in_tiles(const char* object, const Stream& stream, const View& picture,
                                    const Texture& texture, const Bilateral& filter);
[[nodiscard]] bool enqueue_in_tiles(const char* object, const Stream& stream, const View& picture,
                                    const Texture& texture, const Median<3>& filter);
[[nodiscard]] bool enqueue_in_tiles(const char* object, const Stream& stream, const View& picture,
                                    const Texture& texture, const Median<5>& filter);

}  // namespace texton::filters
