#pragma once
#include <cstdint>
#include <span>

#include <texton/array.h>
#include <texton/sampler.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

enum class MipFilter : std::uint8_t {
    box,     ///< the mean of the texels that a texel covers, by the share of each: three along an odd side
    kaiser,  ///< a sinc under Kaiser's window: sharper, and rings at edges
    min,     ///< the lowest of each channel of the texels that it covers, even in part
    max      ///< the highest
};

struct MipOptions {
    MipFilter filter = MipFilter::box;
    /// Colour counts as much as its texel's alpha: what is transparent leaves no fringe. Where all is, the plain mean.
    bool alpha_weighted = false;
    float kaiser_width = 3;                    ///< half the window in texels of the smaller level, 1 to 4
    float kaiser_alpha = 4;                    ///< of the window, 0 to 10; higher: softer, with less ringing
    AddressMode address = AddressMode::clamp;  ///< what the window reads beyond the edges; not border
};

/// Enqueues levels 1 and up of an array with surfaces, of any kind and any plain format; each is made of the one above
/// it, sides halved and rounded down. Layers and faces are filtered by themselves. sRGB is averaged as light. Integers
/// become the nearest whole number, halves away from zero; those of 32 bits are read as floats, of 24 bits.
///
/// The textures that it reads by are kept by the array: once made, a call may be recorded into a graph.
///
/// Errors: bad_argument (options out of their range; kaiser or alpha_weighted of a format that has no fractions, or no
/// alpha), unsupported (a format that CUDA has no views of: rgb10a2 with layers or faces), and those of launch().
void make_mips(const Stream& stream, const Array& array, const MipOptions& options = {});

/// The same from what a texture reads at its first level, into memory: levels[0] is level 1. Layers, faces and slices
/// lie behind each other, as in Array::view(). A texture with Filter::point is read exactly.
///
/// Errors: bad_argument too for a level that is not half of the one above, or that cannot be read for the next: a part
/// of an array, memory that Texton does not own, or such that begins at no multiple of limits().texture_alignment.
void make_mips(const Stream& stream, std::span<const View> levels, const Texture& finest,
               const MipOptions& options = {});

}  // namespace texton
