#pragma once
// Texels as floats: what conversions by value and interpolation compute with.
#include <cstddef>
#include <span>

#include <texton/format.h>

namespace texton::detail {

/// Returns true if the channels are numbers: unorm, snorm, srgb or floats, in a plain format or in bit fields.
[[nodiscard]] bool has_values(Format format) noexcept;

/// Converts texels to floats, channel by channel. `decode`: colors are sRGB-encoded and become linear.
void to_floats(Format format, bool decode, const std::byte* texels, std::span<float> values);

/// Stores floats as texels. unorm and srgb clamp to 0 to 1, and snorm to -1 to 1. They take the nearest code; halves are
/// rounded away from zero, and NaN becomes 0. float16 takes the nearest value; ties go to the even code. `encode`: colors
/// are linear and become sRGB-encoded. The floats are changed.
void store_floats(std::span<float> values, Format format, bool encode, std::byte* texels);

}  // namespace texton::detail
