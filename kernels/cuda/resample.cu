// Separable resampling filters in one CUDA kernel. Terms are added in the order of the functor SeparableSum.
//
// If pixels read few texels, a thread computes a column of pixels from top to bottom. It sums each row of texels once,
// and keeps the sums of the rows that the next pixels read in registers. If adjacent pixels share texels, a warp stages
// each row of texels in shared memory.
//
// Otherwise, the sums of rows stay in shared memory. A block computes a tile of the image, 32 pixels wide. It first
// computes the weights of its columns and of its rows. Then it sums each row of texels that its pixels read, for all
// columns of the tile, and finally sums these rows.
//
// Other CUDA kernels read texels as they are stored (kernels/cuda/stored_resampling.h) and are tried first.
#include <algorithm>
#include <cmath>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/filter_weights.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/stored_resampling.h"
#include "kernels/launch/image_rows.h"
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

    __device__ void compute(ResampleFilter filter, const Axis& axis, std::int32_t begin, std::int32_t pixel) const {
        const TapSpan span = compute_weights(filter, axis, begin + pixel, weights + pixel, pixels);
        first[pixel] = span.first;
        count[pixel] = span.count;
    }
};

struct Job {
    PixelTarget target;
    HardwareSource source;
    Grid grid;
    ResampleFilter filter;
    Tile tile;
    std::int32_t first_row;  // of the image that is computed
};

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
    const auto y = job.first_row + static_cast<std::int32_t>(blockIdx.x / tiles_across) * tile.rows;
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const auto column = static_cast<std::int32_t>(threadIdx.x);
    const auto row = static_cast<std::int32_t>(threadIdx.y);
    const std::int32_t thread = row * kColumns + column;

    // The pixels after the last ones of the image repeat these, so that they need no other texels.
    const std::int32_t columns = ::min(kColumns, static_cast<std::int32_t>(job.target.width) - x);
    const std::int32_t rows = ::min(tile.rows, static_cast<std::int32_t>(job.target.height) - y);
    if (thread < columns) across.compute(job.filter, job.grid.x, x, thread);
    if (thread >= kColumns && thread - kColumns < rows) down.compute(job.filter, job.grid.y, y, thread - kColumns);
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
        pixels.color[i] = sum;
    }
    detail::store_pixels(job.target, static_cast<unsigned>(x + column), static_cast<unsigned>(y + row),
                         static_cast<unsigned>(z), static_cast<unsigned>(step), pixels);
}

// --- columns of pixels -----------------------------------------------------------------------------------------------

constexpr int kWarps = 8;           // of a block; each computes 32 columns
constexpr int kFewTaps = 4;         // of a pixel along an axis, for the smaller kernels
constexpr int kMaxTaps = 7;         // for the others
constexpr int kMaxStripRows = 128;  // that a block computes; the weights of all of them are in shared memory
constexpr int kFetches = 3;         // of a thread for a row of staged texels, at most
constexpr int kStaged = kFetches * kColumns;

struct ColumnsJob {
    PixelTarget target;
    HardwareSource source;
    Grid grid;
    ResampleFilter filter;
    std::int32_t rows;       // that a block computes; a multiple of kPixels
    std::int32_t first_row;  // of the image that is computed
};

/// The rows of texels that the rows of a block's pixels read, in shared memory.
template <int taps>
struct StripRows {
    float weight[taps][kMaxStripRows];  // those of the last texel come last
    std::int32_t first[kMaxStripRows];
    std::int32_t end[kMaxStripRows];

    __device__ void compute(ResampleFilter filter, const Axis& axis, std::int32_t begin, std::int32_t row) {
        float weights[taps];
        const TapSpan span = compute_weights(filter, axis, begin + row, weights, 1);
        first[row] = span.first;
        end[row] = span.first + span.count;
        const std::int32_t before = taps - span.count;
        for (int tap = 0; tap < taps; ++tap) weight[tap][row] = tap < before ? 0.0f : weights[tap - before];
    }
};

/// Sums of the texels of a row, each thread with its own weights.
///
/// If adjacent pixels share texels, the warp fetches each texel once and copies it to shared memory, where the threads
/// read it. It fetches the next row of texels before it sums the current one. Otherwise, each thread fetches the texels
/// of its pixel.
template <int taps, int channels, bool staged>
class RowSums {
public:
    using Sums = ChannelSums<channels>;
    struct Stage {
        Sums texel[2][kStaged + taps];  // of two rows; weights of 0 are multiplied with texels after the last one
    };

    __device__ RowSums(const ColumnsJob& job, Stage* stage, std::int32_t x, std::int32_t z)
        : job_(job), source_(job.source), stage_(stage), z_(z) {
        source_.integers = false;
        float weights[taps];
        const TapSpan span = compute_weights(job.filter, job.grid.x, x, weights, 1);
        first_ = span.first;
        count_ = span.count;
#pragma unroll
        for (int tap = 0; tap < taps; ++tap) weights_[tap] = tap < count_ ? weights[tap] : 0.0f;
        if constexpr (staged) {
            constexpr unsigned kAll = 0xffffffff;
            const std::int32_t left = __shfl_sync(kAll, first_, 0);
            const std::int32_t right = __shfl_sync(kAll, first_, kColumns - 1);
            begin_ = ::min(left, right);
            texels_ = ::min(::max(left, right) - begin_ + taps, kStaged);
        }
    }

    __device__ Sums operator()(std::int32_t row) {
        Sums sum;
        if constexpr (staged) {
            if (row != row_ahead_) fetch(row);
            Sums* const texels = stage_->texel[buffer_];
            buffer_ ^= 1;
#pragma unroll
            for (int i = 0; i < kFetches; ++i) {
                if (i * kColumns < texels_) texels[i * kColumns + threadIdx.x] = ahead_[i];
            }
            __syncwarp();
            fetch(row + 1);
            const Sums* const from = texels + (first_ - begin_);
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) sum.add(from[tap], weights_[tap]);
        } else {
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) {
                if (tap < count_) sum.add(texel(first_ + tap, row), weights_[tap]);
            }
        }
        return sum;
    }

private:
    __device__ Sums texel(std::int32_t x, std::int32_t row) const {
        return Sums::of_texel(
            job_.grid.fetch(source_, z_, static_cast<float>(x) + 0.5f, static_cast<float>(row) + 0.5f));
    }
    __device__ void fetch(std::int32_t row) {
        row_ahead_ = row;
#pragma unroll
        for (int i = 0; i < kFetches; ++i) {
            const std::int32_t at = i * kColumns + static_cast<std::int32_t>(threadIdx.x);
            if (at < texels_) ahead_[i] = texel(begin_ + at, row);
        }
    }

    const ColumnsJob& job_;
    HardwareSource source_;
    Stage* stage_;
    std::int32_t z_;
    std::int32_t first_;
    std::int32_t count_;
    std::int32_t begin_ = 0;   // first texel of the warp
    std::int32_t texels_ = 0;  // of the warp
    std::int32_t row_ahead_ = -1 << 30;
    int buffer_ = 0;
    float weights_[taps];
    Sums ahead_[kFetches];
};

/// `taps` is the maximum of texels that a pixel reads along an axis.
template <int taps, int channels, bool staged>
__global__ void __launch_bounds__(kColumns* kWarps) resample_columns(const __grid_constant__ ColumnsJob job) {
    using Sums = ChannelSums<channels>;
    using RowSums = RowSums<taps, channels, staged>;
    __shared__ StripRows<taps> down;
    __shared__ typename RowSums::Stage stage[staged ? kWarps : 1];
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const auto warp = static_cast<std::int32_t>(threadIdx.y);
    const unsigned blocks_across = (job.target.width + kColumns * kWarps - 1) / (kColumns * kWarps);
    const std::int32_t begin_x = (static_cast<std::int32_t>(blockIdx.x % blocks_across) * kWarps + warp) * kColumns;
    const std::int32_t y = job.first_row + static_cast<std::int32_t>(blockIdx.x / blocks_across) * job.rows;
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const auto width = static_cast<std::int32_t>(job.target.width);
    const std::int32_t rows = ::min(job.rows, static_cast<std::int32_t>(job.target.height) - y);
    for (std::int32_t row = warp * kColumns + lane; row < rows; row += kWarps * kColumns)
        down.compute(job.filter, job.grid.y, y, row);
    __syncthreads();
    if (begin_x >= width) return;

    const std::int32_t x = ::min(begin_x + lane, width - 1);
    RowSums sum_row(job, &stage[staged ? warp : 0], x, z);
    Sums sums[taps];  // of the rows before `next`
    std::int32_t next = 0;
    for (std::int32_t begin = 0; begin < rows; begin += kPixels) {
        detail::FinishedColumn pixels;
#pragma unroll
        for (std::int32_t i = 0; i < kPixels; ++i) {
            const std::int32_t row = ::min(begin + i, rows - 1);
            const std::int32_t first = down.first[row];
            if (next < first || (begin == 0 && i == 0)) next = first;
            for (; next < down.end[row]; ++next) {
#pragma unroll
                for (int tap = 1; tap < taps; ++tap) sums[tap - 1] = sums[tap];
                sums[taps - 1] = sum_row(next);
            }
            Sums sum;
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) sum.add(sums[tap], down.weight[tap][row]);
            pixels.color[i] = sum.pixel();
        }
        if (begin_x + lane < width) {
            detail::store_pixels(job.target, static_cast<unsigned>(x), static_cast<unsigned>(y + begin),
                                 static_cast<unsigned>(z), 1, pixels);
        }
    }
}

unsigned parts(unsigned side, unsigned part) { return (side + part - 1) / part; }

/// Returns the first row of the image that is computed.
unsigned first_row(const detail::Launch& launch) {
    const detail::ImageRows* const rows = detail::ImageRowsScope::of(launch.state().image);
    return rows != nullptr ? static_cast<unsigned>(rows->first) : 0;
}

/// Returns true if an image has enough values for each thread to compute four adjacent ones of many rows.
bool has_many_values(const detail::Launch& launch) {
    constexpr std::size_t kManyValues = std::size_t{1} << 23;
    const PixelTarget& target = launch.target();
    return std::size_t{target.width} * target.height * target.depth * target.format.stored.channels >= kManyValues;
}

/// Returns true if strips of values (kernels/cuda/resample_values.cu) are faster where they are possible: for larger
/// images of one channel, and for the many taps of Lanczos filters. Small images have too few strips.
bool is_faster_in_strips(const detail::Launch& launch, const Separable& filter) {
    constexpr std::size_t kFewValues = std::size_t{1} << 21;
    constexpr float kLongStep = 3.5f;
    const PixelTarget& target = launch.target();
    const int channels = target.format.stored.channels;
    if (std::size_t{target.width} * target.height * target.depth * channels < kFewValues) return false;
    const float step = std::max(filter.grid.x.step, filter.grid.y.step);
    if (channels == 1 && step < 1) return true;
    if (std::max(max_taps(filter.filter, filter.grid.x), max_taps(filter.filter, filter.grid.y)) <= kMaxTaps)
        return false;
    return channels == 1 || (filter.filter == ResampleFilter::lanczos3 && (channels == 2 || step < kLongStep));
}

/// Returns true if the texels of a warp can be staged, and if that saves fetches.
bool shares_texels(const Axis& axis, std::int32_t taps) {
    return static_cast<float>(kColumns - 1) * std::abs(axis.step) + static_cast<float>(taps + kMoreTexels) <
           static_cast<float>(std::min(kStaged, kColumns * taps));
}

template <int taps>
void enqueue_columns(const detail::Launch& launch, const Separable& filter) {
    const Grid& grid = filter.grid;
    const PixelTarget& target = launch.target();
    const unsigned first = first_row(launch);
    const unsigned height = target.height - first;
    ColumnsJob job{target, HardwareSource(launch.shape(0), launch.handle(0)),
                   grid,   filter.filter,
                   0,      static_cast<std::int32_t>(first)};
    const void* kernel = reinterpret_cast<const void*>(&resample_columns<taps, 4, false>);
    if (shares_texels(grid.x, taps)) {
        kernel = reinterpret_cast<const void*>(&resample_columns<taps, 4, true>);
        if (target.format.stored.channels == 1)
            kernel = reinterpret_cast<const void*>(&resample_columns<taps, 1, true>);
        if (target.format.stored.channels == 2)
            kernel = reinterpret_cast<const void*>(&resample_columns<taps, 2, true>);
    }
    const unsigned across = parts(target.width, kColumns * kWarps);
    const unsigned rows = detail::rows_of_runs(launch, {across * target.depth, height, 1, kMaxStripRows, 16});
    job.rows = static_cast<std::int32_t>(rows);
    void* arguments[] = {&job};
    detail::launch_blocks({&launch, 1}, kernel, arguments,
                          {{across * parts(height, rows), 1, target.depth}, {kColumns, kWarps}});
}

/// Returns false if pixels read too many texels.
bool enqueue_columns(const detail::Launch& launch, const Separable& filter) {
    const std::int32_t taps = std::max(max_taps(filter.filter, filter.grid.x), max_taps(filter.filter, filter.grid.y));
    if (taps > kMaxTaps) return false;
    if (taps <= kFewTaps) {
        enqueue_columns<kFewTaps>(launch, filter);
    } else {
        enqueue_columns<kMaxTaps>(launch, filter);
    }
    return true;
}

// --- tiles -----------------------------------------------------------------------------------------------------------

/// Returns the highest tile whose shared memory is small enough. The height is 0 if there is none.
Tile highest_tile(const Separable& filter) {
    constexpr float kMaxStep = 1024;  // texels; larger steps need more shared memory than there is
    const Grid& grid = filter.grid;
    if (grid.x.step > kMaxStep || grid.y.step > kMaxStep) return {};
    Tile tile{kPixels * kThreadRows, 0, max_taps(filter.filter, grid.x), max_taps(filter.filter, grid.y)};
    for (; tile.rows >= kPixels; tile.rows /= 2) {
        const float steps = std::ceil(static_cast<float>(tile.rows) * grid.y.step);
        tile.texels = static_cast<std::int32_t>(steps) + tile.down + kMoreTexels;
        if (tile.bytes() <= kMaxBytes) return tile;
    }
    return {};
}

bool enqueue_tiles(const detail::Launch& launch, const Separable& filter) {
    const Tile tile = highest_tile(filter);
    if (tile.rows == 0) return false;
    const PixelTarget& target = launch.target();
    const unsigned first = first_row(launch);
    Job job{target,      HardwareSource(launch.shape(0), launch.handle(0)),
            filter.grid, filter.filter,
            tile,        static_cast<std::int32_t>(first)};
    void* arguments[] = {&job};
    const unsigned blocks =
        parts(target.width, kColumns) * parts(target.height - first, static_cast<unsigned>(tile.rows));
    detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&resample_tile), arguments,
                          {{blocks, 1, target.depth}, {kColumns, kThreadRows}, tile.bytes()});
    return true;
}

}  // namespace
}  // namespace texton::resampling

namespace texton::detail {

bool CudaKernels::resample(Launch& launch, const resampling::Separable& filter) const {
    if (ImageRowsScope::of(launch.state().image) != nullptr)
        return resampling::enqueue_columns(launch, filter) || resampling::enqueue_tiles(launch, filter);
    if (filter.filter == ResampleFilter::area && resampling::enqueue_halves(launch, filter.grid)) return true;
    if (resampling::enqueue_half_columns(launch, filter) || resampling::enqueue_reduction(launch, filter)) return true;
    if (resampling::has_many_values(launch) && resampling::enqueue_columns_of_values(launch, filter)) return true;
    if (resampling::is_faster_in_strips(launch, filter) && resampling::enqueue_strips_of_values(launch, filter))
        return true;
    return resampling::enqueue_columns(launch, filter) || resampling::enqueue_tiles(launch, filter);
}

}  // namespace texton::detail
