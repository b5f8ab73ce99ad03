// Separable resampling filters in one CUDA kernel. Terms are added in the order of the functor SeparableSum.
//
// If pixels read few texels, a thread computes a column of pixels from top to bottom. It sums each row of texels once,
// and keeps the sums of the rows that the next pixels read in registers.
//
// Otherwise, the sums of rows stay in shared memory. A block computes a tile of the image, 32 pixels wide. It first
// computes the weights of its columns and of its rows. Then it sums each row of texels that its pixels read, for all
// columns of the tile, and finally sums these rows.
#include <algorithm>
#include <cmath>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/halves.h"
#include "kernels/cuda/kernels.h"
#include "kernels/functors/resample_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::resampling {
namespace {

using detail::ChannelSums;
using detail::PixelTarget;

constexpr int kColumns = 32;                    // of a tile; one warp
constexpr int kThreadRows = 8;                  // warps of a block
constexpr int kPixels = detail::kColumnPixels;  // rows of a tile for each warp, at most
constexpr unsigned kMaxBytes = 64 << 10;  // of shared memory of a block, so that a few blocks run at the same time

/// Dimensions of a tile and of its shared memory.
struct Tile {
    std::int32_t rows;    // of the image; a multiple of kPixels
    std::int32_t texels;  // rows of texels, at most
    std::int32_t across;  // texels of a pixel along x, at most
    std::int32_t down;    // the same along y

    unsigned bytes() const {
        const std::int32_t weights = kColumns * across + rows * down;
        const std::int32_t taps = 2 * (kColumns + rows);
        return static_cast<unsigned>(texels * kColumns * 16 + (weights + taps) * 4);
    }
};

struct alignas(16) Sum {
    Float4 value;
};

/// The texels that each pixel of an axis reads, in shared memory. Weights of the first texel come first.
struct TileTaps {
    std::int32_t* first;
    std::int32_t* count;
    float* weights;
    std::int32_t pixels;

    __device__ float weight(std::int32_t pixel, std::int32_t tap) const { return weights[tap * pixels + pixel]; }

    template <class Weights>
    __device__ void compute(const Axis& axis, std::int32_t begin, std::int32_t pixel) const {
        const Weights of(axis, begin + pixel);
        first[pixel] = of.first();
        count[pixel] = of.count();
        for (std::int32_t tap = 0; tap < of.count(); ++tap) weights[tap * pixels + pixel] = of(tap);
    }
};

struct Job {
    PixelTarget target;
    HardwareSource source;
    Grid grid;
    Tile tile;
};

template <class Weights>
__global__ void __launch_bounds__(kColumns* kThreadRows) resample_tile(const __grid_constant__ Job job) {
    extern __shared__ float4 memory[];
    const Tile& tile = job.tile;
    auto* const sums = reinterpret_cast<Sum*>(memory);
    auto* next = reinterpret_cast<std::int32_t*>(sums + tile.texels * kColumns);
    const auto taps_of = [&](std::int32_t pixels, std::int32_t most) {
        const TileTaps taps{next, next + pixels, reinterpret_cast<float*>(next + 2 * pixels), pixels};
        next += (2 + most) * pixels;
        return taps;
    };
    const TileTaps across = taps_of(kColumns, tile.across);
    const TileTaps down = taps_of(tile.rows, tile.down);
    const auto tiles_across = (job.target.width + kColumns - 1) / kColumns;
    const auto x = static_cast<std::int32_t>(blockIdx.x % tiles_across) * kColumns;
    const auto y = static_cast<std::int32_t>(blockIdx.x / tiles_across) * tile.rows;
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const auto column = static_cast<std::int32_t>(threadIdx.x);
    const auto row = static_cast<std::int32_t>(threadIdx.y);
    const std::int32_t thread = row * kColumns + column;

    // The pixels after the last ones of the image repeat these, so that they need no other texels.
    const std::int32_t columns = ::min(kColumns, static_cast<std::int32_t>(job.target.width) - x);
    const std::int32_t rows = ::min(tile.rows, static_cast<std::int32_t>(job.target.height) - y);
    if (thread < columns) across.compute<Weights>(job.grid.x, x, thread);
    if (thread >= kColumns && thread - kColumns < rows) down.compute<Weights>(job.grid.y, y, thread - kColumns);
    __syncthreads();

    const std::int32_t first = down.first[0];
    const std::int32_t texels = down.first[rows - 1] + down.count[rows - 1] - first;
    HardwareSource source = job.source;
    source.integers = false;
    if (column < columns) {
        for (std::int32_t j = row; j < texels; j += kThreadRows) {
            const float at_y = static_cast<float>(first + j) + 0.5f;
            Float4 sum{};
#pragma unroll 4
            for (std::int32_t tap = 0; tap < across.count[column]; ++tap) {
                const float weight = across.weight(column, tap);
                const float at_x = static_cast<float>(across.first[column] + tap) + 0.5f;
                const Float4 next_sum = fma(job.grid.fetch(source, z, at_x, at_y), weight, sum);
                if (weight != 0) sum = next_sum;
            }
            sums[j * kColumns + column].value = sum;
        }
    }
    __syncthreads();

    const std::int32_t step = tile.rows / kPixels;
    if (column >= columns || row >= ::min(step, rows)) return;
    detail::FinishedColumn pixels;
#pragma unroll
    for (std::int32_t i = 0; i < kPixels; ++i) {
        const std::int32_t pixel = row + i * step;
        Float4 sum{};
        if (pixel < rows) {
            const Sum* const from = sums + (down.first[pixel] - first) * kColumns + column;
            for (std::int32_t tap = 0; tap < down.count[pixel]; ++tap) {
                const float weight = down.weight(pixel, tap);
                if (weight != 0) sum = fma(from[tap * kColumns].value, weight, sum);
            }
        }
        pixels.set(i, sum, job.target.format);
    }
    detail::store_pixels(job.target, static_cast<unsigned>(x + column), static_cast<unsigned>(y + row),
                         static_cast<unsigned>(z), static_cast<unsigned>(step), pixels);
}

// --- columns of pixels -----------------------------------------------------------------------------------------------

constexpr int kWarps = 8;          // of a block; each computes the pixels below each other of 32 columns
constexpr int kMaxTapsOfFour = 4;  // with more sums of four channels, too few threads run at the same time
constexpr int kStripRows = 32;     // rows that a warp computes, at most

struct ColumnsJob {
    PixelTarget target;
    HardwareSource source;
    Grid grid;
    std::int32_t rows;  // that a warp computes; a multiple of kPixels
};

/// `taps` is the maximum of texels that a pixel reads along an axis.
template <class Weights, int taps, int channels>
__global__ void __launch_bounds__(kColumns* kWarps) resample_columns(const __grid_constant__ ColumnsJob job) {
    __shared__ float weights[kWarps][taps][kStripRows];  // those of the last texel come last
    __shared__ std::int32_t first_of[kWarps][kStripRows];
    __shared__ std::int32_t end_of[kWarps][kStripRows];
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const unsigned warp = threadIdx.y;
    const unsigned blocks_across = (job.target.width + kColumns - 1) / kColumns;
    const auto x = static_cast<std::int32_t>(blockIdx.x % blocks_across) * kColumns + lane;
    const auto y = static_cast<std::int32_t>(blockIdx.x / blocks_across * kWarps + warp) * job.rows;
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const std::int32_t rows = ::min(job.rows, static_cast<std::int32_t>(job.target.height) - y);
    if (lane < rows) {
        const Weights down(job.grid.y, y + lane);
        const std::int32_t count = down.count();
        first_of[warp][lane] = down.first();
        end_of[warp][lane] = down.first() + count;
        for (int tap = 0; tap < taps; ++tap)
            weights[warp][tap][lane] = tap < taps - count ? 0.0f : down(tap - (taps - count));
    }
    __syncwarp();
    if (x >= static_cast<std::int32_t>(job.target.width)) return;

    float across[taps];
    std::int32_t first_x = 0, count_x = 0;
    {
        const Weights of(job.grid.x, x);
        first_x = of.first();
        count_x = of.count();
#pragma unroll
        for (int tap = 0; tap < taps; ++tap) across[tap] = tap < count_x ? of(tap) : 0.0f;
    }
    HardwareSource source = job.source;
    source.integers = false;
    const auto sum_row = [&](std::int32_t row) {
        const float at_y = static_cast<float>(row) + 0.5f;
        ChannelSums<channels> sum;
#pragma unroll
        for (int tap = 0; tap < taps; ++tap) {
            if (tap >= count_x) continue;
            const float at_x = static_cast<float>(first_x + tap) + 0.5f;
            sum.add(ChannelSums<channels>::of_texel(job.grid.fetch(source, z, at_x, at_y)), across[tap]);
        }
        return sum;
    };

    ChannelSums<channels> sums[taps];  // of the rows before `next`
    std::int32_t next = 0;
    for (std::int32_t begin = 0; begin < rows; begin += kPixels) {
        detail::FinishedColumn pixels;
#pragma unroll
        for (std::int32_t i = 0; i < kPixels; ++i) {
            const std::int32_t row = ::min(begin + i, rows - 1);
            const std::int32_t first = first_of[warp][row];
            if (next < first || (begin == 0 && i == 0)) next = first;
            for (; next < end_of[warp][row]; ++next) {
#pragma unroll
                for (int tap = 1; tap < taps; ++tap) sums[tap - 1] = sums[tap];
                sums[taps - 1] = sum_row(next);
            }
            ChannelSums<channels> sum;
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) sum.add(sums[tap], weights[warp][tap][row]);
            pixels.set(i, sum.pixel(), job.target.format);
        }
        detail::store_pixels(job.target, static_cast<unsigned>(x), static_cast<unsigned>(y + begin),
                             static_cast<unsigned>(z), 1, pixels);
    }
}

unsigned parts(unsigned side, unsigned part) { return (side + part - 1) / part; }

template <class Weights, int taps>
void enqueue_columns(const detail::Launch& launch, const Grid& grid) {
    const PixelTarget& target = launch.target();
    const auto rows_of = [&](unsigned rows) {
        return parts(target.width, kColumns) * parts(target.height, rows * kWarps);
    };
    constexpr unsigned kEnoughBlocks = 1024;  // for the largest GPUs
    unsigned rows = kStripRows;
    while (rows > kPixels && rows_of(rows) * target.depth < kEnoughBlocks) rows /= 2;
    ColumnsJob job{target, HardwareSource(launch.shape(0), launch.handle(0)), grid, static_cast<std::int32_t>(rows)};
    void* arguments[] = {&job};
    const void* kernel = reinterpret_cast<const void*>(&resample_columns<Weights, taps, 2>);
    if (target.format.stored.channels == 1) kernel = reinterpret_cast<const void*>(&resample_columns<Weights, taps, 1>);
    if constexpr (taps <= kMaxTapsOfFour) {
        if (target.format.stored.channels > 2)
            kernel = reinterpret_cast<const void*>(&resample_columns<Weights, taps, 4>);
    }
    detail::launch_blocks({&launch, 1}, kernel, arguments, {{rows_of(rows), 1, target.depth}, {kColumns, kWarps}});
}

/// Returns false if pixels read too many texels.
template <class Weights>
bool enqueue_columns(const detail::Launch& launch, const Grid& grid) {
    const std::int32_t taps = std::max(Weights::max_count(grid.x), Weights::max_count(grid.y));
    if constexpr (std::is_base_of_v<CubicWeights, Weights>) {
        enqueue_columns<Weights, 4>(launch, grid);
        return true;
    } else {
        if (taps > 7 || (taps > kMaxTapsOfFour && launch.target().format.stored.channels > 2)) return false;
        if constexpr (std::is_same_v<Weights, Normalized<CoveredLength>>) {
            if (taps <= 2) return enqueue_columns<Weights, 2>(launch, grid), true;
            if (taps <= 4) return enqueue_columns<Weights, 4>(launch, grid), true;
        }
        enqueue_columns<Weights, 7>(launch, grid);
        return true;
    }
}

// --- tiles -----------------------------------------------------------------------------------------------------------

/// Returns the highest tile whose shared memory is small enough. The height is 0 if there is none.
template <class Weights>
Tile highest_tile(const Grid& grid) {
    constexpr float kMaxStep = 1024;  // texels; larger steps need more shared memory than there is
    if (grid.x.step > kMaxStep || grid.y.step > kMaxStep) return {};
    Tile tile{kPixels * kThreadRows, 0, Weights::max_count(grid.x), Weights::max_count(grid.y)};
    for (; tile.rows >= kPixels; tile.rows /= 2) {
        const float steps = std::ceil(static_cast<float>(tile.rows) * grid.y.step);
        tile.texels = static_cast<std::int32_t>(steps) + tile.down + kMoreTexels;
        if (tile.bytes() <= kMaxBytes) return tile;
    }
    return {};
}

template <class Weights>
bool enqueue_tiles(const detail::Launch& launch, const Grid& grid) {
    const Tile tile = highest_tile<Weights>(grid);
    if (tile.rows == 0) return false;
    const PixelTarget& target = launch.target();
    Job job{target, HardwareSource(launch.shape(0), launch.handle(0)), grid, tile};
    void* arguments[] = {&job};
    const unsigned blocks = parts(target.width, kColumns) * parts(target.height, static_cast<unsigned>(tile.rows));
    detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&resample_tile<Weights>), arguments,
                          {{blocks, 1, target.depth}, {kColumns, kThreadRows}, tile.bytes()});
    return true;
}

}  // namespace
}  // namespace texton::resampling

namespace texton::detail {

bool CudaKernels::resample(Launch& launch, const resampling::Separable& filter) const {
    if (filter.filter == ResampleFilter::area && resampling::enqueue_halves(launch, filter.grid)) return true;
    return resampling::with_weights(filter.filter, [&]<class Weights>(std::type_identity<Weights>) {
        return resampling::enqueue_columns<Weights>(launch, filter.grid) ||
               resampling::enqueue_tiles<Weights>(launch, filter.grid);
    });
}

}  // namespace texton::detail
