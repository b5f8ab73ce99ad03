#pragma once
// Computes several levels of a mip chain with one CUDA kernel.
#include <span>

#include <texton/launch.h>

#include "kernels/functors/mip_chain.h"

namespace texton::mip {

/// Number of levels below a tile of 128 x 128 texels, down to one pixel.
inline constexpr unsigned kMaxFusedLevels = 7;

/// Side and levels of an image whose levels one block computes.
inline constexpr unsigned kSmallSide = 64;
inline constexpr unsigned kMaxSmallLevels = 6;

/// Returns true if levels consist of 2D images: layers or faces are not halved.
[[nodiscard]] bool has_images(ArrayKind kind);

/// Returns true if the level above is a single row, so that only its width is halved.
[[nodiscard]] bool is_row(const Step& step);

/// Returns how many levels of images, counted from the first, one CUDA kernel may compute; 0 if it may not compute even
/// the first. Each level must have exactly half the width and half the height of the level above, or all must be rows of
/// exactly half the width, and no two levels may share memory.
[[nodiscard]] std::size_t levels_together(std::span<const Step> steps);

/// Returns how many levels, counted from the first, one block may compute for each slice, whether their sides are even
/// or odd; 0 if the level above is too large.
[[nodiscard]] std::size_t levels_of_small(std::span<const Step> steps);

/// Returns how many levels, counted from the first, share no memory with each other and with what the first step reads;
/// at most kMaxFusedLevels.
[[nodiscard]] std::size_t levels_apart(std::span<const Step> steps);

/// Enqueues levels, counted from the first, with one CUDA kernel that applies the box filter to texels as they are
/// stored. Returns how many levels were enqueued; 0 if the format or the memory of the texels does not allow it.
/// Expects steps that levels_together() allows and that are no rows, and one launch for each of them.
std::size_t enqueue_stored(std::span<const Step> steps, std::span<const detail::Launch> launches);

/// The same for levels of any size and for rows. Takes longer than a launch for each level if levels are large.
std::size_t enqueue_tiles(std::span<const Step> steps, std::span<const detail::Launch> launches);

/// Enqueues one level with a CUDA kernel that applies the box filter to texels as they are stored. Sides of the level
/// above may be odd. Returns false, and does nothing, if the format or the memory of the texels does not allow it.
[[nodiscard]] bool enqueue_level(const Step& step, const detail::Launch& launch);

}  // namespace texton::mip
