// Separable resampling filters in one CUDA kernel: the sums of rows stay in shared memory.
//
// A block computes a tile of the image, 32 pixels wide. It first computes the weights of its columns and of its rows.
// Then it sums each row of texels that its pixels read, for all columns of the tile, and finally sums these rows. Terms
// are added in the order of the functor SeparableSum.
#include <algorithm>
#include <cmath>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/kernels.h"
#include "kernels/functors/resample_functors.h"
#include "kernels/launch/launch_state.h"

namespace texton::resampling {
namespace {

using detail::PixelTarget;

constexpr int kColumns = 32;              // of a tile; one warp
constexpr int kThreadRows = 8;            // warps of a block
constexpr int kPixels = 4;                // rows of a tile for each warp, at most
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

struct Column {
    uint4 texel[kPixels];
};
/// Not inlined, since the code for all encodings is large.
__device__ __noinline__ void store_pixels(const PixelTarget& target, unsigned x, unsigned y, unsigned z, unsigned step,
                                          Column column) {
    detail::store_column(target, x, y, z, step, column.texel);
}

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
    Column pixels;
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
        const Texel texel = detail::texel_of(sum, job.target.format.stored);
        pixels.texel[i] = make_uint4(texel.channel[0], texel.channel[1], texel.channel[2], texel.channel[3]);
    }
    store_pixels(job.target, static_cast<unsigned>(x + column), static_cast<unsigned>(y + row),
                 static_cast<unsigned>(z), static_cast<unsigned>(step), pixels);
}

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
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    const unsigned blocks = parts(target.width, kColumns) * parts(target.height, static_cast<unsigned>(tile.rows));
    detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&resample_tile<Weights>), arguments,
                          {{blocks, 1, target.depth}, {kColumns, kThreadRows}, tile.bytes()});
    return true;
}

}  // namespace
}  // namespace texton::resampling

namespace texton::detail {

bool CudaKernels::resample(Launch& launch, const resampling::Separable& filter) const {
    return resampling::with_weights(filter.filter, [&]<class Weights>(std::type_identity<Weights>) {
        return resampling::enqueue_tiles<Weights>(launch, filter.grid);
    });
}

}  // namespace texton::detail
