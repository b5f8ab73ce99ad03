#pragma once
// The CUDA kernels that launch() instantiates for a functor. For code that nvcc compiles.
#include <cstddef>
#include <utility>

#include <cuda_runtime.h>

#include <texton/cuda_store.h>
#include <texton/pixel.h>
#include <texton/pixel_target.h>
#include <texton/source.h>

namespace texton::detail {

/// Threads of a block along a row and along a column. The tile of a block has the same width; its height is
/// kTileThreadRows multiplied by the number of pixels per thread.
inline constexpr unsigned kTileWidth = 32;
inline constexpr unsigned kTileThreadRows = 8;

/// Returns the number of pixels of a column that a thread computes. The thread fetches for all of them before it stores
/// the first. A functor with many fetches per pixel declares kPixels = 1.
template <class Functor>
constexpr unsigned pixels_of_thread() {
    if constexpr (requires { Functor::kPixels; }) return Functor::kPixels;
    if constexpr (requires { Functor::kSlices; }) return 1;
    return 4;
}

/// Returns the number of slices that a thread computes together. A functor that declares kSlices shares work between
/// this many slices and between mirrored positions. In addition to operator() it has the function
///     void mirrored(PixelPosition at, sources..., Float4 (&pixels)[4][kSlices]) const
/// For a position in the upper left quarter, this function computes the pixels at that position, at the position
/// mirrored in x, in y, and in both, in the kSlices slices from at.z on. The bits must be the same as those of
/// operator().
template <class Functor>
constexpr unsigned slices_of_thread() {
    if constexpr (requires { Functor::kSlices; }) return Functor::kSlices;
    return 1;
}

/// Returns true if the functor declares kDrafts = true. Then it has the function
///     Float4 draft(PixelPosition at, bool& done, sources...) const
/// which computes a pixel without the branches that pixels rarely take, or sets `done` to false. The drafts of all
/// pixels of a thread run first, so that their fetches overlap; then operator() computes the pixels that are not done.
template <class Functor>
constexpr bool has_drafts() {
    if constexpr (requires { Functor::kDrafts; }) return Functor::kDrafts;
    return false;
}

template <class Functor>
constexpr BlockTile tile_of_block() {
    if constexpr (slices_of_thread<Functor>() != 1)
        return {2 * kTileWidth, 2 * kTileThreadRows, slices_of_thread<Functor>()};
    return {kTileWidth, kTileThreadRows * pixels_of_thread<Functor>(), 1};
}

/// Returns true if the fetches of a source return integers.
template <std::size_t count>
__device__ bool have_integers(const HardwareSource (&sources)[count]) {
    bool found = false;
#pragma unroll
    for (std::size_t i = 0; i < count; ++i) found |= sources[i].integers;
    return found;
}

/// Copies of sources of which the compiler knows that their fetches return floats. A branch on the kind of the values
/// after a fetch would wait for it, so that fetches would not overlap.
template <std::size_t count>
struct FloatSources {
    HardwareSource of[count];

    __device__ explicit FloatSources(const HardwareSource (&sources)[count])
        : FloatSources(sources, std::make_index_sequence<count>{}) {}

private:
    template <std::size_t... index>
    __device__ FloatSources(const HardwareSource (&sources)[count], std::index_sequence<index...>)
        : of{sources[index]...} {
#pragma unroll
        for (std::size_t i = 0; i < count; ++i) of[i].integers = false;
    }
};

/// A destination image, the functor that computes it, and the functor's sources.
template <class Functor, std::size_t count>
struct PixelJob {
    PixelTarget target;
    Functor functor;
    HardwareSource sources[count != 0 ? count : 1];

    static constexpr unsigned kSlices = slices_of_thread<Functor>();
    static constexpr bool kDrafts = has_drafts<Functor>();

    __device__ Float4 operator()(PixelPosition at) const {
        return call_with(functor, sources, at, std::make_index_sequence<count>{});
    }
    __device__ Float4 draft(PixelPosition at, bool& done) const {
        return call_draft(at, done, std::make_index_sequence<count>{});
    }
    __device__ void mirrored(PixelPosition at, Float4 (&pixels)[4][kSlices]) const {
        call_mirrored(at, pixels, std::make_index_sequence<count>{});
    }

    __device__ bool has_integers() const { return count != 0 && have_integers(sources); }
    /// Calls `compute` with a function that returns the same as operator(), without a branch on the kind of the values
    /// or on `texel.layered` of the functor: the fetches of several pixels overlap. There must be no sources of
    /// integers.
    template <class Compute>
    __device__ void without_branches(const Compute& compute) const {
        const FloatSources floats(sources);
        const auto compute_with = [&](const Functor& same) {
            compute(
                [&](PixelPosition at) { return call_with(same, floats.of, at, std::make_index_sequence<count>{}); });
        };
        if constexpr (requires(Functor any) { any.texel.layered; }) {
            Functor same = functor;
            if (functor.texel.layered) {
                same.texel.layered = true;  // a constant in the code of this branch
                compute_with(same);
            } else {
                same.texel.layered = false;
                compute_with(same);
            }
        } else {
            compute_with(functor);
        }
    }

private:
    template <std::size_t... index>
    __device__ static Float4 call_with(const Functor& functor, const HardwareSource* sources, PixelPosition at,
                                       std::index_sequence<index...>) {
        return functor(at, sources[index]...);
    }
    template <std::size_t... index>
    __device__ Float4 call_draft(PixelPosition at, bool& done, std::index_sequence<index...>) const {
        return functor.draft(at, done, sources[index]...);
    }
    template <std::size_t... index>
    __device__ void call_mirrored(PixelPosition at, Float4 (&pixels)[4][kSlices], std::index_sequence<index...>) const {
        functor.mirrored(at, sources[index]..., pixels);
    }
};

/// As many jobs as fit into the arguments of a CUDA kernel.
template <class Job>
struct PixelJobs {
    static constexpr std::size_t kMax = 32000 / sizeof(Job);
    Job of[kMax];
};

template <unsigned kCount>
struct PixelColumn {
    float4 color[kCount];
};
__device__ inline float4 packed(const Float4& color) { return make_float4(color.x, color.y, color.z, color.w); }
__device__ inline Float4 unpacked(const float4& color) { return {color.x, color.y, color.z, color.w}; }
__device__ inline uint4 packed(const Texel& texel) {
    return make_uint4(texel.channel[0], texel.channel[1], texel.channel[2], texel.channel[3]);
}

// Functions that store colors in rare formats are not inlined, since the code of the many encodings is long. Each CUDA
// kernel has a copy of those that it uses.

/// Stores a color in any format, in an array or in memory.
__device__ __noinline__ inline void store_color_anywhere(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                                         float4 color) {
    store_pixel_anywhere(target, x, y, z, packed(texel_of(unpacked(color), target.format.stored)));
}

/// Converts colors with texel_of_floats().
template <unsigned kCount>
__device__ void texels_of(const PixelColumn<kCount>& pixels, const TexelFormat& stored, uint4 (&texels)[kCount]) {
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) texels[i] = packed(texel_of_floats(unpacked(pixels.color[i]), stored));
}

/// Stores colors in a format with has_linear_runs().
template <unsigned kCount>
__device__ void store_linear_colors(const PixelFormat& format, const PixelsInMemory& run,
                                    const PixelColumn<kCount>& pixels) {
    uint4 texels[kCount];
    texels_of(pixels, format.stored, texels);
    store_linear_run(format, run, texels);
}

/// Stores colors in a format with has_srgb_runs().
template <unsigned kCount>
__device__ void store_srgb_colors(const PixelFormat& format, const PixelsInMemory& run,
                                  const PixelColumn<kCount>& pixels) {
    uint4 texels[kCount];
    texels_of(pixels, format.stored, texels);
    store_run_as<Encoding::srgb, 8>(format, run, texels);
}

/// Stores pixels as store_pixels() does, in all formats.
template <unsigned step, unsigned kCount>
__device__ __noinline__ void store_pixels_anywhere(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                                   PixelColumn<kCount> pixels) {
    if (has_aligned_pixels(target) && has_srgb_runs(target.format.stored))
        return store_srgb_colors(target.format, pixels_of_column(target, x, y, z, step, kCount), pixels);
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
        if (y + i * step < target.height) store_color_anywhere(target, x, y + i * step, z, pixels.color[i]);
    }
}

/// Stores the pixels (x, y, z), (x, y + step, z), ... that are inside the target. The code of the frequent formats is
/// inlined, because registers would have to be saved for a call: a CUDA kernel calls this once.
template <unsigned step, unsigned kCount>
__device__ void store_pixels(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                             const PixelColumn<kCount>& pixels) {
    if (!has_aligned_pixels(target) || !has_linear_runs(target.format.stored))
        return store_pixels_anywhere<step>(target, x, y, z, pixels);
    store_linear_colors(target.format, pixels_of_column(target, x, y, z, step, kCount), pixels);
}

/// Stores one pixel.
__device__ __noinline__ inline void store_pixel(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                                float4 color) {
    store_pixels<1>(target, x, y, z, PixelColumn<1>{{color}});
}

/// Stores the pixels (x, y, z), (x, y, z + 1), ... that are inside the target.
template <unsigned kCount>
__device__ __noinline__ void store_pixels_of_slices(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                                    PixelColumn<kCount> pixels) {
    const unsigned inside = target.depth - z;
    if (has_aligned_pixels(target)) {
        const PixelsInMemory run{pixel_address(target, x, y, z), target.slice_pitch, inside};
        if (has_linear_runs(target.format.stored)) return store_linear_colors(target.format, run, pixels);
        if (has_srgb_runs(target.format.stored)) return store_srgb_colors(target.format, run, pixels);
    }
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
        if (i < inside) store_color_anywhere(target, x, y, z + i, pixels.color[i]);
    }
}

/// The position of a tile, in tiles from the upper left corner of the image.
struct TilePosition {
    unsigned column;
    unsigned row;
};

/// Stores the pixels of several slices in any format, in memory or in an array.
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
/// Stores the pixels of several slices in memory, in a format that is a compile-time constant.
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

/// Computes the pixels of a position in the upper left quarter and of its mirrored positions.
template <class Slices, class Job>
__device__ void make_slices(const Job& job, const TilePosition& tile) {
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

/// Computes and stores a pixel whose draft was not done. Few pixels need it, so it is not inlined.
template <class Job>
__device__ __noinline__ void finish_pixel(const Job& job, unsigned x, unsigned y, unsigned z) {
    const Float4 color =
        job({static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), static_cast<std::int32_t>(z)});
    store_pixel(job.target, x, y, z, packed(color));
}

/// Computes the pixels of a column from (x, y) on, which must be inside the image. The functor is not called for rows
/// below the image. All threads of a warp have the same y, so they take the same branch. Rows follow one another,
/// because their fetches read the same texels. The fetches of a pixel overlap too. Pixels of sources of integers are
/// computed one after the other, since few images have them.
template <unsigned kRows, class Job>
__device__ void make_column(const Job& job, unsigned x, unsigned y) {
    const auto position = [&](unsigned row) {
        return PixelPosition{static_cast<std::int32_t>(x), static_cast<std::int32_t>(row),
                             static_cast<std::int32_t>(blockIdx.z)};
    };
    constexpr bool kOverlaps = !Job::kDrafts;
    if (y + kRows <= job.target.height && !(kOverlaps && job.has_integers())) {
        PixelColumn<kRows> column;
        [[maybe_unused]] unsigned unfinished = 0;
        const auto compute = [&](const auto& color_of) {
#pragma unroll
            for (unsigned i = 0; i < kRows; ++i) column.color[i] = packed(color_of(position(y + i)));
        };
        if constexpr (kOverlaps) {
            job.without_branches(compute);
        } else if constexpr (Job::kDrafts) {
#pragma unroll
            for (unsigned i = 0; i < kRows; ++i) {
                bool done = true;
                column.color[i] = packed(job.draft(position(y + i), done));
                unfinished |= done ? 0u : 1u << i;
            }
        } else {
            compute(job);
        }
        store_pixels<1>(job.target, x, y, blockIdx.z, column);
        if constexpr (Job::kDrafts) {  // after the store, because the colors would have to be saved during calls
#pragma unroll 1
            for (; unfinished != 0; unfinished &= unfinished - 1)
                finish_pixel(job, x, y + static_cast<unsigned>(__ffs(unfinished) - 1), blockIdx.z);
        }
        return;
    }
#pragma unroll 1
    for (unsigned row = y; row < y + kRows && row < job.target.height; ++row) {
        if constexpr (Job::kDrafts) {
            finish_pixel(job, x, row, blockIdx.z);
        } else {
            store_pixel(job.target, x, row, blockIdx.z, packed(job(position(row))));
        }
    }
}

template <unsigned kRows, class Job>
__device__ void make_pixels(const Job& job, const TilePosition& tile) {
    if constexpr (Job::kSlices != 1) {
        make_slices<AnySlices>(job, tile);
    } else {
        const PixelTarget& target = job.target;
        const unsigned x = tile.column * kTileWidth + threadIdx.x;
        const unsigned y = (tile.row * kTileThreadRows + threadIdx.y) * kRows;
        if (x < target.width && y < target.height && blockIdx.z < target.depth) make_column<kRows>(job, x, y);
    }
}

/// The grid has one block per tile in x and y, starting at a row of tiles, and slices in z. A grid with all tiles in x
/// would need a division, which would delay the first fetch of each thread.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows, Job::kDrafts ? 6 : 0)
    for_each_pixel(const __grid_constant__ Job job, unsigned first_row) {
    make_pixels<kRows>(job, {blockIdx.x, first_row + blockIdx.y});
}

/// The same grid, for functors with kSlices. The latency of fetches limits its speed, so the launch bounds limit the
/// registers: a few more would reduce the number of resident blocks from 5 to 4.
template <class Slices, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows, 5)
    for_each_position_of_slices(const __grid_constant__ Job job, unsigned first_row) {
    make_slices<Slices>(job, {blockIdx.x, first_row + blockIdx.y});
}

/// A destination image, the functor that computes runs of its pixels, and the functor's sources.
template <class Functor, int run, std::size_t count>
struct RunJob {
    static constexpr int kRun = run;
    PixelTarget target;
    Functor functor;
    HardwareSource sources[count != 0 ? count : 1];

    __device__ PixelRun<run> operator()(RunPosition at) const { return call(at, std::make_index_sequence<count>{}); }

private:
    template <std::size_t... index>
    __device__ PixelRun<run> call(RunPosition at, std::index_sequence<index...>) const {
        if (have_integers(sources)) return functor(at, sources[index]...);
        const FloatSources floats(sources);
        return functor(at, floats.of[index]...);
    }
};

/// The grid has one block per tile in x and y, starting at a row of tiles, and slices in z. Each thread computes a run.
template <class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_run(const __grid_constant__ Job job, unsigned first_row) {
    const unsigned x = (blockIdx.x * kTileWidth + threadIdx.x) * Job::kRun;
    const unsigned y = (first_row + blockIdx.y) * kTileThreadRows + threadIdx.y;
    if (x >= job.target.width || y >= job.target.height) return;
    const unsigned count = ::min(unsigned{Job::kRun}, job.target.width - x);
    const PixelPosition at{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y),
                           static_cast<std::int32_t>(blockIdx.z)};
    const PixelRun<Job::kRun> made = job(RunPosition{at, static_cast<std::int32_t>(count)});
#pragma unroll
    for (unsigned i = 0; i < Job::kRun; ++i) {
        if (i < count) store_pixel(job.target, x + i, y, blockIdx.z, packed(made.of[i]));
    }
}

/// Returns the CUDA kernel of a single launch.
template <unsigned kRows, class Job>
const void* kernel_of(const PixelTarget& target) {
    if constexpr (Job::kSlices != 1) {
        const TexelFormat& stored = target.format.stored;
        const auto is = [&](Encoding encoding, int bits) {
            return stored.encoding == encoding && stored.bits == bits && stored.packing == Packing::plain &&
                   target.address != nullptr && target.aligned;
        };
        if (is(Encoding::unorm, 8))
            return reinterpret_cast<const void*>(&for_each_position_of_slices<SlicesOf<Encoding::unorm, 8>, Job>);
        if (is(Encoding::floating, 16))
            return reinterpret_cast<const void*>(&for_each_position_of_slices<SlicesOf<Encoding::floating, 16>, Job>);
        if (is(Encoding::floating, 32))
            return reinterpret_cast<const void*>(&for_each_position_of_slices<SlicesOf<Encoding::floating, 32>, Job>);
    }
    return reinterpret_cast<const void*>(&for_each_pixel<kRows, Job>);
}

/// The grid has one job per block in y. The tiles of a job follow each other in x.
template <unsigned kRows, class Job>
__global__ void __launch_bounds__(kTileWidth* kTileThreadRows)
    for_each_pixel_of_jobs(const __grid_constant__ PixelJobs<Job> jobs) {
    const Job& job = jobs.of[blockIdx.y];
    constexpr unsigned kPositions = Job::kSlices != 1 ? 2 * kTileWidth : kTileWidth;
    const unsigned across = (job.target.width + kPositions - 1) / kPositions;
    make_pixels<kRows>(job, {blockIdx.x % across, blockIdx.x / across});
}

}  // namespace texton::detail
