#pragma once
// Where the pixels along an axis read, as the texture unit finds it.
#include <cstddef>
#include <span>
#include <vector>

#include "arrays/cpu/texture.h"
#include "arrays/unit/texture_address.h"
#include "kernels/cpu/byte_rows.h"

namespace texton::detail {

/// Of plain fetches at places in the sampler's coordinates; axis 0 is x.
[[nodiscard]] std::vector<AxisTaps> taps_along(const CpuTexture& texture, const TextureView& view, int axis,
                                               std::span<const float> places);

/// Without windows.
[[nodiscard]] ByteColumns columns_of(std::span<const AxisTaps> taps);

[[nodiscard]] inline std::size_t whole_blocks(std::size_t pixels) {
    return (pixels + kByteBlock - 1) / kByteBlock * kByteBlock;
}

/// The border of a texture of 8-bit fractions as its texels are stored.
[[nodiscard]] std::uint32_t border_word(const CpuTexture& texture);

/// The texels of a row of level 0; `layer` as fetches take it.
[[nodiscard]] const unsigned char* texels_of_row(const TextureView& view, std::int32_t layer, std::int32_t y);

}  // namespace texton::detail
