#pragma once
// Access to texels as they are stored, for kernels that do not need the texture unit to fetch them.
#include <optional>

#include <texton/pixel_target.h>
#include <texton/texture.h>

namespace texton::detail {

/// Returns the location of the texels of a 2D or layered texture of a CUDA device, with all its layers. Returns nothing
/// if the texture has several levels, if its array has no surfaces, or if a fetch at the center of a texel may return
/// something other than that texel.
[[nodiscard]] std::optional<PixelTarget> stored_texels(const Texture& texture);

/// Returns true if the texels are in a cubemap, whose surfaces cannot be read as layers.
inline bool has_faces(const PixelTarget& texels) { return texels.address == nullptr && is_cube(texels.kind); }

}  // namespace texton::detail
