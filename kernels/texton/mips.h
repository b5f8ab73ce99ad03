#pragma once
#include <cstdint>
#include <span>

#include <texton/array.h>
#include <texton/sampler.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// How a texel of a level is computed from the level above.
enum class MipFilter : std::uint8_t {
    box,  ///< mean of the covered texels, weighted by the covered part: 2 along an even dimension, 3 along an odd one
    kaiser,  ///< Kaiser-windowed sinc: sharper, with ringing at edges
    min,     ///< lowest value of each channel among the texels that are covered, even partly
    max      ///< highest value of each channel among the texels that are covered, even partly
};

/// Options of make_mips().
struct MipOptions {
    MipFilter filter = MipFilter::box;  ///< how a texel is computed from the level above
    /// Weights colors by alpha, so transparent texels leave no fringe. If every texel is transparent, the result is the
    /// unweighted mean. For box and kaiser.
    bool alpha_weighted = false;
    float kaiser_width = 3;                    ///< half width of the window, in texels of the smaller level, 1 to 4
    float kaiser_alpha = 4;                    ///< shape of the window, 0 to 10; higher is softer and rings less
    AddressMode address = AddressMode::clamp;  ///< texels that kaiser reads beyond the edges; not border
};

/// Enqueues the computation of levels 1 and up of an array with surfaces, of any kind and any plain or packed format.
/// Each level is computed from the level above, which is the next larger one. Width, height and depth are halved and
/// rounded down. Layers and faces are filtered separately. sRGB values are averaged as linear light. Integers are
/// rounded to the nearest, halves away from zero; 32-bit integers are converted to floats first and so have a precision
/// of 24 bits.
///
/// The array caches the textures this call needs, so a second call can be recorded into a graph. The call does not wait
/// for the work. The caller must keep the array until the work is done. Several threads may call this function at once
/// for different arrays.
///
/// Throws Error{bad_argument} if an option is out of its range, if kaiser or alpha_weighted is requested for an integer
/// format, or if alpha_weighted is requested for a format without alpha or with min or max. Throws Error{unsupported}
/// for formats that CUDA cannot view: packed formats with layers or faces. Also throws the errors of launch(). All
/// levels are checked before work is enqueued. If enqueueing a level fails later, larger levels may have been enqueued.
void make_mips(const Stream& stream, const Array& array, const MipOptions& options = {});

/// Enqueues the computation of levels in memory. `finest` is the texture whose first level is level 0, and levels[0] is
/// level 1. Layers, faces and slices are the slices of each view, as in Array::view(). The texels of `finest` are read
/// exactly, whichever filter its sampler has. The caller must keep the memory of the levels and of `finest` until the
/// work is done.
///
/// Throws the errors of the other make_mips(). Throws Error{bad_argument} also if a level is not half the size of the
/// level above, or if a level cannot be read to compute the next level: a part of an array, memory that Texton does not
/// own, or memory that does not start at a multiple of limits().texture_alignment. A level may reuse the memory
/// of an earlier level, except that of the level above.
void make_mips(const Stream& stream, std::span<const View> levels, const Texture& finest,
               const MipOptions& options = {});

}  // namespace texton
