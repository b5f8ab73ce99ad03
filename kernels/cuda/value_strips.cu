#include "kernels/cuda/value_strips.h"

#include "arrays/texture_state.h"
#include "kernels/cuda/stored_texels.h"

namespace texton::detail {

std::optional<ValueStrips> value_strips(const Launch& launch) {
    const Texture& texture = launch.state().textures[0];
    const Sampler& sampler = texture.sampler();
    const PixelTarget& target = launch.target();
    if (target.address == nullptr || !target.aligned || sampler.address[0] != AddressMode::clamp ||
        sampler.address[1] != AddressMode::clamp)
        return std::nullopt;
    const std::optional<PixelTarget> texels = stored_texels(texture);
    if (!texels || texels->format.stored != target.format.stored || has_faces(*texels)) return std::nullopt;
    const TexelFormat& format = target.format.stored;
    const std::size_t word = kValues * std::size_t{format.bytes} / format.channels;
    const bool stores_words =
        (reinterpret_cast<std::uintptr_t>(target.address) | target.pitch | target.slice_pitch) % word == 0;
    return ValueStrips{*texels, target, stored_in(*texels), texture.kind() == ArrayKind::layered_2d,
                       0,       false,  stores_words};
}

}  // namespace texton::detail
