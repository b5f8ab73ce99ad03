#pragma once
// A launch between its checks and its work.
#include <vector>

#include <texton/launch.h>

#include "core/backend.h"

namespace texton::detail {

struct LaunchState {
    const char* object;
    Stream stream;
    Backend* backend;
    std::vector<Texture> textures;
    Place picture;
    PixelTarget target;
};

/// Of a CUDA device.
[[nodiscard]] PixelTarget target_on_cuda(const Place& picture);
void launch_on_cuda(const LaunchState& launch, const void* kernel, void** arguments, unsigned rows);

}  // namespace texton::detail
