#pragma once
// Decoding of single texels by the model, compiled separately for each format. This is several times as fast as a
// function that examines the format for each texel.
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Returns the result of a point fetch of the texel that is stored at `stored`.
using TexelDecoder = Texel (*)(const unsigned char* stored);

/// Returns the decoder of a format, or null for block-compressed formats.
[[nodiscard]] TexelDecoder texel_decoder(const TexelFormat& format) noexcept;

}  // namespace texton::detail
