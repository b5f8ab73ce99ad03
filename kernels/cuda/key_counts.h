#pragma once
// The CUDA kernel that counts keys, declared for the code that launches it, which the host compiler compiles.
#include "kernels/cuda/statistics.h"
#include "kernels/functors/key_counts.h"

namespace texton::detail {

/// Returns the CUDA kernel for this number of channels. Its parameters are the texture's handle, StatisticsSource,
/// TileGrid, KeyHalf and KeyCounts*. A block of StatisticsTiles::kTexels threads processes one tile.
[[nodiscard]] const void* count_keys_kernel(int channels);

}  // namespace texton::detail
