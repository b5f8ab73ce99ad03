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

/// Threads of a block; texton/cuda_pixels.h has the same numbers.
inline constexpr unsigned kTileSide = 32;
inline constexpr unsigned kTileThreadRows = 8;

/// Blocks of threads.
struct LaunchGrid {
    unsigned across;
    unsigned down;
    unsigned slices;
};

/// Of a CUDA device.
[[nodiscard]] PixelTarget target_on_cuda(const Place& picture);
void launch_on_cuda(const LaunchState& launch, const void* kernel, void* job, const LaunchGrid& grid);

}  // namespace texton::detail
