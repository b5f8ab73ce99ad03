#pragma once
#include <array>
#include <cstdint>
#include <span>

#include <texton/format.h>

namespace texton::test {

/// True for the formats that decode() knows: all of plain and packed texels but sRGB, whose curve the texture unit has in a table.
[[nodiscard]] bool can_decode(Format format);

/// The channels of one stored texel as a point fetch returns them: bits of floats, or integers. From the formats' definition:
/// unorm is code / largest code, rounded once.
[[nodiscard]] std::array<std::uint32_t, 4> decode(Format format, std::span<const std::byte> texel);

}  // namespace texton::test
