#pragma once
// The kernel that launch() makes of a functor, for code that nvcc compiles.
#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <texton/cuda_store.h>
#include <texton/pixel.h>
#include <texton/pixel_target.h>
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
    if constexpr (requires { Functor::kSlices; }) return 1;
    return 4;
}

/// A functor that has kSlices shares work between as many slices, and between places that are mirrored in x, in y and in both:
/// a thread makes all of them. Besides a pixel of any slice it makes, with the same bits, what they share at a place, and from
/// that their pixels there or at a mirrored place:
///     Shared shared(PixelPlace at) const
///     void slices(const Shared& shared, bool mirror_x, bool mirror_y, sources..., Float4 (&pixels)[kSlices]) const
template <class Functor>
constexpr unsigned slices_of_thread() {
    if constexpr (requires { Functor::kSlices; }) return Functor::kSlices;
    return 1;
}

template <class Functor>
constexpr BlockTile tile_of_block() {
    if constexpr (slices_of_thread<Functor>() != 1)
        return {2 * kTileWidth, 2 * kTileThreadRows, slices_of_thread<Functor>()};
    return {kTileWidth, kTileThreadRows * pixels_of_thread<Functor>(), 1};
}

/// A picture, and what makes it.
template <class Functor, std::size_t count>
struct PixelJob {
    PixelTarget target;
    Functor functor;
    HardwareSource sources[count != 0 ? count : 1];

    static constexpr unsigned kSlices = slices_of_thread<Functor>();

    __device__ Float4 operator()(PixelPlace at) const { return call(at, std::make_index_sequence<count>{}); }
    template <class Shared>
    __device__ void slices(const Shared& shared, bool mirror_x, bool mirror_y, Float4 (&pixels)[kSlices]) const {
        call_slices(shared, mirror_x, mirror_y, pixels, std::make_index_sequence<count>{});
    }

private:
    template <std::size_t... index>
    __device__ Float4 call(PixelPlace at, std::index_sequence<index...>) const {
        return functor(at, sources[index]...);
    }
    template <class Shared, std::size_t... index>
    __device__ void call_slices(const Shared& shared, bool mirror_x, bool mirror_y, Float4 (&pixels)[kSlices],
                                std::index_sequence<index...>) const {
        functor.slices(shared, mirror_x, mirror_y, sources[index]..., pixels);
    }
};

/// As many as the arguments of a kernel hold.
template <class Job>
struct PixelJobs {
    static constexpr std::size_t kMost = 32000 / sizeof(Job);
    Job of[kMost];
};

template <unsigned kCount>
struct PixelColumn {
    float4 color[kCount];
};
__device__ inline float4 packed(const Float4& color) { return make_float4(color.x, color.y, color.z, color.w); }

/// What texel_of() makes of the colours is stored by functions that are compiled once for all functors of a file: the many
/// ways to encode would else be most of every kernel.
template <unsigned kCount>
__device__ void texels_of(const PixelTarget& target, const PixelColumn<kCount>& pixels, uint4 (&texels)[kCount]) {
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
        const float4 color = pixels.color[i];
        const Texel texel = texel_of({color.x, color.y, color.z, color.w}, target.format.stored);
        texels[i] = make_uint4(texel.channel[0], texel.channel[1], texel.channel[2], texel.channel[3]);
    }
}

template <unsigned kCount>
__device__ __noinline__ void store_pixels(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                          PixelColumn<kCount> column) {
    uint4 texels[kCount];
    texels_of(target, column, texels);
    store_column(target, x, y, z, kTileThreadRows, texels);
}

template <unsigned kCount>
__device__ __noinline__ void store_pixels_of_slices(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                                    PixelColumn<kCount> pixels) {
    uint4 texels[kCount];
    texels_of(target, pixels, texels);
    store_slices(target, x, y, z, texels);
}

/// Of a place in the upper left quarter, and those that mirror it.
template <class Job>
__device__ void make_slices(const Job& job) {
    const PixelTarget& target = job.target;
    const unsigned width = (target.width + 1) / 2;
    const unsigned across = (width + kTileWidth - 1) / kTileWidth;
    const unsigned x = blockIdx.x % across * kTileWidth + threadIdx.x;
    const unsigned y = blockIdx.x / across * kTileThreadRows + threadIdx.y;
    const unsigned z = blockIdx.z * Job::kSlices;
    if (x >= width || y >= (target.height + 1) / 2) return;
    const auto shared =
        job.functor.shared({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z)});
#pragma unroll 1
    for (unsigned mirror = 0; mirror < 4; ++mirror) {
        const bool mirror_x = mirror % 2 != 0;
        const bool mirror_y = mirror / 2 != 0;
        const unsigned to_x = mirror_x ? target.width - 1 - x : x;
        const unsigned to_y = mirror_y ? target.height - 1 - y : y;
        if ((mirror_x && to_x == x) || (mirror_y && to_y == y)) continue;
        Float4 pixels[Job::kSlices];
        job.slices(shared, mirror_x, mirror_y, pixels);
        PixelColumn<Job::kSlices> colors;
#pragma unroll
        for (unsigned i = 0; i < Job::kSlices; ++i) colors.color[i] = packed(pixels[i]);
        store_pixels_of_slices(target, to_x, to_y, z, colors);
    }
}

template <unsigned kRows, class Job>
__device__ void make_column(const Job& job, unsigned x, unsigned y) {
    PixelColumn<kRows> column;
#pragma unroll
    for (unsigned row = 0; row < kRows; ++row) {
        const PixelPlace place{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y + row * kTileThreadRows),
                               static_cast<std::int32_t>(blockIdx.z)};
        column.color[row] = packed(job(place));
    }
    store_pixels(job.target, x, y, blockIdx.z, column);
}

template <unsigned kRows, class Job>
__device__ void make_pixels(const Job& job) {
    if constexpr (Job::kSlices != 1) {
        make_slices(job);
    } else {
        const PixelTarget& target = job.target;
        const unsigned across = (target.width + kTileWidth - 1) / kTileWidth;
        const unsigned x = blockIdx.x % across * kTileWidth + threadIdx.x;
        const unsigned y = blockIdx.x / across * (kTileThreadRows * kRows) + threadIdx.y;
        if (x < target.width && y < target.height && blockIdx.z < target.depth) make_column<kRows>(job, x, y);
    }
}

/// A block a tile: tiles row by row in x, slices in z.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows) for_each_pixel(const __grid_constant__ Job job) {
    make_pixels<kRows>(job);
}

/// The same, a job for each block in y.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_pixel_of_jobs(const __grid_constant__ PixelJobs<Job> jobs) {
    make_pixels<kRows>(jobs.of[blockIdx.y]);
}

}  // namespace texton::detail
