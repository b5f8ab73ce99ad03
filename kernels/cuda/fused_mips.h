#pragma once
// Computes several levels of a mip chain with one CUDA kernel.
#include <span>

#include <texton/launch.h>

#include "kernels/functors/mip_chain.h"

namespace texton::mip {

/// Number of levels below a tile of 128 x 128 texels, down to one pixel.
inline constexpr unsigned kMaxFusedLevels = 7;

/// Returns how many levels, counted from the first, one CUDA kernel may compute; 0 if it may not compute even the
/// first. Each level must have exactly half the width and half the height of the level above, and no two levels may
/// share memory.
[[nodiscard]] std::size_t levels_together(std::span<const Step> steps, const MipOptions& options);

/// Enqueues levels, counted from the first, with one CUDA kernel that applies the box filter to texels as they are
/// stored. Returns how many levels were enqueued; 0 if the format or the memory of the texels does not allow it.
/// Expects steps that levels_together() allows and one launch for each of them.
std::size_t enqueue_stored(std::span<const Step> steps, std::span<const detail::Launch> launches);

}  // namespace texton::mip
