#pragma once
// The kernel that launch() makes of a functor, for code that nvcc compiles.
#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <texton/cuda_store.h>
#include <texton/pixel.h>
#include <texton/source.h>

namespace texton::detail {

/// A block of so many threads makes a tile that is as wide, and as many times higher as a thread makes pixels.
inline constexpr unsigned kTileWidth = 32;
inline constexpr unsigned kTileThreadRows = 8;

/// Pixels of a column that a thread makes: it fetches for all of them before it stores the first. A functor that fetches
/// much for each says kPixels = 1.
template <class Functor>
constexpr unsigned pixels_of_thread() {
    if constexpr (requires { Functor::kPixels; }) return Functor::kPixels;
    return 4;
}

/// A picture, and what makes it.
template <class Functor, std::size_t count>
struct PixelJob {
    PixelTarget target;
    Functor functor;
    HardwareSource sources[count != 0 ? count : 1];

    __device__ Float4 operator()(PixelPlace at) const { return call(at, std::make_index_sequence<count>{}); }

private:
    template <std::size_t... index>
    __device__ Float4 call(PixelPlace at, std::index_sequence<index...>) const {
        return functor(at, sources[index]...);
    }
};

/// As many as the arguments of a kernel hold.
template <class Job>
struct PixelJobs {
    static constexpr std::size_t kMost = 32000 / sizeof(Job);
    Job of[kMost];
};

/// store_column(), compiled once for all functors of a file: the many ways to encode would else be most of every kernel.
template <unsigned kCount>
struct PixelColumn {
    uint4 texel[kCount];
};
template <unsigned kCount>
__device__ __noinline__ void store_pixels(const PixelTarget& target, unsigned x, unsigned y,
                                          PixelColumn<kCount> column) {
    store_column(target, x, y, blockIdx.z, kTileThreadRows, column.texel);
}

template <unsigned kRows, class Job>
__device__ void make_column(const Job& job) {
    const PixelTarget& target = job.target;
    const unsigned across = (target.width + kTileWidth - 1) / kTileWidth;
    const unsigned x = blockIdx.x % across * kTileWidth + threadIdx.x;
    const unsigned y = blockIdx.x / across * (kTileThreadRows * kRows) + threadIdx.y;
    if (x >= target.width || y >= target.height || blockIdx.z >= target.depth) return;
    PixelColumn<kRows> column;
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
        const PixelPlace place{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y + row * kTileThreadRows),
                               static_cast<std::int32_t>(blockIdx.z)};
        const Texel texel = texel_of(job(place), target.format.stored);
        column.texel[row] = make_uint4(texel.channel[0], texel.channel[1], texel.channel[2], texel.channel[3]);
    }
    store_pixels(target, x, y, column);
}

/// A block a tile: tiles row by row in x, slices in z.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows) for_each_pixel(const __grid_constant__ Job job) {
    make_column<kRows>(job);
}

/// The same, a job for each block in y.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_pixel_of_jobs(const __grid_constant__ PixelJobs<Job> jobs) {
    make_column<kRows>(jobs.of[blockIdx.y]);
}

}  // namespace texton::detail
