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

/// A functor that has kSlices shares work between as many slices, and between places that mirror each other: a thread makes
/// all of them. Besides a pixel of any slice it makes, with the same bits, those of a place in the upper left quarter, of that
/// mirrored in x, in y, and in both, in the slices from at.z on:
///     void mirrored(PixelPlace at, sources..., Float4 (&pixels)[4][kSlices]) const
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
    __device__ void mirrored(PixelPlace at, Float4 (&pixels)[4][kSlices]) const {
        call_mirrored(at, pixels, std::make_index_sequence<count>{});
    }

private:
    template <std::size_t... index>
    __device__ Float4 call(PixelPlace at, std::index_sequence<index...>) const {
        return functor(at, sources[index]...);
    }
    template <std::size_t... index>
    __device__ void call_mirrored(PixelPlace at, Float4 (&pixels)[4][kSlices], std::index_sequence<index...>) const {
        functor.mirrored(at, sources[index]..., pixels);
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

/// Tiles from the left and the top of a picture.
struct TilePlace {
    unsigned column;
    unsigned row;
};

/// How pixels of some slices are stored: in any format and anywhere, or in memory as one that is a constant.
struct AnySlices {
    template <unsigned kCount>
    __device__ static void store(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                 const Float4 (&pixels)[kCount]) {
        PixelColumn<kCount> colors;
#pragma unroll
        for (unsigned i = 0; i < kCount; ++i) colors.color[i] = packed(pixels[i]);
        store_pixels_of_slices(target, x, y, z, colors);
    }
};
template <Encoding encoding, int bits>
struct SlicesOf {
    template <unsigned kCount>
    __device__ static void store(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                 const Float4 (&pixels)[kCount]) {
        TexelFormat stored = target.format.stored;
        stored.encoding = encoding;
        uint4 texels[kCount];
#pragma unroll
        for (unsigned i = 0; i < kCount; ++i) {
            const Texel texel = texel_of(pixels[i], stored);
            texels[i] = make_uint4(texel.channel[0], texel.channel[1], texel.channel[2], texel.channel[3]);
        }
        store_run_as<encoding, bits>(target.format,
                                     {pixel_address(target, x, y, z), target.slice_pitch, target.depth - z}, texels);
    }
};

/// Of a place in the upper left quarter, and those that mirror it.
template <class Slices, class Job>
__device__ void make_slices(const Job& job, const TilePlace& tile) {
    const PixelTarget& target = job.target;
    const unsigned x = tile.column * kTileWidth + threadIdx.x;
    const unsigned y = tile.row * kTileThreadRows + threadIdx.y;
    const unsigned z = blockIdx.z * Job::kSlices;
    if (x >= (target.width + 1) / 2 || y >= (target.height + 1) / 2 || z >= target.depth) return;
    Float4 pixels[4][Job::kSlices];
    job.mirrored({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z)}, pixels);
#pragma unroll
    for (unsigned mirror = 0; mirror < 4; ++mirror) {
        const bool mirror_x = mirror % 2 != 0;
        const bool mirror_y = mirror / 2 != 0;
        const unsigned to_x = mirror_x ? target.width - 1 - x : x;
        const unsigned to_y = mirror_y ? target.height - 1 - y : y;
        if ((mirror_x && to_x == x) || (mirror_y && to_y == y)) continue;
        Slices::store(target, to_x, to_y, z, pixels[mirror]);
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
__device__ void make_pixels(const Job& job, const TilePlace& tile) {
    if constexpr (Job::kSlices != 1) {
        make_slices<AnySlices>(job, tile);
    } else {
        const PixelTarget& target = job.target;
        const unsigned x = tile.column * kTileWidth + threadIdx.x;
        const unsigned y = tile.row * (kTileThreadRows * kRows) + threadIdx.y;
        if (x < target.width && y < target.height && blockIdx.z < target.depth) make_column<kRows>(job, x, y);
    }
}

/// A block a tile: in x and y, from a row of tiles on, slices in z. Tiles one after the other in x would take a division, for
/// which a thread's first fetch would wait.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_pixel(const __grid_constant__ Job job, unsigned first_row) {
    make_pixels<kRows>(job, {blockIdx.x, first_row + blockIdx.y});
}

/// The same of slices alone. It waits for fetches: with a few registers more there would be a block less at once.
template <class Slices, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows, 5)
    for_each_place_of_slices(const __grid_constant__ Job job, unsigned first_row) {
    make_slices<Slices>(job, {blockIdx.x, first_row + blockIdx.y});
}

/// The kernel for one launch.
template <unsigned kRows, class Job>
const void* kernel_of(const PixelTarget& target) {
    if constexpr (Job::kSlices != 1) {
        const TexelFormat& stored = target.format.stored;
        const auto is = [&](Encoding encoding, int bits) {
            return stored.encoding == encoding && stored.bits == bits && stored.packing == Packing::plain &&
                   target.address != nullptr && target.aligned;
        };
        if (is(Encoding::unorm, 8))
            return reinterpret_cast<const void*>(&for_each_place_of_slices<SlicesOf<Encoding::unorm, 8>, Job>);
        if (is(Encoding::floating, 16))
            return reinterpret_cast<const void*>(&for_each_place_of_slices<SlicesOf<Encoding::floating, 16>, Job>);
        if (is(Encoding::floating, 32))
            return reinterpret_cast<const void*>(&for_each_place_of_slices<SlicesOf<Encoding::floating, 32>, Job>);
    }
    return reinterpret_cast<const void*>(&for_each_pixel<kRows, Job>);
}

/// A job for each block in y, whose tiles are one after the other in x.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_pixel_of_jobs(const __grid_constant__ PixelJobs<Job> jobs) {
    const Job& job = jobs.of[blockIdx.y];
    constexpr unsigned kPlaces = Job::kSlices != 1 ? 2 * kTileWidth : kTileWidth;
    const unsigned across = (job.target.width + kPlaces - 1) / kPlaces;
    make_pixels<kRows>(job, {blockIdx.x % across, blockIdx.x / across});
}

}  // namespace texton::detail
