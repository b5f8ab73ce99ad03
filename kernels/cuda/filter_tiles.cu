// Neighborhood filters: a block fetches its tile and the texels around it into shared memory, where the functor reads
// them.
#include <texton/cuda_pixels.h>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/median_values.h"
#include "kernels/functors/filter_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::filters {
namespace {

constexpr unsigned kRows = 2;  // number of pixels of a thread
constexpr unsigned kWidth = detail::kTileWidth;
constexpr unsigned kHeight = detail::kTileThreadRows * kRows;

template <int channels>
struct alignas(4 * channels) Value {
    float channel[channels];
};

/// The texels of a tile in shared memory, accessed by their positions in the texture.
template <int channels>
struct TileSource {
    const Value<channels>* texels;
    std::int32_t pitch;
    std::int32_t left;
    std::int32_t top;

    __device__ Float4 numbered(std::int32_t x, std::int32_t y) const {
        const Value<channels> value = texels[(y - top) * pitch + x - left];
        if constexpr (channels == 1) return {value.channel[0], 0, 0, 0};
        if constexpr (channels == 2) return {value.channel[0], value.channel[1], 0, 0};
        if constexpr (channels == 4) return {value.channel[0], value.channel[1], value.channel[2], value.channel[3]};
    }
};

/// `plain` is true if no value of the tile is NaN or a negative zero.
template <class Source>
__device__ Float4 value_of(const Bilateral& filter, PixelPosition at, const Source& source, bool) {
    return filter(at, source);
}
template <int side, class Source>
__device__ Float4 value_of(const Median<side>& filter, PixelPosition at, const Source& source, bool plain) {
    return plain ? filter.in_order(at, source, ByMinimum{}) : filter(at, source);
}

template <class Functor>
struct Job {
    detail::PixelTarget target;
    HardwareSource source;
    Functor functor;
    std::int32_t radius;
};

template <int channels, class Functor>
__global__ void __launch_bounds__(kWidth* detail::kTileThreadRows)
    filter_tile(const __grid_constant__ Job<Functor> job) {
    extern __shared__ float4 memory[];
    auto* texels = reinterpret_cast<Value<channels>*>(memory);
    const unsigned across = (job.target.width + kWidth - 1) / kWidth;
    const auto x = static_cast<std::int32_t>(blockIdx.x % across * kWidth);
    const auto y = static_cast<std::int32_t>(blockIdx.x / across * kHeight);
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const auto width = static_cast<std::int32_t>(kWidth) + 2 * job.radius;
    const auto height = static_cast<std::int32_t>(kHeight) + 2 * job.radius;
    bool special = false;
    for (auto j = static_cast<std::int32_t>(threadIdx.y); j < height; j += detail::kTileThreadRows) {
        for (auto i = static_cast<std::int32_t>(threadIdx.x); i < width; i += kWidth) {
            const Float4 texel = job.functor.texels(job.source, z, x + i - job.radius, y + j - job.radius);
            const float all[4] = {texel.x, texel.y, texel.z, texel.w};
            Value<channels> value;
#pragma unroll
            for (int c = 0; c < channels; ++c) {
                value.channel[c] = all[c];
                special |= is_special(all[c]);
            }
            texels[j * width + i] = value;
        }
    }
    const bool plain = __syncthreads_or(special) == 0;
    const PixelPosition first{x + static_cast<std::int32_t>(threadIdx.x), y + static_cast<std::int32_t>(threadIdx.y),
                              z};
    if (static_cast<unsigned>(first.x) >= job.target.width || static_cast<unsigned>(first.y) >= job.target.height)
        return;
    const TileSource<channels> source{texels, width, x - job.radius, y - job.radius};
    detail::PixelColumn<kRows> pixels;
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
        PixelPosition at = first;
        at.y += static_cast<std::int32_t>(row * detail::kTileThreadRows);
        pixels.color[row] = detail::packed(value_of(job.functor, at, source, plain));
    }
    detail::store_pixels<detail::kTileThreadRows>(job.target, static_cast<unsigned>(first.x),
                                                  static_cast<unsigned>(first.y), blockIdx.z, pixels);
}

template <int channels, class Functor>
bool enqueue_tiles(const detail::Launch& launch, const Functor& functor, std::int32_t radius) {
    const auto side = [&](unsigned pixels) { return pixels + 2 * static_cast<unsigned>(radius); };
    const unsigned bytes = side(kWidth) * side(kHeight) * sizeof(Value<channels>);
    if (detail::blocks_at_once(launch, kWidth * detail::kTileThreadRows, bytes) == 0) return false;
    const detail::PixelTarget& target = launch.target();
    Job<Functor> job{target, HardwareSource(launch.shape(0), launch.handle(0)), functor, radius};
    void* arguments[] = {&job};
    const auto tiles = [](unsigned pixels, unsigned tile) { return (pixels + tile - 1) / tile; };
    detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&filter_tile<channels, Functor>), arguments,
                          {{tiles(target.width, kWidth) * tiles(target.height, kHeight), 1, target.depth},
                           {kWidth, detail::kTileThreadRows},
                           bytes});
    return true;
}

template <class Functor>
bool enqueue_with(const detail::Launch& launch, const Functor& functor, std::int32_t radius) {
    switch (detail::channels_read(launch.state().textures[0])) {
        case 1: return enqueue_tiles<1>(launch, functor, radius);
        case 2: return enqueue_tiles<2>(launch, functor, radius);
        default: return enqueue_tiles<4>(launch, functor, radius);
    }
}

}  // namespace
}  // namespace texton::filters

namespace texton::detail {

bool CudaKernels::bilateral(Launch& launch, const filters::Bilateral& filter) const {
    return filters::enqueue_with(launch, filter, filter.radius);
}
bool CudaKernels::median(Launch& launch, const filters::Median<3>& filter) const {
    return filters::enqueue_values(launch, filter) || filters::enqueue_with(launch, filter, 1);
}
bool CudaKernels::median(Launch& launch, const filters::Median<5>& filter) const {
    return filters::enqueue_values(launch, filter) || filters::enqueue_with(launch, filter, 2);
}

}  // namespace texton::detail
