// Separable resampling filters in one CUDA kernel, and the choice among the kernels for them. Terms are added in the order
// of the functor SeparableSum.
//
// A thread computes a column of pixels that read few texels from top to bottom. It sums each row of texels once, and
// keeps the sums of the rows that the next pixels read in registers. If adjacent pixels share texels, a warp stages each
// row of texels in shared memory.
//
// Small images and pixels that read more texels are computed in tiles (kernels/cuda/resample_tiles.cu). Other CUDA kernels
// read texels as they are stored (kernels/cuda/stored_resampling.h) and are tried first.
#include <algorithm>
#include <cmath>

#include <texton/cuda_pixels.h>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/filter_weights.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/resample_tiles.h"
#include "kernels/cuda/stored_resampling.h"
#include "kernels/cuda/texel_rows.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::resampling {
namespace {

using detail::ChannelSums;
using detail::PixelTarget;

constexpr int kPixels = detail::kColumnPixels;  // that a thread stores at the same time
constexpr int kWarps = 8;                       // of a block; each computes 32 columns
constexpr int kFewTaps = 4;                     // of a pixel along an axis, for the smaller kernels
constexpr int kMaxTaps = 7;                     // for the others
constexpr int kTapsOfFewPixels = 10;            // for the functor, which computes few pixels
constexpr int kMaxStripRows = 128;  // that a block computes; the weights of all of them are in shared memory

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

/// Sums of the texels of a row, each thread with its own weights. If adjacent pixels share texels, the warp stages them.
template <int taps, int channels, bool staged>
class RowSums {
public:
    using Sums = ChannelSums<channels>;
    struct Stage {
        Sums texel[2][kStaged + taps];  // of two rows; weights of 0 are multiplied with texels after the last one
    };

    __device__ RowSums(const ColumnsJob& job, Stage* stage, std::int32_t x, std::int32_t z)
        : rows_(job.grid, job.source, z), stage_(stage) {
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
            rows_.select(begin_, ::max(left, right) - begin_ + taps);
        }
    }

    __device__ Sums operator()(std::int32_t row) {
        Sums sum;
        if constexpr (staged) {
            Sums* const texels = stage_->texel[buffer_];
            buffer_ ^= 1;
            rows_.copy(row, row + 1, texels, [](std::int32_t texel) { return texel; });
            const Sums* const from = texels + (first_ - begin_);
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) sum.add(from[tap], weights_[tap]);
        } else {
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) {
                if (tap < count_) sum.add(rows_.texel(first_ + tap, row), weights_[tap]);
            }
        }
        return sum;
    }

private:
    TexelRows<channels> rows_;
    Stage* stage_;
    std::int32_t first_;
    std::int32_t count_;
    std::int32_t begin_ = 0;  // first texel of the warp
    int buffer_ = 0;
    float weights_[taps];
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
        detail::PixelColumn<detail::kColumnPixels> pixels;
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
            pixels.color[i] = detail::packed(sum.pixel());
        }
        if (begin_x + lane < width) {
            detail::store_pixels<1>(job.target, static_cast<unsigned>(x), static_cast<unsigned>(y + begin),
                                    static_cast<unsigned>(z), pixels);
        }
    }
}

unsigned parts(unsigned side, unsigned part) { return (side + part - 1) / part; }

std::size_t pixels_of(const PixelTarget& target) { return std::size_t{target.width} * target.height * target.depth; }

std::int32_t max_taps(const Separable& filter) {
    return std::max(max_taps(filter.filter, filter.grid.x), max_taps(filter.filter, filter.grid.y));
}

/// Returns true if the functor is faster than the kernels of this file: its threads read all texels of one pixel, so that
/// few pixels have more threads. The limits were measured on an H200.
bool is_faster_by_pixels(const detail::Launch& launch, const Separable& filter) {
    return std::min(filter.grid.x.step, filter.grid.y.step) > 1 && filter.filter != ResampleFilter::lanczos3 &&
           max_taps(filter) <= kTapsOfFewPixels && pixels_of(launch.target()) <= std::size_t{1} << 17;
}

/// Returns true if tiles are faster than the kernels for larger images, which would have too few threads. The limits were
/// measured on an H200.
bool is_faster_in_tiles(const detail::Launch& launch, const Separable& filter) {
    const PixelTarget& target = launch.target();
    const std::size_t pixels = pixels_of(target);
    const auto channels = static_cast<std::size_t>(target.format.stored.channels);
    const Axis& axis = filter.grid.x;
    if (std::max(axis.step, filter.grid.y.step) < 1) return pixels <= std::size_t{1} << 19;
    if (!shares_texels(axis, max_taps(filter.filter, axis))) return false;
    if (pixels * channels <= std::size_t{1} << 17) return true;
    return filter.filter == ResampleFilter::lanczos3 && channels == 4 && pixels <= std::size_t{1} << 20;
}

std::size_t values_of(const PixelTarget& target) {
    return pixels_of(target) * static_cast<std::size_t>(target.format.stored.channels);
}

/// Returns true if columns of values (kernels/cuda/resample_columns.cu) are faster than the other kernels for smaller
/// images: for one channel, if values have 32 bits or if there are few. The limit was measured on an H200.
bool is_faster_in_columns_of_values(const detail::Launch& launch, const Separable& filter) {
    const PixelTarget& target = launch.target();
    const auto& stored = target.format.stored;
    return std::min(filter.grid.x.step, filter.grid.y.step) >= 1 && stored.channels == 1 &&
           (stored.bits == 32 || pixels_of(target) <= std::size_t{1} << 20);
}

/// Returns true if an image has enough values for each thread to compute four adjacent ones of many rows.
bool has_many_values(const detail::Launch& launch, const Separable& filter) {
    const std::size_t values = values_of(launch.target());
    if (filter.filter == ResampleFilter::area) return values >= std::size_t{1} << 19;
    if (max_taps(filter) > kFewTaps) return values >= std::size_t{1} << 23;
    return values >= std::size_t{1} << (std::min(filter.grid.x.step, filter.grid.y.step) > 1 ? 20 : 22);
}

/// Returns true if the kernel for reductions (kernels/cuda/reduction.cu) is faster where it is possible: except for
/// Lanczos filters of small images, and of images of one channel with more than 8 bits whose pixels are far apart. The
/// limits were measured on an H200.
bool is_faster_as_reduction(const detail::Launch& launch, const Separable& filter) {
    constexpr float kLongStep = 2.5f;
    if (filter.filter != ResampleFilter::lanczos3) return true;
    const auto& stored = launch.target().format.stored;
    const bool is_far = std::max(filter.grid.x.step, filter.grid.y.step) > kLongStep;
    return pixels_of(launch.target()) >= std::size_t{1} << 21 && !(is_far && stored.channels == 1 && stored.bits > 8);
}

/// Returns true if strips of values (kernels/cuda/resample_values.cu) are faster where they are possible: for larger
/// images of one channel, and for Lanczos filters, unless tiles stage the texels of distant pixels or fetch small ones.
/// Small images have too few strips. The limits were measured on an H200.
bool is_faster_in_strips(const detail::Launch& launch, const Separable& filter) {
    constexpr float kShortStep = 1.75f;
    constexpr float kLongStep = 3.5f;
    constexpr int kSlowBits = 64;  // of a texel; the texture unit fetches such texels at half the rate or less
    const auto& stored = launch.target().format.stored;
    const int channels = stored.channels;
    const std::size_t values = values_of(launch.target());
    const float step = std::max(filter.grid.x.step, filter.grid.y.step);
    const bool is_large = values >= std::size_t{1} << 21;
    if (channels == 1) return is_large && (step < 1 || max_taps(filter) > kMaxTaps);
    if (filter.filter != ResampleFilter::lanczos3 || max_taps(filter) <= kMaxTaps) return false;
    const Axis& axis = filter.grid.x;
    if (shares_texels(axis, max_taps(filter.filter, axis))) return step < kShortStep && values >= std::size_t{1} << 23;
    if (channels * stored.bits >= kSlowBits) return values >= std::size_t{1} << 18;
    return is_large && (channels == 2 || step < kLongStep);
}

template <int taps>
void enqueue_columns(const detail::Launch& launch, const Separable& filter) {
    const Grid& grid = filter.grid;
    const PixelTarget& target = launch.target();
    const unsigned first = detail::first_row_of(launch);
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
    const std::int32_t taps = max_taps(filter);
    if (taps > kMaxTaps) return false;
    if (taps <= kFewTaps) {
        enqueue_columns<kFewTaps>(launch, filter);
    } else {
        enqueue_columns<kMaxTaps>(launch, filter);
    }
    return true;
}

}  // namespace
}  // namespace texton::resampling

namespace texton::detail {

bool CudaKernels::resample(Launch& launch, const resampling::Separable& filter) const {
    if (ImageRowsScope::of(launch.state().image) != nullptr)
        return resampling::enqueue_columns(launch, filter) || resampling::enqueue_tiles(launch, filter);
    if (filter.filter == ResampleFilter::area && resampling::enqueue_halves(launch, filter.grid)) return true;
    if (resampling::is_faster_by_pixels(launch, filter)) return false;
    if (resampling::enqueue_double_columns(launch, filter)) return true;
    if (resampling::is_faster_in_tiles(launch, filter) && resampling::enqueue_tiles(launch, filter)) return true;
    if (resampling::enqueue_half_columns(launch, filter)) return true;
    if (resampling::is_faster_in_columns_of_values(launch, filter) &&
        resampling::enqueue_columns_of_values(launch, filter))
        return true;
    if (resampling::is_faster_as_reduction(launch, filter) && resampling::enqueue_reduction(launch, filter))
        return true;
    if (resampling::has_many_values(launch, filter) && resampling::enqueue_columns_of_values(launch, filter))
        return true;
    if (resampling::is_faster_in_strips(launch, filter) && resampling::enqueue_strips_of_values(launch, filter))
        return true;
    return resampling::enqueue_columns(launch, filter) || resampling::enqueue_tiles(launch, filter);
}

}  // namespace texton::detail
