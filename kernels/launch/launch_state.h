#pragma once
// A launch between its checks and its work.
#include <vector>

#include <texton/launch.h>

#include "core/backend.h"
#include "core/backing.h"

namespace texton::detail {

struct LaunchState {
    const char* object;  ///< whose name errors carry
    Stream stream;
    Backend* backend;
    std::vector<Texture> textures;
    Place picture;
    PixelTarget target;  ///< of a CUDA device
};

/// What must stay in memory until the launch is done: the image and what the textures read.
[[nodiscard]] std::vector<BackingUse::Owner> owners_of(const LaunchState& launch);

}  // namespace texton::detail
