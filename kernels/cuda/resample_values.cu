// Separable resampling to any size in one CUDA kernel that does not use the texture unit, for texels and pixels of the
// same format.
//
// A block computes a strip of the image from top to bottom. In each step
//     stage   reads the next 32 rows of texels and writes their values to shared memory
//     across  sums each of these rows for all columns of the strip. The lanes of a warp sum different rows
//     down    sums these sums for all rows of pixels that need no further texels. The lanes of a warp sum different
//             columns
// A thread computes several adjacent pixels of a row or of a column at the same time, which share most of their texels:
// a run of pixels. All lanes of a warp read the same weights, and values are read four at a time. Terms are added in the
// order of the functor SeparableSum.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/cuda/stored_resampling.h"
#include "kernels/cuda/value_strips.h"
#include "kernels/functors/resample_functors.h"

namespace texton::resampling {
namespace {

using detail::kValues;

constexpr int kLanes = 32;
constexpr int kWarps = 8;  // of a block
constexpr int kThreads = kLanes * kWarps;
constexpr int kAcross = 4;  // pixels of a run along a row
constexpr int kDown = 2;    // pixels of a run along a column
constexpr int kStagedRows = kLanes;
constexpr int kRowsAtOnce = 64;                      // rows of pixels whose weights are in shared memory
constexpr int kStripValues = 128;                    // of a row of pixels, at most
constexpr int kSummed = kStripValues / kValues + 1;  // distance of rows of sums: an odd number, so that rows start in
                                                     // different banks
constexpr unsigned kMaxBytes = 100 << 10;            // of shared memory, so that two blocks run at the same time

struct Job {
    detail::ValueStrips strips;
    Grid grid;
    ResampleFilter filter;
    std::int32_t columns;  // of pixels of a strip; a multiple of kAcross
    std::int32_t rows;     // of pixels that a block computes
    std::int32_t across;   // texels that a run reads along a row, at most, and those before and after them that are
                           // read with them
    std::int32_t down;     // texels that a run reads along a column, at most
    std::int32_t staged;   // distance of rows of staged values, an odd number of groups of kValues
    std::int32_t ring;     // rows of sums that are kept
};

/// The weights of the pixels of a run for a texel.
template <int pixels>
struct alignas(4 * pixels) RunWeights {
    float of[pixels];
};

/// The texels that runs of pixels read along an axis, in shared memory.
template <int pixels>
struct Runs {
    std::int32_t* first;
    std::int32_t* count;
    RunWeights<pixels>* weights;  // `texels` for each run
    std::int32_t texels;

    __device__ void clear(std::int32_t runs, std::int32_t thread) const {
        for (std::int32_t i = thread; i < runs * texels; i += kThreads) weights[i] = {};
    }
    /// Writes the weights of pixel number `thread`. The first texel of a run is a multiple of `aligned`, a power of two.
    /// All threads of a warp must call this function together.
    template <class Weights>
    __device__ void compute(const Axis& axis, std::int32_t begin, std::int32_t thread, std::int32_t of_all,
                            std::int32_t aligned) const {
        const std::int32_t pixel = ::min(thread, of_all - 1);
        const std::int32_t run = pixel / pixels;
        const Weights own(axis, begin + pixel);
        const std::int32_t from =
            __shfl_sync(0xffffffff, own.first(), thread % kLanes / pixels * pixels) & ~(aligned - 1);
        if (pixel != thread) return;
        for (std::int32_t tap = 0; tap < own.count(); ++tap)
            weights[run * texels + own.first() - from + tap].of[pixel % pixels] = own(tap);
        if (pixel % pixels == 0) first[run] = from;
        if (pixel % pixels == pixels - 1 || pixel == of_all - 1) count[run] = own.first() + own.count() - from;
    }
};

/// Not inlined, since the code for all filters is large.
template <int pixels>
__device__ __noinline__ void compute_runs(ResampleFilter filter, const Axis& axis, Runs<pixels> runs,
                                          std::int32_t begin, std::int32_t thread, std::int32_t of_all,
                                          std::int32_t aligned) {
    with_weights(filter, [&]<class Weights>(std::type_identity<Weights>) {
        runs.template compute<Weights>(axis, begin, thread, of_all, aligned);
    });
}

/// Shared memory of a block.
struct Memory {
    Runs<kAcross> across;
    Runs<kDown> down;
    float4* staged;
    float4* sums;

    __device__ Memory(const Job& job, float4* memory) {
        auto* next = reinterpret_cast<std::byte*>(memory);
        const auto take = [&]<class T>(std::int32_t count, T*& at) {
            at = reinterpret_cast<T*>(next);
            next += static_cast<std::size_t>(count) * sizeof(T);
        };
        const std::int32_t runs = job.columns / kAcross;
        across.texels = job.across;
        down.texels = job.down;
        take(kStagedRows * job.staged, staged);
        take(job.ring * kSummed, sums);
        take(runs * job.across, across.weights);
        take(kRowsAtOnce / kDown * job.down, down.weights);
        take(runs, across.first);
        take(runs, across.count);
        take(kRowsAtOnce / kDown, down.first);
        take(kRowsAtOnce / kDown, down.count);
    }
};

unsigned bytes_of(const Job& job) {
    const std::int32_t runs = job.columns / kAcross, row_runs = kRowsAtOnce / kDown;
    const std::int32_t weights = runs * job.across * kAcross + row_runs * job.down * kDown;
    const std::int32_t values = (kStagedRows * job.staged + job.ring * kSummed) * kValues;
    return static_cast<unsigned>((weights + values + 2 * (runs + row_runs)) * 4);
}

/// Adds a value times a weight. Values whose weight is 0 must not count if they can be infinite or NaN.
template <class Format>
__device__ void add(float& sum, float value, float weight) {
    if (detail::kIsFinite<Format> || weight != 0) sum = ::fmaf(value, weight, sum);
}

template <class Format>
__device__ float4 values_of(const unsigned (&words)[Format::kWords]) {
    return make_float4(Format::value(words, 0), Format::value(words, 1), Format::value(words, 2),
                       Format::value(words, 3));
}

/// Writes the values of kStagedRows rows of texels to shared memory: `count` groups of kValues from the value `begin` on,
/// a multiple of kValues.
template <class Format, int channels>
__device__ void stage(const Job& job, float4* staged, std::int32_t begin, std::int32_t count, std::int32_t row,
                      std::int32_t thread) {
    constexpr int kAtOnce = sizeof(typename Format::Words) == sizeof(uint4) ? 2 : 4;
    const detail::PixelTarget& texels = job.strips.texels;
    const bool is_inside = begin >= 0 && begin + count * kValues <= static_cast<std::int32_t>(texels.width) * channels;
    const auto height = static_cast<std::int32_t>(texels.height);
    const unsigned layer = job.strips.layered ? blockIdx.z : 0;
    const std::int32_t rows_on = kThreads / count, groups_on = kThreads % count;
    std::int32_t at_row = thread / count, group = thread % count;
    while (at_row < kStagedRows) {
        unsigned words[kAtOnce][Format::kWords];
        std::int32_t to[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            to[i] = at_row < kStagedRows ? at_row * job.staged + group : -1;
            if (to[i] >= 0) {
                if (is_inside) {
                    const auto y = static_cast<unsigned>(::min(::max(row + at_row, 0), height - 1));
                    const auto byte = static_cast<unsigned>(begin + group * kValues) *
                                      static_cast<unsigned>(sizeof(typename Format::Stored));
                    const auto loaded =
                        detail::load_stored<typename Format::Words>(job.strips.in, texels, byte, y, layer);
                    ::memcpy(words[i], &loaded, sizeof loaded);
                } else {
                    job.strips.load<Format, channels>(begin + group * kValues, row + at_row, blockIdx.z, words[i]);
                }
            }
            at_row += rows_on;
            group += groups_on;
            if (group >= count) {
                group -= count;
                ++at_row;
            }
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            if (to[i] >= 0) staged[to[i]] = values_of<Format>(words[i]);
        }
    }
}

/// Sums the rows of staged values for all columns of the strip.
template <class Format, int channels>
__device__ void sum_across(const Job& job, const Memory& memory, std::int32_t begin, std::int32_t runs,
                           std::int32_t slot, std::int32_t lane, std::int32_t warp) {
    constexpr int kTexels = kValues / channels;  // of a group
    const float4* const row = memory.staged + lane * job.staged;
    float4* const to = memory.sums + slot * kSummed;
    for (std::int32_t run = warp; run < runs; run += kWarps) {
        const float4* const groups = row + (memory.across.first[run] * channels - begin) / kValues;
        const RunWeights<kAcross>* const weights = memory.across.weights + run * job.across;
        const std::int32_t count = memory.across.count[run];
        float sums[kAcross * channels]{};
#pragma unroll 2
        for (std::int32_t texel = 0; texel < count; texel += kTexels) {
            const float4 group = groups[texel / kTexels];
            const float values[kValues] = {group.x, group.y, group.z, group.w};
#pragma unroll
            for (int i = 0; i < kTexels; ++i) {
                const RunWeights<kAcross> of_texel = weights[texel + i];
#pragma unroll
                for (int pixel = 0; pixel < kAcross; ++pixel) {
#pragma unroll
                    for (int c = 0; c < channels; ++c)
                        add<Format>(sums[pixel * channels + c], values[i * channels + c], of_texel.of[pixel]);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < channels; ++i)
            to[run * channels + i] = make_float4(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]);
    }
}

template <class Format, int channels>
__global__ void __launch_bounds__(kThreads) resample_strip(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using Words = typename Format::Words;
    extern __shared__ float4 shared[];
    const Memory memory(job, shared);
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const auto warp = static_cast<std::int32_t>(threadIdx.y);
    const std::int32_t thread = warp * kLanes + lane;
    const detail::PixelTarget& target = job.strips.target;
    const auto width = static_cast<std::int32_t>(target.width);
    const std::int32_t strips_across = (width + job.columns - 1) / job.columns;
    const std::int32_t x = static_cast<std::int32_t>(blockIdx.x) % strips_across * job.columns;
    const std::int32_t y = static_cast<std::int32_t>(blockIdx.x) / strips_across * job.rows;
    const std::int32_t columns = ::min(job.columns, width - x);
    const std::int32_t end = ::min(y + job.rows, static_cast<std::int32_t>(target.height));
    const std::int32_t runs = (columns + kAcross - 1) / kAcross;

    memory.across.clear(runs, thread);
    __syncthreads();
    if (thread / kLanes * kLanes < columns)
        compute_runs<kAcross>(job.filter, job.grid.x, memory.across, x, thread, columns, kValues / channels);
    __syncthreads();
    const std::int32_t begin = memory.across.first[0] * channels;
    const std::int32_t staged_values =
        (memory.across.first[runs - 1] + memory.across.count[runs - 1]) * channels - begin;
    const std::int32_t staged_groups = (staged_values + kValues - 1) / kValues;
    const std::int32_t groups = (columns * channels + kValues - 1) / kValues;  // of the image

    std::int32_t first_row = 0;  // of texels of the strip
    std::int32_t summed = 0;     // rows of texels, counted from the first one
    for (std::int32_t at = y; at < end; at += kRowsAtOnce) {
        const std::int32_t rows = ::min(kRowsAtOnce, end - at);
        const std::int32_t row_runs = (rows + kDown - 1) / kDown;
        memory.down.clear(row_runs, thread);
        __syncthreads();
        if (thread / kLanes * kLanes < rows)
            compute_runs<kDown>(job.filter, job.grid.y, memory.down, at, thread, rows, 1);
        __syncthreads();
        if (at == y) first_row = memory.down.first[0];
        const auto needed = [&](std::int32_t run) {
            return memory.down.first[run] + memory.down.count[run] - first_row;
        };
        for (std::int32_t run = 0; run < row_runs;) {
            while (summed < needed(run)) {
                stage<Format, channels>(job, memory.staged, begin, staged_groups, first_row + summed, thread);
                __syncthreads();
                sum_across<Format, channels>(job, memory, begin, runs, (summed + lane) % job.ring, lane, warp);
                summed += kStagedRows;
                __syncthreads();
            }
            std::int32_t run_end = run + 1;
            while (run_end < row_runs && needed(run_end) <= summed) ++run_end;
            // Threads are assigned to groups of values first, then to runs of rows.
            for (std::int32_t item = thread; item < groups * (run_end - run); item += kThreads) {
                const std::int32_t group = item % groups;
                const std::int32_t own = run + item / groups;
                const RunWeights<kDown>* const weights = memory.down.weights + own * job.down;
                const std::int32_t count = memory.down.count[own];
                const std::int32_t slot = (memory.down.first[own] - first_row) % job.ring;
                float sums[kDown][kValues]{};
                const auto add_rows = [&](const float4* rows, const RunWeights<kDown>* of_rows, std::int32_t number) {
#pragma unroll 4
                    for (std::int32_t tap = 0; tap < number; ++tap) {
                        const float4 of_row = rows[tap * kSummed];
                        const RunWeights<kDown> weight = of_rows[tap];
#pragma unroll
                        for (int pixel = 0; pixel < kDown; ++pixel) {
                            add<Format>(sums[pixel][0], of_row.x, weight.of[pixel]);
                            add<Format>(sums[pixel][1], of_row.y, weight.of[pixel]);
                            add<Format>(sums[pixel][2], of_row.z, weight.of[pixel]);
                            add<Format>(sums[pixel][3], of_row.w, weight.of[pixel]);
                        }
                    }
                };
                const std::int32_t before_end = ::min(count, job.ring - slot);
                add_rows(memory.sums + slot * kSummed + group, weights, before_end);
                add_rows(memory.sums + group, weights + before_end, count - before_end);
                const std::int32_t row = at + own * kDown;
                const std::int32_t left = columns * channels - group * kValues;
                std::byte* to = target.address + blockIdx.z * target.slice_pitch +
                                static_cast<unsigned>(row) * target.pitch +
                                static_cast<std::size_t>(x * channels + group * kValues) * sizeof(Stored);
#pragma unroll
                for (int pixel = 0; pixel < kDown; ++pixel, to += target.pitch) {
                    if (row + pixel >= end) break;
                    Stored results[kValues];
#pragma unroll
                    for (int i = 0; i < kValues; ++i) results[i] = Format::stored(sums[pixel][i], i);
                    if (job.strips.stores_words && left >= kValues) {
                        Words packed;
                        ::memcpy(&packed, results, sizeof packed);
                        *reinterpret_cast<Words*>(to) = packed;
                    } else {
#pragma unroll
                        for (int i = 0; i < kValues; ++i) {
                            if (i < left) reinterpret_cast<Stored*>(to)[i] = results[i];
                        }
                    }
                }
            }
            run = run_end;
            __syncthreads();
        }
    }
}

/// Sets the dimensions of a strip of this many columns.
void set_columns(Job& job, std::int32_t columns, int channels) {
    const auto texels =
        static_cast<std::int32_t>(std::ceil(static_cast<float>(columns) * job.grid.x.step)) + job.across;
    job.columns = columns;
    job.staged = (texels * channels / kValues + 2) | 1;
    job.ring = kStagedRows + job.down;
}

template <class Weights>
std::int32_t texels_of_run(const Axis& axis, int pixels) {
    return Weights::max_count(axis) + static_cast<std::int32_t>(std::ceil(static_cast<float>(pixels - 1) * axis.step)) +
           1;
}

}  // namespace

bool enqueue_strips_of_values(const detail::Launch& launch, const Separable& filter) {
    constexpr float kMaxStep = 16;
    const std::optional<detail::ValueStrips> strips = detail::value_strips(launch);
    const Grid& grid = filter.grid;
    if (!strips || grid.x.step > kMaxStep || grid.y.step > kMaxStep) return false;
    const detail::PixelTarget& target = strips->target;
    const int channels = target.format.stored.channels;
    Job job{*strips, grid, filter.filter, 0, 0, 0, 0, 0, 0};
    const bool reads_all_texels = with_weights(filter.filter, [&]<class Weights>(std::type_identity<Weights>) {
        job.across = (texels_of_run<Weights>(grid.x, kAcross) + 2 * kValues) & ~(kValues - 1);
        job.down = texels_of_run<Weights>(grid.y, kDown);
        return !std::is_base_of_v<CubicWeights, Weights> || (grid.x.step <= 4 && grid.y.step <= 4);
    });
    if (!reads_all_texels) return false;
    std::int32_t columns = kStripValues / channels;
    for (set_columns(job, columns, channels); bytes_of(job) > kMaxBytes; set_columns(job, columns, channels)) {
        columns /= 2;
        if (columns < kValues) return false;
    }
    return detail::with_stored_values(target.format.stored, [&]<class Format, int channels>() {
        // Fetches of the texture unit are faster for sRGB codes.
        if constexpr (detail::kIsSrgb<Format>) {
            return false;
        } else {
            if (!detail::has_aligned_values<Format>(strips->texels)) return false;
            const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
            const unsigned across = parts(target.width, static_cast<unsigned>(job.columns));
            const unsigned rows = detail::rows_of_runs(launch, {across * target.depth, target.height, 1, 256, 32});
            job.rows = static_cast<std::int32_t>(rows);
            void* arguments[] = {&job};
            detail::launch_blocks(
                {&launch, 1}, reinterpret_cast<const void*>(&resample_strip<Format, channels>), arguments,
                {{across * parts(target.height, rows), 1, target.depth}, {kLanes, kWarps}, bytes_of(job)});
            return true;
        }
    });
}

}  // namespace texton::resampling
