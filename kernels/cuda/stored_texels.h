#pragma once
// Texels as they are stored, for kernels that need not have them fetched one by one.
#include <optional>

#include <texton/pixel_target.h>
#include <texton/texture.h>

namespace texton::detail {

/// Where the texels of a 2D or layered texture of a CUDA device lie, all its layers. Nothing where it has several levels,
/// where no surface reads them, and where a fetch at the middle of a texel may return something else than that texel.
[[nodiscard]] std::optional<PixelTarget> stored_texels(const Texture& texture);

}  // namespace texton::detail
