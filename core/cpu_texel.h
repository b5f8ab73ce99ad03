#pragma once
// What a point fetch makes of the bits of one texel.
#include <cstddef>

#include <texton/format.h>

namespace texton::detail {

/// Reads one texel and writes x, y, z, w. Channels that the format lacks are 0, a missing w is 1.
using DecodeTexel = void (*)(const std::byte* texel, float* result);

/// Null for block-compressed and planar formats.
[[nodiscard]] DecodeTexel texel_decoder(Format format);

}  // namespace texton::detail
