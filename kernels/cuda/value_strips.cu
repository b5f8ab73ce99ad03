#include "kernels/cuda/value_strips.h"

#include "arrays/texture_state.h"
#include "kernels/cuda/stored_texels.h"

namespace texton::detail {

std::optional<ValueStrips> value_strips(const Launch& launch) {
    const Texture& texture = launch.state().textures[0];
    const Sampler& sampler = texture.sampler();
    const PixelTarget& target = launch.target();
    if (target.address == nullptr || sampler.address[0] != AddressMode::clamp ||
        sampler.address[1] != AddressMode::clamp)
        return std::nullopt;
    const std::optional<PixelTarget> texels = stored_texels(texture);
    if (!texels || texels->format.stored != target.format.stored || has_faces(*texels)) return std::nullopt;
    return ValueStrips{*texels, target, texture.kind() == ArrayKind::layered_2d, 0};
}

std::int32_t rows_of_strips(const PixelTarget& target, unsigned across) {
    constexpr unsigned kEnoughBlocks = 1024;  // for the largest GPUs
    constexpr unsigned kMaxRows = 64;
    constexpr unsigned kMinRows = 8;
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    const auto blocks = [&](unsigned rows) {
        return parts(target.width * target.format.stored.channels, across) * parts(target.height, rows * kStripWarps);
    };
    unsigned rows = kMaxRows;
    while (rows > kMinRows && blocks(rows) * target.depth < kEnoughBlocks) rows /= 2;
    return static_cast<std::int32_t>(rows);
}

}  // namespace texton::detail
