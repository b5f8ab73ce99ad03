// Separable filters of any radius whose texels and pixels have the same format, in one CUDA kernel that does not use the
// texture unit.
//
// A block processes a strip of the image from top to bottom, 16 rows at a time:
//     stage   reads 16 rows of texels, as wide as the strip plus the filter's radius on both sides
//     across  sums these rows and writes the sums to a ring with as many rows as the next step needs
//     down    sums the columns of the ring for 16 rows of the image and writes the sums over the oldest rows of the ring
//     store   converts these to the image's format and writes them, while the next texels are read
// Rows in shared memory have the values of the first channel of all texels, then those of the second one, and so on. A
// thread sums 16 adjacent values of a row or column. It keeps the 16 values that the next weight applies to, so that each
// value is read once for 16 sums. Terms are added in the order of the functors Across and Down.
#include <algorithm>
#include <optional>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/filter_columns.h"
#include "kernels/cuda/value_strips.h"
#include "kernels/launch/image_rows.h"

namespace texton::filters {
namespace {

using detail::kValues;

constexpr int kRun = 16;                     // sums of a thread, and rows of a step
constexpr int kThreads = 256;                // of a block: one for each value of a row of the strip
constexpr int kSummed = kThreads + kValues;  // distance of rows of sums, so that rows start in different banks

/// The weights of an axis, after zeros that make the place of the first value a multiple of kValues.
struct Taps {
    std::int32_t before;  // zeros
    std::int32_t count;   // with the zeros
    float weight[kMaxWeights + kValues];
};

struct Job {
    detail::ValueStrips strips;
    std::int32_t radius[2];
    Taps across;
    Taps down;
    Sharpen sharpen;
    bool sharpens;
    std::int32_t ring;       // rows of the ring, a multiple of kRun
    std::int32_t first_row;  // of the image that is computed
    std::int32_t rows;       // that a block computes, a multiple of kRun
};

/// Rows of staged values. All numbers are multiples of kValues.
struct Staged {
    std::int32_t plane;  // values of a channel of a row
    std::int32_t pitch;  // distance of rows; rows start in different banks

    TEXTON_HD Staged(std::int32_t taps, std::int32_t channels)
        : plane(kThreads / channels + (taps + kValues - 1) / kValues * kValues) {
        const std::int32_t values = plane * channels;
        pitch = values % (2 * kValues) == 0 ? values + kValues : values;
    }
};

/// Adds to sum i the weighted values i, i + 1, ... of the sequence that `next` returns, kValues values for each call.
/// Values whose weight is 0 are not added if they can be infinite or NaN.
template <class Format, class Next>
__device__ void add_up(float (&sum)[kRun], const Taps& taps, Next&& next) {
    constexpr int kKept = kRun + kValues;  // value i is in element i % kKept until kValues weights have been applied
    float value[kKept];
    const auto load = [&](int first) {
        const float4 values = next();
        value[first] = values.x;
        value[first + 1] = values.y;
        value[first + 2] = values.z;
        value[first + 3] = values.w;
    };
    const auto add = [&](int first, float weight) {
        if (first % kValues == 0) load((first + kRun) % kKept);
        if (!detail::kIsFinite<Format> && weight == 0) return;
#pragma unroll
        for (int i = 0; i < kRun; ++i) sum[i] = ::fmaf(value[(first + i) % kKept], weight, sum[i]);
    };
#pragma unroll
    for (int i = 0; i < kRun; i += kValues) load(i);
    const float* weights = taps.weight;
    std::int32_t left = taps.count;
#pragma unroll 1
    for (; left >= kKept; left -= kKept, weights += kKept) {
#pragma unroll
        for (int i = 0; i < kKept; ++i) add(i, weights[i]);
    }
#pragma unroll
    for (int i = 0; i < kKept - 1; ++i) {  // fewer than kKept weights are left
        if (i == left) return;
        add(i, weights[i]);
    }
}

/// Writes kRun rows of values to shared memory, which load(number of the group in a row, row, words) loads. Several loads
/// are in flight before the first value is used.
template <class Format, int channels, class Load>
__device__ void stage_rows(const Staged& staged, float* to, const Load& load) {
    constexpr int kAtOnce = sizeof(typename Format::Words) == sizeof(uint4) ? 2 : 4;
    const std::int32_t count = staged.plane * channels / kValues;  // groups of a row
    const std::int32_t rows_on = kThreads / count, groups_on = kThreads % count;
    const auto thread = static_cast<std::int32_t>(threadIdx.x);
    std::int32_t row = thread / count, group = thread % count;
    while (row < kRun) {
        unsigned words[kAtOnce][Format::kWords];
        std::int32_t place[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            place[i] = row < kRun ? row * staged.pitch + group * (kValues / channels) : -1;
            if (row < kRun) load(group, row, words[i]);
            row += rows_on;
            group += groups_on;
            if (group >= count) {
                group -= count;
                ++row;
            }
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            if (place[i] < 0) continue;
            float value[kValues];
#pragma unroll
            for (int v = 0; v < kValues; ++v) value[v] = Format::value(words[i], v);
            if constexpr (channels == 1) {
                *reinterpret_cast<float4*>(to + place[i]) = make_float4(value[0], value[1], value[2], value[3]);
            } else if constexpr (channels == 2) {
                *reinterpret_cast<float2*>(to + place[i]) = make_float2(value[0], value[2]);
                *reinterpret_cast<float2*>(to + place[i] + staged.plane) = make_float2(value[1], value[3]);
            } else {
#pragma unroll
                for (int c = 0; c < channels; ++c) to[place[i] + c * staged.plane] = value[c];
            }
        }
    }
}

/// Writes the texels of kRun rows, from texel (x, y) on, to shared memory.
template <class Format, int channels>
__device__ void stage(const Job& job, const Staged& staged, std::int32_t x, std::int32_t y, float* to) {
    using Words = typename Format::Words;
    using detail::StoredIn;
    const detail::PixelTarget& texels = job.strips.texels;
    const std::int32_t begin = x * channels;
    if (begin < 0 || begin + staged.plane * channels > static_cast<std::int32_t>(texels.width) * channels) {
        stage_rows<Format, channels>(
            staged, to, [&](std::int32_t group, std::int32_t row, unsigned(&words)[Format::kWords]) {
                job.strips.load<Format, channels>(begin + group * kValues, y + row, blockIdx.z, words);
            });
        return;
    }
    const auto last = static_cast<std::int32_t>(texels.height) - 1;
    const unsigned layer = job.strips.layered ? blockIdx.z : 0;
    const auto stage_from = [&]<StoredIn in>(std::integral_constant<StoredIn, in>) {
        stage_rows<Format, channels>(
            staged, to, [&](std::int32_t group, std::int32_t row, unsigned(&words)[Format::kWords]) {
                const auto at = static_cast<unsigned>(::min(::max(y + row, 0), last));
                const auto byte = static_cast<unsigned>((begin + group * kValues) * sizeof(typename Format::Stored));
                const auto loaded = detail::stored<in, Words>(texels, byte, at, layer);
                ::memcpy(words, &loaded, sizeof loaded);
            });
    };
    switch (detail::stored_in(texels)) {
        case StoredIn::memory: return stage_from(std::integral_constant<StoredIn, StoredIn::memory>{});
        case StoredIn::plane: return stage_from(std::integral_constant<StoredIn, StoredIn::plane>{});
        case StoredIn::layers: return stage_from(std::integral_constant<StoredIn, StoredIn::layers>{});
    }
}

template <class Format, int channels>
__device__ void sum_across(const Taps& taps, const Staged& staged, const float* from, float* sums) {
    constexpr unsigned kRuns = kThreads / channels / kRun;  // of a channel of a row
    const unsigned row = threadIdx.x % kRun;
    const unsigned run = threadIdx.x / kRun;
    std::int32_t at = static_cast<std::int32_t>(row) * staged.pitch +
                      static_cast<std::int32_t>(run / kRuns) * staged.plane +
                      static_cast<std::int32_t>(run % kRuns * kRun);
    float sum[kRun] = {};
    add_up<Format>(sum, taps, [&] {
        const float4 values = *reinterpret_cast<const float4*>(from + at);
        at += kValues;
        return values;
    });
    auto* to = reinterpret_cast<float4*>(sums + row * kSummed + run * kRun);
#pragma unroll
    for (int i = 0; i < kRun; i += kValues) to[i / kValues] = make_float4(sum[i], sum[i + 1], sum[i + 2], sum[i + 3]);
}

/// Sums columns of the ring, whose newest rows are the kRun rows from `newest` on. Writes the sums to the kRun rows from
/// `to` on, which are the next to be overwritten. Each thread reads and writes only its own column.
template <class Format>
__device__ void sum_down(const Taps& taps, std::int32_t radius, std::int32_t rows, float* ring, std::int32_t newest,
                         std::int32_t to) {
    const std::int32_t end = rows * kSummed;
    std::int32_t at = (newest - 2 * radius - taps.before) * kSummed;
    if (at < 0) at += end;
    float* const column = ring + threadIdx.x;
    float sum[kRun] = {};
    add_up<Format>(sum, taps, [&] {
        const float* const from = column + at;
        at += kValues * kSummed;
        if (at == end) at = 0;
        return make_float4(from[0], from[kSummed], from[2 * kSummed], from[3 * kSummed]);
    });
#pragma unroll
    for (int i = 0; i < kRun; ++i) column[(to + i) * kSummed] = sum[i];
}

/// Writes kRun rows of the strip to the image.
template <class Format, int channels>
__device__ void store(const Job& job, std::int32_t x, std::int32_t y, const float* sums) {
    using Stored = typename Format::Stored;
    using Words = typename Format::Words;
    constexpr int kGroups = kThreads / kValues;  // of a row
    constexpr int kRows = kThreads / kGroups;    // that are stored at the same time
    constexpr int kPlane = kThreads / channels;  // values of a channel
    const detail::PixelTarget& target = job.strips.target;
    const auto group = static_cast<std::int32_t>(threadIdx.x) % kGroups;
    const auto row = static_cast<std::int32_t>(threadIdx.x) / kGroups;
    const std::int32_t value = x * channels + group * kValues;
    const std::int32_t left = static_cast<std::int32_t>(target.width) * channels - value;
    if (left <= 0) return;
    const bool stores_words = job.strips.stores_words && left >= kValues;
    const float* from = sums + row * kSummed + group * (kValues / channels);
    std::byte* to = target.address + blockIdx.z * target.slice_pitch +
                    static_cast<std::size_t>(y + row) * target.pitch + static_cast<std::size_t>(value) * sizeof(Stored);
#pragma unroll 1
    for (std::int32_t at = row; at < kRun; at += kRows) {
        if (y + at >= static_cast<std::int32_t>(target.height)) return;
        float sum[kValues];
        if constexpr (channels == 1) {
            ::memcpy(sum, __builtin_assume_aligned(from, sizeof(float4)), sizeof sum);
        } else {
#pragma unroll
            for (int i = 0; i < kValues; ++i) sum[i] = from[i % channels * kPlane + i / channels];
        }
        if (job.sharpens) {
            unsigned words[Format::kWords];
            job.strips.load<Format, channels>(value, y + at, blockIdx.z, words);
#pragma unroll
            for (int i = 0; i < kValues; ++i) sum[i] = job.sharpen.sharpened(Format::value(words, i), sum[i]);
        }
        Stored results[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) results[i] = Format::stored(sum[i], i);
        if (stores_words) {
            Words packed;
            ::memcpy(&packed, results, sizeof packed);
            *reinterpret_cast<Words*>(to) = packed;
        } else {
#pragma unroll
            for (int i = 0; i < kValues; ++i) {
                if (i < left) reinterpret_cast<Stored*>(to)[i] = results[i];
            }
        }
        from += kRows * kSummed;
        to += kRows * target.pitch;
    }
}

template <class Format, int channels>
__global__ void __launch_bounds__(kThreads, 4) filter_block(const __grid_constant__ Job job) {
    extern __shared__ float4 memory[];
    constexpr int kWidth = kThreads / channels;  // pixels of a row of the strip
    auto* const ring = reinterpret_cast<float*>(memory);
    float* const staged_values = ring + job.ring * kSummed;
    const Staged staged(job.across.count, channels);
    const detail::PixelTarget& target = job.strips.target;
    const unsigned across = (target.width + kWidth - 1) / kWidth;
    const std::int32_t x = static_cast<std::int32_t>(blockIdx.x % across) * kWidth;
    const std::int32_t first = job.first_row + static_cast<std::int32_t>(blockIdx.x / across) * job.rows;
    const std::int32_t end = ::min(first + job.rows, static_cast<std::int32_t>(target.height));
    const auto stage_from_row = [&](std::int32_t y) {
        stage<Format, channels>(job, staged, x - job.radius[0] - job.across.before, y + job.radius[1], staged_values);
    };
    std::int32_t y = first - (job.ring - kRun);
    stage_from_row(y);
    for (std::int32_t newest = 0; y < end; y += kRun) {
        const std::int32_t next = newest + kRun == job.ring ? 0 : newest + kRun;
        __syncthreads();
        sum_across<Format, channels>(job.across, staged, staged_values, ring + newest * kSummed);
        __syncthreads();
        const bool complete = y >= first;
        if (complete) {
            sum_down<Format>(job.down, job.radius[1], job.ring, ring, newest, next);
            __syncthreads();
        }
        if (y + kRun < end) stage_from_row(y + kRun);
        if (complete) store<Format, channels>(job, x, y, ring + next * kSummed);
        newest = next;
    }
}

/// `texels` are those from the first one that is read to one whose values start at a multiple of kValues.
Taps taps_of(const Weights& weights, std::int32_t texels, int channels) {
    Taps taps{};
    while ((texels + taps.before) * channels % kValues != 0) ++taps.before;
    const std::int32_t count = 2 * weights.radius + 1;
    taps.count = taps.before + count;
    std::copy_n(weights.weight, count, taps.weight + taps.before);
    return taps;
}

template <class Format, int channels>
bool enqueue(const detail::Launch& launch, Job& job) {
    const unsigned bytes =
        static_cast<unsigned>(job.ring * kSummed + kRun * Staged(job.across.count, channels).pitch) * sizeof(float);
    const unsigned at_once = detail::blocks_at_once(launch, kThreads, bytes);
    if (at_once == 0) return false;
    const detail::PixelTarget& target = job.strips.target;
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    const unsigned across = parts(target.width, kThreads / channels);
    const unsigned height = target.height - static_cast<unsigned>(job.first_row);
    const unsigned rows =
        detail::rows_of_block({across * target.depth, height, kRun, static_cast<unsigned>(job.ring) - kRun, at_once});
    job.rows = static_cast<std::int32_t>(rows);
    void* arguments[] = {&job};
    detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&filter_block<Format, channels>), arguments,
                          {{across * parts(height, rows), 1, target.depth}, {kThreads, 1}, bytes});
    return true;
}

}  // namespace

bool enqueue_blocks(const detail::Launch& launch, const Separable& filter, const Sharpen* sharpen) {
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    if (!strips) return false;
    const int channels = strips->target.format.stored.channels;
    const std::int32_t radius = filter.down.radius;
    Job job{*strips,
            {filter.across.radius, radius},
            taps_of(filter.across, filter.across.radius, channels),
            taps_of(filter.down, 2 * radius, 1),
            sharpen != nullptr ? *sharpen : Sharpen{},
            sharpen != nullptr,
            kRun + (2 * radius + kRun - 1) / kRun * kRun,
            static_cast<std::int32_t>(detail::first_row_of(launch)),
            0};
    return detail::with_stored_values(strips->target.format.stored, [&]<class Format, int channels>() {
        // Fetches of the texture unit are as fast for sRGB codes.
        if constexpr (detail::kIsSrgb<Format>)
            return false;
        else
            return detail::has_aligned_values<Format>(strips->texels) && enqueue<Format, channels>(launch, job);
    });
}

}  // namespace texton::filters
