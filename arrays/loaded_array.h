#pragma once
// Arrays whose texels are loaded while kernels read them.
#include <memory>

#include <texton/array.h>

#include "core/loaded_texels.h"

namespace texton::detail {

/// The maximum width and height of loaded arrays: up to it, no coordinate of a texel's center is rounded to another
/// texel. It exceeds the limits of CUDA.
inline constexpr std::size_t kMaxLoadedSide = std::size_t{1} << 18;

/// Creates an array of the CPU device with these texels, which keeps them alive. It has no memory: only textures can
/// read it.
///
/// Throws Error{overflow} if a side exceeds kMaxLoadedSide, and Error{unsupported} if the device is not a CPU device or
/// the format is planar.
[[nodiscard]] Array loaded_array(const Device& device, const ArrayInfo& info, std::shared_ptr<LoadedTexels> texels);

}  // namespace texton::detail
