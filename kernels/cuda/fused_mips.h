#pragma once
// Several levels of a mip chain in one kernel of a CUDA device.
#include <optional>
#include <span>

#include <texton/launch.h>
#include <texton/mips.h>

#include "kernels/functors/mip_functors.h"

namespace texton::mip {

/// Levels that a tile of 128 x 128 texels makes, down to one pixel.
inline constexpr unsigned kMostTogether = 7;

/// A level and what it is made of.
struct Step {
    View level;
    Texture above;
    Extent from;                           ///< sides of what `above` reads, with slices, layers or faces
    ArrayKind kind;                        ///< of the chain
    std::optional<TexelsOfMemory> memory;  ///< where `above` reads a level in memory
};

/// Levels, counted from the first, that one kernel may make; 0: not even that. Each must be half of the one above it in
/// both sides, and no two may share memory.
[[nodiscard]] std::size_t levels_together(std::span<const Step> steps, const MipOptions& options);

/// Enqueues as many levels, counted from the first, as one kernel of a CUDA device makes, and returns how many; 0: none
/// can be. Bits and errors are those of one launch a level. Without CUDA there is no such device.
std::size_t enqueue_together(const char* object, const Stream& stream, std::span<const Step> steps,
                             const MipOptions& options);

/// The same for levels_together() by the box filter, of formats and places whose texels are read as they are stored.
/// `launches` are those of the steps.
std::size_t enqueue_stored(const char* object, const Stream& stream, std::span<const Step> steps,
                           std::span<const detail::Launch> launches);

}  // namespace texton::mip
