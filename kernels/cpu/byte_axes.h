#pragma once
// The texels that the pixels along an axis read, determined as the texture unit does.
#include <cstddef>
#include <span>
#include <vector>

#include "arrays/cpu/texture.h"
#include "arrays/unit/texture_address.h"
#include "kernels/cpu/byte_rows.h"

namespace texton::detail {

/// Returns the taps of plain fetches at `positions`, which are in the sampler's coordinates. Axis 0 is x.
[[nodiscard]] std::vector<AxisTaps> taps_along(const CpuTexture& texture, const TextureView& view, int axis,
                                               std::span<const float> positions);

/// Returns the columns for these taps, without windows.
[[nodiscard]] ByteColumns columns_of(std::span<const AxisTaps> taps);

[[nodiscard]] inline std::size_t whole_blocks(std::size_t pixels) {
    return (pixels + kByteBlock - 1) / kByteBlock * kByteBlock;
}

/// Returns the border color of a texture of an 8-bit normalized format, stored like its texels.
[[nodiscard]] std::uint32_t border_word(const CpuTexture& texture);

/// Returns the texels of a row of level 0. `layer` is clamped as in a fetch.
[[nodiscard]] const unsigned char* texels_of_row(const TextureView& view, std::int32_t layer, std::int32_t y);

}  // namespace texton::detail
