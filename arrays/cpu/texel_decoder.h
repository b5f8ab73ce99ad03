#pragma once
// The model's decoding of single texels, compiled for each format by itself: several times as fast as with the format looked at
// anew for each texel.
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// What a point fetch makes of the texel stored there.
using TexelDecoder = Texel (*)(const unsigned char* stored);

/// Null for block-compressed formats.
[[nodiscard]] TexelDecoder texel_decoder(const TexelFormat& format) noexcept;

}  // namespace texton::detail
