#pragma once
// The alpha channel of texels whose file has three channels.
#include <cstddef>
#include <span>

#include <texton/format.h>

namespace texton::detail {

/// Sets the last of four channels to one: the maximum code value of unorm, snorm and srgb, and 1 for other formats.
void set_alpha_to_one(Format format, std::span<std::byte> texels);
/// Returns true if the last of four channels has the value in all texels that readers add to files of three channels.
[[nodiscard]] bool has_alpha_of_one(Format format, std::span<const std::byte> texels);
/// Copies the first three of four channels.
void copy_colors(Format format, std::span<const std::byte> texels, std::byte* colors);

}  // namespace texton::detail
