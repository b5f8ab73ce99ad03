// Separable filters of small radius whose texels and pixels have the same format, in one CUDA kernel that neither uses
// the texture unit nor shared memory.
//
// Warps process strips (kernels/cuda/value_strips.h). A thread keeps the sums of the rows that its next values need in
// registers. Terms are added in the order of the functors Across and Down.
#include <algorithm>
#include <optional>

#include "kernels/cuda/columns.h"
#include "kernels/cuda/filter_columns.h"
#include "kernels/cuda/value_strips.h"

namespace texton::filters {
namespace {

using detail::ChannelSums;
using detail::kValues;

constexpr int kLargestRadius = 3;

struct Job {
    detail::ValueStrips strips;
    float across[2 * kLargestRadius + 1];  // weights, none of which is 0
    float down[2 * kLargestRadius + 1];
};

template <class Format, int channels, int radius>
__global__ void __launch_bounds__(detail::kStripLanes* detail::kStripWarps)
    filter_values(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using Sums = ChannelSums<kValues>;
    using Strip = detail::ValueStrip<channels, detail::threads_with(radius * channels)>;
    constexpr int kTaps = 2 * radius + 1;
    constexpr int kBeside = Strip::kBeside;
    constexpr unsigned kAll = 0xffffffff;
    const Strip strip(job.strips);
    if (strip.y >= strip.end) return;

    Sums sums[kTaps];                // of the rows around the next one
    unsigned ahead[Format::kWords];  // of the row after them
    const auto load = [&](std::int32_t row) { job.strips.load<Format, channels>(strip.x, row, strip.z, ahead); };
    const auto add_row = [&](std::int32_t next) {
        unsigned words[2 * kBeside + 1][Format::kWords];
        ::memcpy(words[kBeside], ahead, sizeof ahead);
        load(next);  // is not needed before this row is done
#pragma unroll
        for (int i = 0; i < 2 * kBeside + 1; ++i) {
#pragma unroll
            for (int word = 0; word < Format::kWords; ++word) {
                if (i != kBeside) words[i][word] = __shfl_sync(kAll, words[kBeside][word], strip.lane + i - kBeside);
            }
        }
        float value[(2 * kBeside + 1) * kValues];
#pragma unroll
        for (int i = 0; i < (2 * kBeside + 1) * kValues; ++i) value[i] = Format::value(words[i / kValues], i % kValues);
        Sums sum;
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
            for (int i = 0; i < kValues; ++i) {
                const float beside = value[kBeside * kValues + i + (tap - radius) * channels];
                sum.of[i] = ::fmaf(beside, job.across[tap], sum.of[i]);
            }
        }
#pragma unroll
        for (int tap = 1; tap < kTaps; ++tap) sums[tap - 1] = sums[tap];
        sums[kTaps - 1] = sum;
    };
    load(strip.y - radius);
    for (std::int32_t row = strip.y - radius; row < strip.y + radius; ++row) add_row(row + 1);
    std::byte* to = strip.template address<Stored>(job.strips.target);
#pragma unroll kTaps
    for (std::int32_t row = strip.y; row < strip.end; ++row, to += job.strips.target.pitch) {
        add_row(row + radius + 1);
        Sums sum;
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
            for (int i = 0; i < kValues; ++i) sum.of[i] = ::fmaf(sums[tap].of[i], job.down[tap], sum.of[i]);
        }
        Stored results[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) results[i] = Format::stored(sum.of[i], i);
        strip.template store<typename Format::Words>(to, results);
    }
}

template <class Format, int channels, int radius>
void enqueue(const detail::Launch& launch, Job job) {
    using Strip = detail::ValueStrip<channels, detail::threads_with(radius * channels)>;
    detail::launch_strips<Strip, channels>(launch,
                                           reinterpret_cast<const void*>(&filter_values<Format, channels, radius>), job,
                                           job.strips, sizeof(typename Format::Stored) == 1 ? 16 * radius : 8 * radius);
}

template <class Format, int channels>
bool enqueue_channels(const detail::Launch& launch, const Job& job, std::int32_t radius) {
    constexpr int kMaxRadius = channels == 1 ? kLargestRadius : 2;
    if (radius > kMaxRadius) return false;
    if (radius == 1) {
        enqueue<Format, channels, 1>(launch, job);
    } else if (radius == 2) {
        enqueue<Format, channels, 2>(launch, job);
    } else if constexpr (kMaxRadius == 3) {
        enqueue<Format, channels, 3>(launch, job);
    }
    return true;
}

}  // namespace

bool enqueue_values(const detail::Launch& launch, const Separable& filter) {
    const std::int32_t radius = filter.across.radius;
    const detail::TexelFormat& format = launch.target().format.stored;
    // The sums of four channels are faster with fetches of the texture unit.
    if (radius < 1 || radius > kLargestRadius || filter.down.radius != radius || format.channels > 2) return false;
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    if (!strips) return false;
    Job job{*strips, {}, {}};
    const std::int32_t count = 2 * radius + 1;
    std::copy_n(filter.across.weight, count, job.across);
    std::copy_n(filter.down.weight, count, job.down);
    // Texels whose weight is 0 do not count, which other kernels check.
    if (std::count(job.across, job.across + count, 0.0f) != 0 || std::count(job.down, job.down + count, 0.0f) != 0)
        return false;
    return detail::with_stored_values(format, [&]<class Format, int channels>() {
        if constexpr (channels > 2)
            return false;
        else
            return detail::has_aligned_values<Format>(job.strips.texels) &&
                   enqueue_channels<Format, channels>(launch, job, radius);
    });
}

}  // namespace texton::filters
