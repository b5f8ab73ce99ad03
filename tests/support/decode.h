#pragma once
#include <array>
#include <cstdint>
#include <span>

#include <texton/format.h>

namespace texton::test {

/// True if decode() supports the format: every plain and packed format except sRGB, because the texture unit has its
/// own table for the sRGB curve.
[[nodiscard]] bool can_decode(Format format);

/// Returns the channels of one stored texel as a point fetch does: the bits of floats, or integers. Follows the
/// definition of the formats: unorm is code / largest code, rounded once.
[[nodiscard]] std::array<std::uint32_t, 4> decode(Format format, std::span<const std::byte> texel);

}  // namespace texton::test
