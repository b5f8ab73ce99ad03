#pragma once
// The arguments of a launch after they were checked and before work is enqueued.
#include <vector>

#include <texton/launch.h>

#include "core/backend.h"
#include "core/backing.h"

namespace texton::detail {

struct LaunchState {
    const char* object;  ///< the name that errors carry
    Stream stream;
    Backend* backend;
    std::vector<Texture> textures;
    MemoryLocation image;
    PixelTarget target;  ///< where a CUDA device writes; unused on the CPU device
};

/// Returns the owners of the memory that must stay allocated until the launch is done: the memory of the image and the
/// memory that the textures read.
[[nodiscard]] std::vector<BackingUse::Owner> owners_of(const LaunchState& launch);

}  // namespace texton::detail
