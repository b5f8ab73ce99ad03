#pragma once
// Several levels of a mip chain in one kernel of a CUDA device.
#include <span>

#include <texton/launch.h>

#include "kernels/functors/mip_chain.h"

namespace texton::mip {

/// Levels that a tile of 128 x 128 texels makes, down to one pixel.
inline constexpr unsigned kMostTogether = 7;

/// Levels, counted from the first, that one kernel may make; 0: not even that. Each must be half of the one above it in
/// both sides, and no two may share memory.
[[nodiscard]] std::size_t levels_together(std::span<const Step> steps, const MipOptions& options);

/// Enqueues as many levels, counted from the first, as one kernel makes by the box filter from texels that are read as they are
/// stored, and returns how many; 0 for other formats and positions. For levels_together(); a launch for each step.
std::size_t enqueue_stored(std::span<const Step> steps, std::span<const detail::Launch> launches);

}  // namespace texton::mip
