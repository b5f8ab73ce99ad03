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
    return ValueStrips{*texels, target, texture.kind() == ArrayKind::layered_2d, 0, false};
}

}  // namespace texton::detail
