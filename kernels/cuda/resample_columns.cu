// Separable resampling with few texels for each pixel in one CUDA kernel that does not use the texture unit, for texels
// and pixels of the same format.
//
// Warps process strips (kernels/cuda/value_strips.h). A warp copies the values of a row of texels to shared memory, where
// each thread reads those that its four values of the image need, and loads the next row meanwhile. A thread keeps the
// sums of the rows that its next values need in registers. Terms are added in the order of the functor SeparableSum.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/cuda/filter_weights.h"
#include "kernels/cuda/stored_resampling.h"
#include "kernels/cuda/value_strips.h"
#include "kernels/functors/resample_functors.h"

namespace texton::resampling {
namespace {

using detail::kStripLanes;
using detail::kStripWarps;
using detail::kValues;

constexpr int kTwoTaps = 2;   // of a pixel along an axis, for the smallest kernels
constexpr int kFewTaps = 4;   // for larger ones
constexpr int kMostTaps = 7;  // for the others
constexpr int kRows = 64;     // of the image that a warp computes, at most
constexpr int kGroups = 2;    // of kValues values that a thread loads of a row of texels, at most
constexpr int kStaged = kGroups * kStripLanes;

struct Job {
    detail::ValueStrips strips;
    Grid grid;
    ResampleFilter filter;
};

/// The weights of the rows of texels that a row of the image reads. Those of the last texel come last.
template <int taps>
struct alignas(16) RowTaps {
    float weight[(taps + 3) / 4 * 4];
    std::int32_t first;
    std::int32_t end;

    __device__ void compute(ResampleFilter filter, const Axis& axis, std::int32_t row) {
        float weights[taps];
        const TapSpan span = compute_weights(filter, axis, row, weights, 1);
        first = span.first;
        end = span.first + span.count;
        const std::int32_t before = taps - span.count;
        for (int tap = 0; tap < taps; ++tap) weight[tap] = tap < before ? 0.0f : weights[tap - before];
    }
};

/// Adds a value times a weight. Values whose weight is 0 must not count if they can be infinite or NaN.
template <class Format>
__device__ void add(float& sum, float value, float weight) {
    const float next = ::fmaf(value, weight, sum);
    if (detail::kIsFinite<Format> || weight != 0) sum = next;
}

/// The weights of the texels of a row that the pixels of a strip read. Those of the first texel come first.
template <int taps, int channels>
struct StripTaps {
    static constexpr int kPixels = kStripLanes * kValues / channels;
    float weight[taps][kPixels];
    std::int32_t first[kPixels];

    __device__ void compute(ResampleFilter filter, const Axis& axis, std::int32_t begin, std::int32_t pixel,
                            std::int32_t last) {
        float weights[taps];
        const TapSpan span = compute_weights(filter, axis, begin + ::min(pixel, last), weights, 1);
        first[pixel] = span.first;
        for (int tap = 0; tap < taps; ++tap) weight[tap][pixel] = tap < span.count ? weights[tap] : 0.0f;
    }
};

/// Sums of rows of texels for the four values of a thread.
template <class Format, int channels, int taps>
class RowSums {
public:
    using Taps = StripTaps<taps, channels>;
    struct Stage {
        float4 values[2][kStaged];  // of two rows
    };

    __device__ RowSums(const detail::ValueStrips& strips, const Taps& across, Stage& stage, std::int32_t lane,
                       unsigned z)
        : strips_(strips), stage_(stage), lane_(lane), z_(z) {
        const std::int32_t begin = across.first[0] & ~(kPixels - 1);
        begin_ = begin * channels;
        groups_ = ((across.first[Taps::kPixels - 1] + taps - begin) * channels + kValues - 1) / kValues;
        is_inside_ =
            begin >= 0 && begin_ + groups_ * kValues <= static_cast<std::int32_t>(strips_.texels.width) * channels;
#pragma unroll
        for (int i = 0; i < kPixels; ++i) {
            const std::int32_t pixel = lane * kPixels + i;
            offset_[i] = (across.first[pixel] - begin) * channels;
#pragma unroll
            for (int tap = 0; tap < taps; ++tap) weights_[i][tap] = across.weight[tap][pixel];
        }
    }

    __device__ void operator()(std::int32_t row, float (&sums)[kValues]) {
        if (row != row_ahead_) load(row);
        float4* const staged = stage_.values[buffer_];
        buffer_ ^= 1;
#pragma unroll
        for (int i = 0; i < kGroups; ++i) {
            if (lane_ + i * kStripLanes < groups_) {
                staged[lane_ + i * kStripLanes] = make_float4(Format::value(ahead_[i], 0), Format::value(ahead_[i], 1),
                                                              Format::value(ahead_[i], 2), Format::value(ahead_[i], 3));
            }
        }
        __syncwarp();
        load(row + 1);
        const auto* const values = reinterpret_cast<const float*>(staged);
#pragma unroll
        for (int i = 0; i < kValues; ++i) sums[i] = 0;
#pragma unroll
        for (int tap = 0; tap < taps; ++tap) {
#pragma unroll
            for (int pixel = 0; pixel < kPixels; ++pixel) {
                float texel[channels];
                ::memcpy(texel, __builtin_assume_aligned(values + offset_[pixel] + tap * channels, 4 * channels),
                         sizeof texel);
#pragma unroll
                for (int c = 0; c < channels; ++c)
                    add<Format>(sums[pixel * channels + c], texel[c], weights_[pixel][tap]);
            }
        }
    }

private:
    static constexpr int kPixels = kValues / channels;  // of a thread

    __device__ void load(std::int32_t row) {
        using Words = typename Format::Words;
        row_ahead_ = row;
#pragma unroll
        for (int i = 0; i < kGroups; ++i) {
            const std::int32_t group = lane_ + i * kStripLanes;
            if (group >= groups_) continue;
            const std::int32_t value = begin_ + group * kValues;
            if (is_inside_) {
                const auto y =
                    static_cast<unsigned>(::min(::max(row, 0), static_cast<std::int32_t>(strips_.texels.height) - 1));
                const auto loaded = detail::load_stored<Words>(
                    strips_.in, strips_.texels, static_cast<unsigned>(value * sizeof(typename Format::Stored)), y,
                    strips_.layered ? z_ : 0);
                ::memcpy(ahead_[i], &loaded, sizeof loaded);
            } else {
                strips_.load<Format, channels>(value, row, z_, ahead_[i]);
            }
        }
    }

    const detail::ValueStrips& strips_;
    Stage& stage_;
    std::int32_t lane_;
    unsigned z_;
    std::int32_t begin_;   // first value of a row that the warp reads
    std::int32_t groups_;  // of kValues values that it reads
    bool is_inside_;       // all of these values are inside the row
    std::int32_t row_ahead_ = -1 << 30;
    int buffer_ = 0;
    std::int32_t offset_[kPixels];  // of the first texel of each pixel among the staged values
    float weights_[kPixels][taps];
    unsigned ahead_[kGroups][Format::kWords];
};

/// Blocks of a multiprocessor at the same time.
template <int taps>
constexpr int kBlocks = taps <= kFewTaps ? 3 : 2;

template <class Format, int channels, int taps>
__global__ void __launch_bounds__(kStripLanes* kStripWarps, kBlocks<taps>)
    resample_columns(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using RowSums = RowSums<Format, channels, taps>;
    __shared__ RowTaps<taps> down[kRows * kStripWarps];
    __shared__ typename RowSums::Taps across;
    __shared__ typename RowSums::Stage stage[kStripWarps];
    const detail::ValueStrip<channels, 0> strip(job.strips);
    const auto warp = static_cast<std::int32_t>(threadIdx.y);
    const std::int32_t block_y = strip.y - warp * job.strips.rows;
    const std::int32_t rows =
        ::min(kStripWarps * job.strips.rows, static_cast<std::int32_t>(job.strips.target.height) - block_y);
    for (std::int32_t row = warp * kStripLanes + strip.lane; row < rows; row += kStripWarps * kStripLanes)
        down[row].compute(job.filter, job.grid.y, block_y + row);
    // The pixels after the last ones of the image repeat these.
    const std::int32_t pixel = (kStripWarps - 1 - warp) * kStripLanes + strip.lane;
    const std::int32_t x = strip.x / channels - strip.lane * (kValues / channels);
    const std::int32_t last = static_cast<std::int32_t>(job.strips.target.width) - 1 - x;
    if (pixel < RowSums::Taps::kPixels) across.compute(job.filter, job.grid.x, x, pixel, last);
    __syncthreads();
    if (strip.y >= strip.end) return;

    RowSums sum_row(job.strips, across, stage[warp], strip.lane, strip.z);
    float sums[taps][kValues]{};  // of the rows before `next`
    std::int32_t next = down[strip.y - block_y].first;
    std::byte* to = strip.template address<Stored>(job.strips.target);
#pragma unroll 1
    for (std::int32_t row = strip.y; row < strip.end; ++row, to += job.strips.target.pitch) {
        const RowTaps<taps>& texels = down[row - block_y];
        next = ::max(next, texels.first);
#pragma unroll 1
        for (; next < texels.end; ++next) {
#pragma unroll
            for (int tap = 1; tap < taps; ++tap) {
#pragma unroll
                for (int i = 0; i < kValues; ++i) sums[tap - 1][i] = sums[tap][i];
            }
            sum_row(next, sums[taps - 1]);
        }
        float sum[kValues]{};
#pragma unroll
        for (int tap = 0; tap < taps; ++tap) {
#pragma unroll
            for (int i = 0; i < kValues; ++i) add<Format>(sum[i], sums[tap][i], texels.weight[tap]);
        }
        Stored results[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) results[i] = Format::stored(sum[i], i);
        strip.template store<typename Format::Words>(to, results);
    }
}

template <class Format, int channels>
void enqueue(const detail::Launch& launch, Job& job, std::int32_t taps) {
    const void* const kernel =
        taps <= kTwoTaps   ? reinterpret_cast<const void*>(&resample_columns<Format, channels, kTwoTaps>)
        : taps <= kFewTaps ? reinterpret_cast<const void*>(&resample_columns<Format, channels, kFewTaps>)
                           : reinterpret_cast<const void*>(&resample_columns<Format, channels, kMostTaps>);
    detail::launch_strips<detail::ValueStrip<channels, 0>, channels>(launch, kernel, job, job.strips, kRows);
}

/// Returns true if the texels that a warp reads of a row can be staged.
bool can_stage(const Axis& axis, std::int32_t taps, int channels) {
    const auto pixels = static_cast<float>(kStripLanes * kValues / channels - 1);
    const auto texels = static_cast<float>(kStaged * kValues / channels);
    return pixels * axis.step + static_cast<float>(taps + kMoreTexels + kValues) < texels;
}

}  // namespace

bool enqueue_columns_of_values(const detail::Launch& launch, const Separable& filter) {
    const Grid& grid = filter.grid;
    const detail::PixelTarget& target = launch.target();
    const std::int32_t taps =
        std::max(max_taps(filter.filter, grid.x, target.width), max_taps(filter.filter, grid.y, target.height));
    if (taps > kMostTaps || grid.x.step <= 0 || grid.y.step <= 0) return false;
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    if (!strips || !can_stage(grid.x, taps, strips->target.format.stored.channels)) return false;
    Job job{*strips, grid, filter.filter};
    return detail::with_stored_values(strips->target.format.stored, [&]<class Format, int channels>() {
        if (!detail::has_aligned_values<Format>(strips->texels)) return false;
        enqueue<Format, channels>(launch, job, taps);
        return true;
    });
}

}  // namespace texton::resampling
