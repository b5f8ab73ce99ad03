// Counts of the keys of values on a CUDA device. The counters are too many for shared memory. So that few threads add to
// the same counter, the threads of a warp whose values have the same half add once.
#include "kernels/cuda/key_counts.h"

#include "kernels/functors/neighborhood.h"

namespace texton::detail {
namespace {

template <int channels>
__global__ void __launch_bounds__(StatisticsTiles::kTexels)
    count_keys(cudaTextureObject_t texture, const StatisticsSource from, const TileGrid tiles,
               const __grid_constant__ KeyHalf half, KeyCounts* counts) {
    const HardwareSource source(from.shape, texture);
    const NumberedTexels texels{from.layered};
    const unsigned column = blockIdx.x % tiles.across;
    const unsigned row = blockIdx.x / tiles.across % tiles.down;
    const auto x = static_cast<std::int32_t>(column * StatisticsTiles::kWidth + threadIdx.x % 32);
    const auto y = static_cast<std::int32_t>(row * StatisticsTiles::kHeight + threadIdx.x / 32);
    const auto z = static_cast<std::int32_t>(blockIdx.x / tiles.across / tiles.down);
    const bool inside = x < from.shape.width && y < from.shape.height;
    const unsigned all = __ballot_sync(0xffffffff, inside);
    if (!inside) return;
    const Float4 texel = texels(source, z, x, y);
    const float values[4] = {texel.x, texel.y, texel.z, texel.w};
#pragma unroll
    for (int c = 0; c < channels; ++c) {
        std::uint32_t counter;
        const bool counted = half.counts(values[c], c, counter);
        const unsigned counting = __ballot_sync(all, counted);
        if (!counted) continue;
        const unsigned same = __match_any_sync(counting, counter);
        if (threadIdx.x % 32 == static_cast<unsigned>(__ffs(static_cast<int>(same))) - 1)
            atomicAdd(&counts->of[c][counter], static_cast<std::uint32_t>(__popc(same)));
    }
}

}  // namespace

const void* count_keys_kernel(int channels) {
    switch (channels) {
        case 1: return reinterpret_cast<const void*>(&count_keys<1>);
        case 2: return reinterpret_cast<const void*>(&count_keys<2>);
        case 3: return reinterpret_cast<const void*>(&count_keys<3>);
        default: return reinterpret_cast<const void*>(&count_keys<4>);
    }
}

}  // namespace texton::detail
