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

/// The strip of threads with `groups` groups of kValues values. Two groups need fewer conversions of the values beside
/// them.
template <int channels, int radius, int groups>
using StripOf = detail::ValueStrip<channels, detail::threads_with(radius* channels, groups* kValues), groups * kValues>;

struct Job {
    detail::ValueStrips strips;
    float across[2 * kLargestRadius + 1];  // weights, none of which is 0
    float down[2 * kLargestRadius + 1];
};

template <class Format, int channels, int radius, int groups>
__global__ void __launch_bounds__(detail::kStripLanes* detail::kStripWarps, radius < 3 ? 3 : 2)
    filter_values(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using Strip = StripOf<channels, radius, groups>;
    constexpr int kTaps = 2 * radius + 1;
    constexpr int kBeside = Strip::kBeside;
    constexpr int kOwn = groups * kValues;
    constexpr int kWords = groups * Format::kWords;
    constexpr int kBefore = radius * channels;  // values before and after those of the thread
    constexpr int kOfWord = kOwn / kWords;
    using Sums = ChannelSums<kOwn>;
    constexpr unsigned kAll = 0xffffffff;
    const Strip strip(job.strips);
    if (strip.y >= strip.end) return;

    Sums sums[kTaps];        // of the rows around the next one
    unsigned ahead[kWords];  // of the row after them
    const auto load = [&](std::int32_t row) {
        job.strips.load<Format, channels, groups>(strip.x, row, strip.z, ahead);
    };
    const auto add_row = [&](std::int32_t next) {
        unsigned words[2 * kBeside + 1][kWords];
        ::memcpy(words[kBeside], ahead, sizeof ahead);
        load(next);  // is not needed before this row is done
        detail::repeat<(2 * kBeside + 1) * kWords>([&]<int i>() {
            constexpr int kThread = i / kWords, kWord = i % kWords;
            constexpr int kFirst = (i - kBeside * kWords) * kOfWord;  // value of the word
            if constexpr (kThread != kBeside && kFirst + kOfWord > -kBefore && kFirst < kOwn + kBefore)
                words[kThread][kWord] = __shfl_sync(kAll, words[kBeside][kWord], strip.lane + kThread - kBeside);
        });
        Sums sum;
        detail::repeat<kOwn + 2 * kBefore>([&]<int number>() {
            constexpr int kAt = kBeside * kOwn - kBefore + number;
            const float value = Format::value(words[kAt / kOwn] + kAt % kOwn / kValues * Format::kWords, kAt % kValues);
#pragma unroll
            for (int tap = 0; tap < kTaps; ++tap) {
                const int i = number - tap * channels;
                if (i >= 0 && i < kOwn) sum.of[i] = ::fmaf(value, job.across[tap], sum.of[i]);
            }
        });
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
            for (int i = 0; i < kOwn; ++i) sum.of[i] = ::fmaf(sums[tap].of[i], job.down[tap], sum.of[i]);
        }
        Stored results[kOwn];
#pragma unroll
        for (int i = 0; i < kOwn; ++i) results[i] = Format::stored(sum.of[i], i);
        strip.template store<detail::WordOf<sizeof results>>(to, results);
    }
}

template <class Format, int channels, int radius, int groups>
void enqueue(const detail::Launch& launch, Job job) {
    job.strips.has_pairs = detail::has_aligned_values<Format>(job.strips.texels, 2 * kValues);
    job.strips.stores_words = detail::has_aligned_values<Format>(job.strips.target, groups * kValues);
    detail::launch_strips<StripOf<channels, radius, groups>, channels>(
        launch, reinterpret_cast<const void*>(&filter_values<Format, channels, radius, groups>), job, job.strips,
        sizeof(typename Format::Stored) == 1 ? 16 * radius : 8 * radius);
}

/// Returns false if other kernels are faster. With two groups, small images have too few threads, and values of rows
/// that are not aligned are stored too slowly. For small images with four channels, fetches of the texture unit are
/// faster. The limit was measured on an H200.
template <class Format, int channels, int radius>
bool enqueue(const detail::Launch& launch, const Job& job) {
    constexpr std::size_t kLarge = std::size_t{1} << 23;  // values
    const detail::PixelTarget& target = job.strips.target;
    const bool is_large = std::size_t{target.width} * target.height * target.depth * channels >= kLarge;
    if constexpr (channels > 2) {
        if (is_large) enqueue<Format, channels, radius, 2>(launch, job);
        return is_large;
    } else {
        if constexpr (sizeof(typename Format::Stored) < 4) {
            if (is_large && detail::has_aligned_values<Format>(target, 2 * kValues)) {
                enqueue<Format, channels, radius, 2>(launch, job);
                return true;
            }
        }
        enqueue<Format, channels, radius, 1>(launch, job);
        return true;
    }
}

template <class Format, int channels>
bool enqueue_channels(const detail::Launch& launch, const Job& job, std::int32_t radius) {
    constexpr int kMaxRadius = channels == 1 ? kLargestRadius : 2;
    if (radius == 1) return enqueue<Format, channels, 1>(launch, job);
    if (radius == 2) return enqueue<Format, channels, 2>(launch, job);
    if constexpr (kMaxRadius == 3) return enqueue<Format, channels, 3>(launch, job);
    return false;
}

}  // namespace

bool enqueue_values(const detail::Launch& launch, const Separable& filter) {
    const std::int32_t radius = filter.across.radius;
    const detail::TexelFormat& format = launch.target().format.stored;
    if (radius < 1 || radius > kLargestRadius || filter.down.radius != radius) return false;
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
        // Fetches of the texture unit are faster for sRGB codes, and for four floats.
        if constexpr (detail::kIsSrgb<Format> || (channels > 2 && sizeof(typename Format::Stored) == 4))
            return false;
        else
            return detail::has_aligned_values<Format>(job.strips.texels) &&
                   enqueue_channels<Format, channels>(launch, job, radius);
    });
}

}  // namespace texton::filters
