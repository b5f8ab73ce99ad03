// Separable resampling with any number of texels for each pixel in one CUDA kernel.
//
// A block computes a tile of the image, 32 pixels wide. Its threads first compute the weights of the columns and of the
// rows, each thread a few of them. Then each warp sums rows of texels for all columns of the tile. The sums stay in shared
// memory. Finally, each thread sums these for its pixels. If adjacent pixels share texels, a warp stages each row of
// texels in shared memory. Terms are added in the order of the functor SeparableSum.
#include "kernels/cuda/resample_tiles.h"

#include <algorithm>
#include <cmath>

#include <texton/cuda_pixels.h>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/filter_weights.h"
#include "kernels/cuda/texel_rows.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::resampling {
namespace {

using detail::ChannelSums;
using detail::PixelTarget;

constexpr int kThreadRows = 8;                  // warps of a block
constexpr int kPixels = detail::kColumnPixels;  // rows of a tile for each warp, at most
constexpr int kTaps = 4;                        // texels that a thread adds at a time
constexpr int kPlaces = kStaged + 2 * kTaps;    // of the texels that a warp stages, and of those after the last one
constexpr unsigned kMaxBytes = 64 << 10;  // of shared memory of a block, so that a few blocks run at the same time

/// The places of the texels that a warp stages. Texels with 16 bytes are stored apart: even ones first, then odd ones.
/// So there are no bank conflicts if the texels that adjacent threads read are one or two texels apart.
template <int channels>
struct StagedTexels {
    static constexpr bool kApart = channels == 4;
    static constexpr int kOdd = kPlaces / 2;  // place of the first odd texel

    __device__ static std::int32_t place(std::int32_t texel) { return kApart ? (texel & 1) * kOdd + texel / 2 : texel; }
};

/// Dimensions of a tile and of its shared memory.
struct Tile {
    std::int32_t rows;    // of the image; a multiple of kPixels
    std::int32_t texels;  // rows of texels, at most
    std::int32_t across;  // texels of a pixel along x, at most; a multiple of kTaps
    std::int32_t down;    // the same along y
    bool is_staged;
    std::int32_t channels;  // that are computed

    unsigned bytes() const {
        const std::int32_t weights = kColumns * across + rows * down;
        const std::int32_t taps = 2 * (kColumns + rows);
        const std::int32_t staged = is_staged ? kThreadRows * kPlaces : 0;
        return static_cast<unsigned>((texels * kColumns + staged) * channels * 4 + (weights + taps) * 4);
    }
};

/// The texels that each pixel of an axis reads, in shared memory. Weights of the first texel come first.
struct TileTaps {
    std::int32_t* first;
    std::int32_t* count;
    float* weights;
    std::int32_t pixels;

    __device__ float weight(std::int32_t pixel, std::int32_t tap) const { return weights[tap * pixels + pixel]; }

    /// Computes the weights of the first `used` pixels with all threads of the block, before they are divided.
    __device__ void compute(ResampleFilter filter, const Axis& axis, std::int32_t begin, std::int32_t used,
                            std::int32_t most, std::int32_t thread) const {
        for (std::int32_t at = thread; at < pixels * most; at += kColumns * kThreadRows) {
            const std::int32_t pixel = at % pixels, tap = at / pixels;
            if (pixel >= used) continue;
            const TapSpan span = compute_weight(filter, axis, begin + pixel, tap, weights + at);
            if (tap != 0) continue;
            first[pixel] = span.first;
            count[pixel] = span.count;
        }
    }
    __device__ void divide(std::int32_t pixel) const {
        count[pixel] = divide_weights(weights + pixel, pixels, count[pixel]);
    }
    /// Returns the end of the texels that a pixel reads.
    __device__ std::int32_t end(std::int32_t pixel) const { return first[pixel] + count[pixel]; }
};

struct Job {
    PixelTarget target;
    HardwareSource source;
    Grid grid;
    ResampleFilter filter;
    Tile tile;
    std::int32_t first_row;  // of the image that is computed
};

template <int channels, bool staged>
__global__ void __launch_bounds__(kColumns* kThreadRows) resample_tile(const __grid_constant__ Job job) {
    using Sums = ChannelSums<channels>;
    extern __shared__ float4 memory[];
    const Tile& tile = job.tile;
    auto* const sums = reinterpret_cast<Sums*>(memory);
    Sums* const stages = sums + tile.texels * kColumns;
    auto* next = reinterpret_cast<std::int32_t*>(stages + (staged ? kThreadRows * kPlaces : 0));
    const auto taps_of = [&](std::int32_t pixels, std::int32_t most) {
        const TileTaps taps{next, next + pixels, reinterpret_cast<float*>(next + 2 * pixels), pixels};
        next += (2 + most) * pixels;
        return taps;
    };
    const TileTaps across = taps_of(kColumns, tile.across);
    const TileTaps down = taps_of(tile.rows, tile.down);
    const auto tiles_across = (job.target.width + kColumns - 1) / kColumns;
    const auto x = static_cast<std::int32_t>(blockIdx.x % tiles_across) * kColumns;
    const auto y = job.first_row + static_cast<std::int32_t>(blockIdx.x / tiles_across) * tile.rows;
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const auto column = static_cast<std::int32_t>(threadIdx.x);
    const auto row = static_cast<std::int32_t>(threadIdx.y);
    const std::int32_t thread = row * kColumns + column;

    const std::int32_t columns = ::min(kColumns, static_cast<std::int32_t>(job.target.width) - x);
    const std::int32_t rows = ::min(tile.rows, static_cast<std::int32_t>(job.target.height) - y);
    across.compute(job.filter, job.grid.x, x, columns, tile.across, thread);
    down.compute(job.filter, job.grid.y, y, rows, tile.down, thread);
    __syncthreads();
    if (are_divided(job.filter)) {
        if (thread < columns) across.divide(thread);
        if (thread >= kColumns && thread - kColumns < rows) down.divide(thread - kColumns);
        __syncthreads();
    }

    const std::int32_t first = down.first[0];
    const std::int32_t texels = down.end(rows - 1) - first;
    TexelRows<channels> from(job.grid, job.source, z);
    if constexpr (staged) {
        using Places = StagedTexels<channels>;
        Sums* const stage = stages + row * kPlaces;
        const std::int32_t begin = ::min(across.first[0], across.first[columns - 1]);
        from.select(begin, ::max(across.end(0), across.end(columns - 1)) - begin);
        const std::int32_t pixel = ::min(column, columns - 1);
        const std::int32_t own = across.first[pixel] - begin;
        const Sums* const even = stage + Places::place(own);  // texels of the even taps
        const Sums* const odd = stage + Places::place(own + 1);
        const std::int32_t count = across.count[pixel];
        for (std::int32_t j = row; j < texels; j += kThreadRows) {
            from.copy(first + j, first + ::min(j + kThreadRows, texels - 1), stage, Places::place);
            Sums sum;
#pragma unroll 1
            for (std::int32_t at = 0; __any_sync(0xffffffff, at < count); at += kTaps) {
#pragma unroll
                for (std::int32_t tap = 0; tap < kTaps; ++tap) {
                    const Sums* const of_tap = tap % 2 == 0 ? even : odd;
                    sum.add(of_tap[(at + tap / 2 * 2) / (Places::kApart ? 2 : 1)], across.weight(pixel, at + tap));
                }
            }
            sums[j * kColumns + column] = sum;
            __syncwarp();
        }
    } else if (column < columns) {
        for (std::int32_t j = row; j < texels; j += kThreadRows) {
            Sums sum;
#pragma unroll 4
            for (std::int32_t tap = 0; tap < across.count[column]; ++tap)
                sum.add(from.texel(across.first[column] + tap, first + j), across.weight(column, tap));
            sums[j * kColumns + column] = sum;
        }
    }
    __syncthreads();

    const std::int32_t begin = row * kPixels;
    if (column >= columns || begin >= rows) return;
    detail::PixelColumn<detail::kColumnPixels> pixels;
#pragma unroll
    for (std::int32_t i = 0; i < kPixels; ++i) {
        const std::int32_t pixel = begin + i;
        Sums sum;
        if (pixel < rows) {
            const Sums* const from = sums + (down.first[pixel] - first) * kColumns + column;
            for (std::int32_t tap = 0; tap < down.count[pixel]; ++tap)
                sum.add(from[tap * kColumns], down.weight(pixel, tap));
        }
        pixels.color[i] = detail::packed(sum.pixel());
    }
    detail::store_pixels<1>(job.target, static_cast<unsigned>(x + column), static_cast<unsigned>(y + begin),
                            static_cast<unsigned>(z), pixels);
}

unsigned parts(unsigned side, unsigned part) { return (side + part - 1) / part; }

unsigned tiles_of(const PixelTarget& target, unsigned first_row, std::int32_t rows) {
    return parts(target.width, kColumns) * parts(target.height - first_row, static_cast<unsigned>(rows));
}

/// Returns the highest tile whose shared memory is small enough, or a lower one if there would be too few tiles for all
/// multiprocessors. The height is 0 if there is none.
Tile tile_of(const detail::Launch& launch, const Separable& filter) {
    constexpr float kMaxStep = 1024;  // texels; larger steps need more shared memory than there is
    const Grid& grid = filter.grid;
    const PixelTarget& target = launch.target();
    if (grid.x.step > kMaxStep || grid.y.step > kMaxStep) return {};
    const std::int32_t across = max_taps(filter.filter, grid.x);
    Tile tile{kPixels * kThreadRows,           0,     (across + kTaps - 1) / kTaps * kTaps,
              max_taps(filter.filter, grid.y), false, 4};
    tile.is_staged = shares_texels(grid.x, across);
    if (tile.is_staged) tile.channels = target.format.stored.channels;
    const auto enough = static_cast<unsigned>(launch.state().backend->properties().multiprocessors);
    Tile found{};
    for (; tile.rows >= kPixels; tile.rows /= 2) {
        const float steps = std::ceil(static_cast<float>(tile.rows) * grid.y.step);
        tile.texels = static_cast<std::int32_t>(steps) + tile.down + kMoreTexels;
        if (tile.bytes() > kMaxBytes) continue;
        found = tile;
        if (tiles_of(target, detail::first_row_of(launch), tile.rows) * target.depth >= enough) break;
    }
    return found;
}

const void* kernel_of(const Tile& tile) {
    if (!tile.is_staged) return reinterpret_cast<const void*>(&resample_tile<4, false>);
    if (tile.channels == 1) return reinterpret_cast<const void*>(&resample_tile<1, true>);
    if (tile.channels == 2) return reinterpret_cast<const void*>(&resample_tile<2, true>);
    return reinterpret_cast<const void*>(&resample_tile<4, true>);
}

}  // namespace

bool enqueue_tiles(const detail::Launch& launch, const Separable& filter) {
    const Tile tile = tile_of(launch, filter);
    if (tile.rows == 0) return false;
    const PixelTarget& target = launch.target();
    const unsigned first = detail::first_row_of(launch);
    Job job{target,      HardwareSource(launch.shape(0), launch.handle(0)),
            filter.grid, filter.filter,
            tile,        static_cast<std::int32_t>(first)};
    void* arguments[] = {&job};
    detail::launch_blocks(
        {&launch, 1}, kernel_of(tile), arguments,
        {{tiles_of(target, first, tile.rows), 1, target.depth}, {kColumns, kThreadRows}, tile.bytes()});
    return true;
}

}  // namespace texton::resampling
