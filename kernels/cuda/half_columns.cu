// Separable resampling to half the width and height in one CUDA kernel that neither uses the texture unit nor shared
// memory, for texels and pixels of the same format. All pixels have the same weights.
//
// Warps process strips (kernels/cuda/value_strips.h). A thread loads the eight values of a row of texels above its four
// values of the image, and gets the values beside them from other threads. It adds the sums of each row to all pixels
// that the row belongs to. Terms are added in the order of the functor SeparableSum.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/cuda/columns.h"
#include "kernels/cuda/stored_resampling.h"
#include "kernels/cuda/value_strips.h"
#include "kernels/functors/resample_functors.h"

namespace texton::resampling {
namespace {

using detail::kValues;

constexpr int kMaxTaps = 12;
constexpr int kTexelValues = 2 * kValues;  // that a thread loads of a row

struct Job {
    detail::ValueStrips strips;
    std::int32_t first[2];   // texel below the upper left quarter of the first pixel
    float across[kMaxTaps];  // weights, none of which is 0
    float down[kMaxTaps];
};

TEXTON_HD constexpr int floor_divide(int number, int by) {
    return number >= 0 ? number / by : -((by - 1 - number) / by);
}

/// `taps` texels along each axis; half of them are on each side of the pixel's center.
template <class Format, int channels, int taps>
struct HalfRows {
    static constexpr int kBefore =
        (taps / 2 - 1) * channels;  // values before and after those below the thread's values
    static constexpr int kBeside = detail::threads_with(kBefore, kTexelValues);
    using Strip = detail::ValueStrip<channels, kBeside>;
    using Sums = detail::ChannelSums<kValues>;

    /// Returns the sums of the texels of a row.
    __device__ static Sums sum(const unsigned (&words)[2 * Format::kWords], const float (&weights)[kMaxTaps],
                               std::int32_t lane) {
        constexpr unsigned kAll = 0xffffffff;
        float own[kTexelValues];
#pragma unroll
        for (int i = 0; i < kTexelValues; ++i)
            own[i] = Format::value(words + i / kValues * Format::kWords, i % kValues);
        Sums sum;
        detail::repeat<kTexelValues + 2 * kBefore>([&]<int number>() {
            constexpr int kThread = floor_divide(number - kBefore, kTexelValues);
            constexpr int kValue = number - kBefore - kThread * kTexelValues;
            const float value = kThread == 0 ? own[kValue] : __shfl_sync(kAll, own[kValue], lane + kThread);
#pragma unroll
            for (int i = 0; i < kValues; ++i) {
                const int tap = number / channels - i / channels * 2;
                if (number % channels == i % channels && tap >= 0 && tap < taps)
                    sum.of[i] = ::fmaf(value, weights[tap], sum.of[i]);
            }
        });
        return sum;
    }
};

/// Blocks of a multiprocessor at the same time.
template <class Format, int taps>
constexpr int kBlocks = taps > 4 && sizeof(typename Format::Stored) < 4 ? 3 : 2;

template <class Format, int channels, int taps>
__global__ void __launch_bounds__(detail::kStripLanes* detail::kStripWarps, kBlocks<Format, taps>)
    halve_columns(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using Rows = HalfRows<Format, channels, taps>;
    using Sums = typename Rows::Sums;
    const typename Rows::Strip strip(job.strips);
    if (strip.y >= strip.end) return;

    const std::int32_t first = job.first[0] * channels + 2 * strip.x;
    unsigned ahead[2][2 * Format::kWords];  // the two rows of texels after those that were summed
    std::int32_t next = job.first[1] + 2 * strip.y - (taps / 2 - 1);
    const auto load = [&] {
        job.strips.load<Format, channels, 2>(first, next, strip.z, ahead[0]);
        job.strips.load<Format, channels, 2>(first, next + 1, strip.z, ahead[1]);
        next += 2;
    };
    constexpr int kOpen = taps / 2;
    Sums open[kOpen];  // of the next pixels below each other
    // Adds two rows of texels, which are the last ones of the first pixel, and returns the sum of that one.
    const auto add_rows = [&] {
        unsigned words[2][2 * Format::kWords];
        ::memcpy(words, ahead, sizeof ahead);
        load();  // is not needed before these rows are done
#pragma unroll
        for (int row = 0; row < 2; ++row) {
            const Sums sum = Rows::sum(words[row], job.across, strip.lane);
#pragma unroll
            for (int pixel = 0; pixel < kOpen; ++pixel) {
#pragma unroll
                for (int i = 0; i < kValues; ++i)
                    open[pixel].of[i] = ::fmaf(sum.of[i], job.down[2 * (kOpen - 1 - pixel) + row], open[pixel].of[i]);
            }
        }
        const Sums finished = open[0];
#pragma unroll
        for (int pixel = 1; pixel < kOpen; ++pixel) open[pixel - 1] = open[pixel];
        open[kOpen - 1] = {};
        return finished;
    };
    load();
    for (int i = 0; i < kOpen - 1; ++i) add_rows();
    std::byte* to = strip.template address<Stored>(job.strips.target);
#pragma unroll taps> 4 ? 1 : 2
    for (std::int32_t row = strip.y; row < strip.end; ++row, to += job.strips.target.pitch) {
        const Sums sum = add_rows();
        Stored results[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) results[i] = Format::stored(sum.of[i], i);
        strip.template store<typename Format::Words>(to, results);
    }
}

template <class Format, int channels, int taps>
void enqueue(const detail::Launch& launch, Job& job) {
    detail::launch_strips<typename HalfRows<Format, channels, taps>::Strip, channels>(
        launch, reinterpret_cast<const void*>(&halve_columns<Format, channels, taps>), job, job.strips,
        taps > 4 ? 64 : 8);
}

/// Writes the weights of an axis. Returns false if not all pixels have the same `taps` weights, or if a weight is 0.
template <class Weights>
bool same_weights(const Axis& axis, std::uint32_t pixels, std::int32_t taps, std::int32_t& first,
                  float (&weights)[kMaxTaps]) {
    constexpr float kExact = 1 << 23;  // larger coordinates are rounded
    const float end = axis.begin + 2 * static_cast<float>(pixels);
    if (axis.step != 2 || axis.begin != std::floor(axis.begin) || std::abs(axis.begin) >= kExact || end >= kExact)
        return false;
    const Weights of(axis, 0);
    first = static_cast<std::int32_t>(axis.begin);
    if (of.count() != taps || of.first() != first - (taps / 2 - 1)) return false;
    for (std::int32_t tap = 0; tap < taps; ++tap) weights[tap] = of(tap);
    return std::count(weights, weights + taps, 0.0f) == 0;
}

template <class Weights, int taps>
bool enqueue_with(const detail::Launch& launch, const Grid& grid) {
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    if (!strips) return false;
    // Few sums of large texels are faster with fetches of the texture unit, unless the image is small.
    constexpr std::uint32_t kSmall = 1 << 21;  // pixels
    const std::uint32_t pixels = strips->target.width * strips->target.height;
    if (taps == 4 && strips->target.format.stored.bytes == 16 && pixels > kSmall) return false;
    Job job{*strips, {}, {}, {}};
    const detail::PixelTarget& target = strips->target;
    if (!same_weights<Weights>(grid.x, target.width, taps, job.first[0], job.across) ||
        !same_weights<Weights>(grid.y, target.height, taps, job.first[1], job.down))
        return false;
    const int channels = target.format.stored.channels;
    if (job.first[0] * channels % kValues != 0) return false;
    return detail::with_stored_values(target.format.stored, [&]<class Format, int channels>() {
        if (!detail::has_aligned_values<Format>(strips->texels)) return false;
        job.strips.has_pairs = detail::has_aligned_values<Format>(strips->texels, 2 * kValues) &&
                               job.first[0] * channels % (2 * kValues) == 0;
        enqueue<Format, channels, taps>(launch, job);
        return true;
    });
}

}  // namespace

bool enqueue_half_columns(const detail::Launch& launch, const Separable& filter) {
    switch (filter.filter) {
        case ResampleFilter::catmull_rom: return enqueue_with<CatmullRomWeights, 4>(launch, filter.grid);
        case ResampleFilter::b_spline: return enqueue_with<BSplineWeights, 4>(launch, filter.grid);
        case ResampleFilter::lanczos3: return enqueue_with<Normalized<LanczosWindow>, kMaxTaps>(launch, filter.grid);
        case ResampleFilter::area:
        case ResampleFilter::nearest:
        case ResampleFilter::linear: break;
    }
    return false;
}

}  // namespace texton::resampling
