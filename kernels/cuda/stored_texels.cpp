#include "kernels/cuda/stored_texels.h"

#include "arrays/array_block.h"
#include "arrays/cuda/sampling.h"
#include "arrays/texture_state.h"
#include "arrays/unit/texel_format.h"
#include "core/cuda/array.h"

namespace texton::detail {
namespace {

/// Returns true if a fetch at the center of a texel returns that texel. The texture unit truncates normalized
/// coordinates to 21 bits, so they may miss the center, which changes the result of a linear filter.
bool meets_texels(const Sampler& sampler) { return sampler.filter == Filter::point || !sampler.normalized_coordinates; }

}  // namespace

std::optional<PixelTarget> stored_texels(const Texture& texture) {
    const TextureState& state = *texture.state();
    if (state.levels != 1 || !meets_texels(state.sampler)) return std::nullopt;
    if (state.source != TextureSource::array) return cuda_pixel_target(state.memory);
    if (state.block == nullptr) return std::nullopt;
    const auto& block = static_cast<const ArrayBlock&>(*state.block);
    if (!cuda_array(block.handle).has_surfaces) return std::nullopt;
    PixelTarget target = cuda_pixel_target(location_of(block, state.first_level));
    target.offset[2] += static_cast<std::int32_t>(state.first_layer);
    target.depth = static_cast<std::uint32_t>(state.layers);
    target.format.stored = texel_format(state.format);
    return target;
}

}  // namespace texton::detail
