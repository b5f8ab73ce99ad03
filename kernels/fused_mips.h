#pragma once
// Several levels of a mip chain in one kernel of a CUDA device.
#include <optional>
#include <span>

#include <texton/mips.h>

#include "kernels/mip_filters.h"

namespace texton::mip {

/// Levels that a tile of 64 x 64 texels makes, down to one pixel.
inline constexpr std::size_t kMostTogether = 6;

/// A level and what it is made of.
struct Step {
    View level;
    Texture above;
    Extent from;                           ///< sides of what `above` reads, with slices, layers or faces
    ArrayKind kind;                        ///< of the chain
    std::optional<TexelsOfMemory> memory;  ///< where `above` reads a level in memory
};

/// Levels, counted from the first, that one kernel can make; 0: not even that. Each must be half of the one above it in
/// both sides, and no two may share memory.
[[nodiscard]] std::size_t levels_together(std::span<const Step> steps, const MipOptions& options);

/// Enqueues them on a CUDA device, with the bits and the errors of one launch a level. Without CUDA there is no such
/// device.
void enqueue_together(const char* object, const Stream& stream, std::span<const Step> steps, const MipOptions& options);

}  // namespace texton::mip
