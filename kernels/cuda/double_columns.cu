// Separable resampling to twice the width and height in one CUDA kernel that does not use the texture unit, for texels
// and pixels of the same format. All pixels with an even number have the same weights along an axis, and so have those
// with an odd number.
//
// Warps process strips (kernels/cuda/value_strips.h). A warp copies the values of a row of texels to shared memory, where
// each thread reads those that its four values of the image need, and loads the next row meanwhile. A thread keeps the
// sums of the rows that its next values need in registers. Terms are added in the order of the functor SeparableSum.
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/cuda/columns.h"
#include "kernels/cuda/stored_resampling.h"
#include "kernels/cuda/value_strips.h"
#include "kernels/functors/resample_functors.h"

namespace texton::resampling {
namespace {

using detail::kStripLanes;
using detail::kStripWarps;
using detail::kValues;

constexpr int kMaxTaps = 6;

/// The weights of the pixels of an axis, none of which is 0. The pixels 2 * k and 2 * k + 1 lie in the texel first + k.
struct TwoPhases {
    std::int32_t first;
    float weights[2][kMaxTaps];
};

struct Job {
    detail::ValueStrips strips;
    TwoPhases across;
    TwoPhases down;
};

/// The texels that the two pixels in a texel read: the even one reads `taps` texels from kBefore texels before on, and the
/// odd one starts kShift texels later.
template <int taps>
struct TexelsOfTwo {
    static constexpr int kBefore = taps / 2;
    static constexpr int kShift = taps == 1 ? 0 : 1;
};

/// Sums of rows of texels for the four values of a thread.
template <class Format, int channels, int taps>
class RowSums {
public:
    using Sums = detail::ChannelSums<kValues>;
    using Two = TexelsOfTwo<taps>;
    struct Stage {
        float4 values[2][kStripLanes];  // of two rows
    };

    __device__ RowSums(const Job& job, Stage& stage, const detail::ValueStrip<channels, 0>& strip)
        : job_(job), stage_(stage), lane_(strip.lane), z_(strip.z) {
        const std::int32_t left = (strip.x - strip.lane * kValues) / (2 * channels);
        const std::int32_t exact = (job.across.first + left - Two::kBefore) * channels;
        const std::int32_t begin = exact & ~(kValues - 1);
        value_ = begin + lane_ * kValues;
        offset_ = exact - begin + strip.lane * kValues / (2 * channels) * channels;
        if constexpr (channels == kValues) {
            const int odd = strip.lane % 2;
            offset_ += odd * Two::kShift * channels;
#pragma unroll
            for (int tap = 0; tap < taps; ++tap)
                weights_[tap] = odd != 0 ? job.across.weights[1][tap] : job.across.weights[0][tap];
        }
    }

    __device__ Sums operator()(std::int32_t row) {
        if (row != row_ahead_) load(row);
        float4* const staged = stage_.values[buffer_];
        buffer_ ^= 1;
        staged[lane_] = make_float4(Format::value(ahead_, 0), Format::value(ahead_, 1), Format::value(ahead_, 2),
                                    Format::value(ahead_, 3));
        __syncwarp();
        load(row + 1);
        const float* const values = reinterpret_cast<const float*>(staged) + offset_;
        float texels[kTexels][channels];
#pragma unroll
        for (int i = 0; i < kTexels; ++i)
            ::memcpy(texels[i], __builtin_assume_aligned(values + i * channels, 4 * channels), sizeof texels[i]);
        Sums sums;
#pragma unroll
        for (int tap = 0; tap < taps; ++tap) {
#pragma unroll
            for (int i = 0; i < kValues; ++i) {
                constexpr int kNumber = channels == kValues ? 1 : 2;  // of pixels in a texel that the thread computes
                const int pixel = i / channels, odd = pixel % kNumber;
                const float weight = channels == kValues ? weights_[tap] : job_.across.weights[odd][tap];
                sums.of[i] =
                    ::fmaf(texels[pixel / kNumber + odd * Two::kShift + tap][i % channels], weight, sums.of[i]);
            }
        }
        return sums;
    }

private:
    static constexpr int kTexels = taps + (channels == kValues ? 0 : Two::kShift) + (channels == 1 ? 1 : 0);

    __device__ void load(std::int32_t row) {
        row_ahead_ = row;
        job_.strips.load<Format, channels>(value_, row, z_, ahead_);
    }

    const Job& job_;
    Stage& stage_;
    std::int32_t lane_;
    unsigned z_;
    std::int32_t value_;   // first value of a row that the thread loads
    std::int32_t offset_;  // of the first value that the thread reads among those that the warp staged
    std::int32_t row_ahead_ = -1 << 30;
    int buffer_ = 0;
    float weights_[taps];  // of the thread's pixel, if it is a single one
    unsigned ahead_[Format::kWords];
};

template <class Format, int channels, int taps>
__global__ void __launch_bounds__(kStripLanes* kStripWarps) double_columns(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using RowSums = RowSums<Format, channels, taps>;
    using Two = TexelsOfTwo<taps>;
    using Sums = typename RowSums::Sums;
    __shared__ typename RowSums::Stage stage[kStripWarps];
    const detail::ValueStrip<channels, 0> strip(job.strips);
    if (strip.y >= strip.end) return;

    RowSums sum_row(job, stage[threadIdx.y], strip);
    Sums sums[taps];
    std::int32_t next = job.down.first + strip.y / 2 - Two::kBefore;
    const auto add_row = [&] {
#pragma unroll
        for (int tap = 1; tap < taps; ++tap) sums[tap - 1] = sums[tap];
        sums[taps - 1] = sum_row(next++);
    };
#pragma unroll 1
    for (int tap = 0; tap < taps; ++tap) add_row();
    std::byte* to = strip.template address<Stored>(job.strips.target);
    const auto store = [&](const float(&weights)[kMaxTaps]) {
        Sums sum;
#pragma unroll
        for (int tap = 0; tap < taps; ++tap) {
#pragma unroll
            for (int i = 0; i < kValues; ++i) sum.of[i] = ::fmaf(sums[tap].of[i], weights[tap], sum.of[i]);
        }
        Stored results[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) results[i] = Format::stored(sum.of[i], i);
        strip.template store<typename Format::Words>(to, results);
        to += job.strips.target.pitch;
    };
#pragma unroll 1
    for (std::int32_t row = strip.y; row < strip.end; row += 2) {  // the first row of a strip is even
        store(job.down.weights[0]);
        if constexpr (Two::kShift == 1) add_row();
        if (row + 1 < strip.end) store(job.down.weights[1]);
        if constexpr (Two::kShift == 0) add_row();
    }
}

/// Returns the weights of an axis, or nothing if not all pixels read `taps` texels with the same weights.
template <class Weights, int taps>
std::optional<TwoPhases> two_phases(const Axis& axis, std::uint32_t pixels) {
    constexpr float kExact = 1 << 20;  // coordinates below it are not rounded
    if (axis.step != 0.5f || axis.begin != std::floor(axis.begin) || std::abs(axis.begin) >= kExact ||
        static_cast<float>(pixels) >= kExact)
        return std::nullopt;
    TwoPhases phases{static_cast<std::int32_t>(axis.begin), {}};
    for (int odd = 0; odd < 2; ++odd) {
        const Weights of(axis, odd);
        std::int32_t begin = 0, end = of.count();
        while (begin < end && of(begin) == 0) ++begin;
        while (end > begin && of(end - 1) == 0) --end;
        const std::int32_t first = phases.first - TexelsOfTwo<taps>::kBefore + odd * TexelsOfTwo<taps>::kShift;
        if (end - begin != taps || of.first() + begin != first) return std::nullopt;
        for (int tap = 0; tap < taps; ++tap) {
            phases.weights[odd][tap] = of(begin + tap);
            if (phases.weights[odd][tap] == 0) return std::nullopt;
        }
    }
    return phases;
}

template <class Weights, int taps>
bool enqueue_with(const detail::Launch& launch, const Grid& grid) {
    constexpr unsigned kRows = 64;  // of a warp
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    if (!strips) return false;
    const detail::PixelTarget& target = strips->target;
    const auto across = two_phases<Weights, taps>(grid.x, target.width);
    const auto down = two_phases<Weights, taps>(grid.y, target.height);
    if (!across || !down) return false;
    Job job{*strips, *across, *down};
    return detail::with_stored_values(target.format.stored, [&]<class Format, int channels>() {
        if (!detail::has_aligned_values<Format>(strips->texels)) return false;
        detail::launch_strips<detail::ValueStrip<channels, 0>, channels>(
            launch, reinterpret_cast<const void*>(&double_columns<Format, channels, taps>), job, job.strips, kRows);
        return true;
    });
}

}  // namespace

bool enqueue_double_columns(const detail::Launch& launch, const Separable& filter) {
    switch (filter.filter) {
        case ResampleFilter::catmull_rom: return enqueue_with<CatmullRomWeights, 4>(launch, filter.grid);
        case ResampleFilter::b_spline: return enqueue_with<BSplineWeights, 4>(launch, filter.grid);
        case ResampleFilter::lanczos3: return enqueue_with<Normalized<LanczosWindow>, kMaxTaps>(launch, filter.grid);
        case ResampleFilter::area: return enqueue_with<Normalized<CoveredLength>, 1>(launch, filter.grid);
        case ResampleFilter::nearest:
        case ResampleFilter::linear: break;
    }
    return false;
}

}  // namespace texton::resampling
