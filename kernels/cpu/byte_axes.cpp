#include "kernels/cpu/byte_axes.h"

#include <algorithm>

#include "arrays/unit/footprint.h"

namespace texton::detail {

std::vector<AxisTaps> taps_along(const CpuTexture& texture, const TextureView& view, int axis,
                                 std::span<const float> positions) {
    return RowSampler(view, texture.sampler).taps(axis, positions);
}

ByteColumns columns_of(std::span<const AxisTaps> taps) {
    const std::size_t count = whole_blocks(taps.size());
    ByteColumns columns;
    columns.left.resize(count);
    columns.right.resize(count);
    columns.shares.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        const AxisTaps& of_pixel = i < taps.size() ? taps[i] : taps.back();
        columns.left[i] = of_pixel.texel[0];
        columns.right[i] = of_pixel.texel[1];
        columns.shares[i] = static_cast<std::uint32_t>(of_pixel.weight) * 0x10001U;
    }
    return columns;
}

std::uint32_t border_word(const CpuTexture& texture) {
    std::uint32_t word = 0;
    for (int c = 0; c < texture.format.channels; ++c) {
        const Lane lane = border_lane(texture.sampler.border[c], texture.format, c);
        word |= static_cast<std::uint32_t>(lane.mantissa / 257) << 8 * c;
    }
    return word;
}

const unsigned char* texels_of_row(const TextureView& view, std::int32_t layer, std::int32_t y) {
    const LevelView& level = view.levels[0];
    const std::int32_t slice = is_layered(view.kind) ? clamp_layer(layer, level.depth) : 0;
    return level.data + slice * level.slice_pitch + y * level.row_pitch;
}

}  // namespace texton::detail
