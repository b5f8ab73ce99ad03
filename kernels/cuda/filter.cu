// Separable filters in one CUDA kernel: each texel is fetched about once, and the sums of rows stay in shared memory.
//
// A block processes a strip of the image from top to bottom, 16 rows at a time:
//     fetch   reads 16 rows of texels, as wide as the strip plus the filter's radius on both sides
//     across  computes the sums of rows and writes them to a ring with as many rows as the next step needs
//     down    computes the sums of columns for 16 rows of the image and writes them over the oldest rows of the ring
//     store   encodes these in the image's format and writes them, while the next texels are fetched
// A thread computes the sums of one channel of 16 adjacent texels of a row or column. It keeps the 16 values that the
// next weight applies to, so that each value is read once for 16 sums. Terms are added in the order of the functors
// Across and Down.
#include <algorithm>

#include <texton/cuda_pixels.h>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/filter_columns.h"
#include "kernels/cuda/kernels.h"
#include "kernels/functors/filter_functors.h"
#include "kernels/launch/aliasing.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::filters {
namespace {

using detail::PixelTarget;

constexpr int kRun = 16;  // number of sums of a thread, and of rows of a step
constexpr int kMaxThreads = 256;

/// Dimensions of a strip and of its shared memory. The unit is a value, which is all channels of a texel.
struct Strip {
    std::int32_t width;    // columns of the image; one thread for each channel of a column
    std::int32_t fetched;  // distance of rows of texels; an odd number, so that rows start in different banks
    std::int32_t summed;   // distance of rows of the ring; an odd number too
    std::int32_t ring;     // number of rows of the ring, a multiple of kRun
    std::int32_t rows;     // number of rows of the image that a block computes, a multiple of kRun

    /// Returns how many rows are summed before the first column can be summed.
    TEXTON_HD std::int32_t rows_before() const { return ring - kRun; }
    unsigned bytes(int channels) const {
        return static_cast<unsigned>((kRun * fetched + ring * summed) * channels) * 4;
    }
};

struct Keep {
    template <class Texel>
    __device__ Float4 operator()(const Texel&, const Float4& blurred) const {
        return blurred;
    }
};
struct SharpenTexel {
    Sharpen sharpen;
    template <class Texel>
    __device__ Float4 operator()(const Texel& texel, const Float4& blurred) const {
        return sharpen(texel(), blurred);
    }
};

template <class Finish>
struct Job {
    PixelTarget target;
    HardwareSource source;
    Separable filter;
    Finish finish;
    Strip strip;
    std::int32_t first_row;  // of the image that is computed
};

/// Adds to sum i the weighted values i, i + 1, ... of the sequence that `next` returns, one value for each call. Values
/// whose weight is 0 are not added.
template <class Next>
__device__ void add_up(float (&sum)[kRun], const Weights& weights, Next&& next) {
    float value[kRun];
#pragma unroll
    for (int i = 0; i < kRun - 1; ++i) value[i] = next();
    const auto add = [&](int i, float weight) {
        value[(i + kRun - 1) % kRun] = next();
        if (weight == 0) return;
#pragma unroll
        for (int j = 0; j < kRun; ++j) sum[j] = fmaf(value[(i + j) % kRun], weight, sum[j]);
    };
    const float* weight = weights.weight;
    std::int32_t left = 2 * weights.radius + 1;
    for (; left >= kRun; left -= kRun, weight += kRun) {
#pragma unroll
        for (int i = 0; i < kRun; ++i) add(i, weight[i]);
    }
#pragma unroll
    for (int i = 0; i < kRun - 1; ++i) {  // fewer than kRun weights are left
        if (i == left) return;
        add(i, weight[i]);
    }
}

template <int channels>
struct alignas(4 * channels) Value {
    float channel[channels];
};

/// Fetches kRun rows of texels, the first of them at `corner`. Several fetches are in flight before the first result is
/// used.
template <int channels>
__device__ void fetch_rows(const HardwareSource& source, const Separable& filter, const Strip& strip,
                           PixelPosition corner, float* fetched) {
    constexpr int kAtOnce = 4;
    const std::int32_t width = strip.width + 2 * filter.across.radius;
    const auto threads = static_cast<std::int32_t>(blockDim.x);
    const std::int32_t rows_on = threads / width;
    const std::int32_t texels_on = threads % width;
    std::int32_t row = static_cast<std::int32_t>(threadIdx.x) / width;
    std::int32_t x = static_cast<std::int32_t>(threadIdx.x) % width;
    auto* values = reinterpret_cast<Value<channels>*>(fetched);
    while (row < kRun) {
        Float4 texel[kAtOnce];
        std::int32_t position[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            position[i] = row < kRun ? row * strip.fetched + x : -1;
            if (row < kRun)
                texel[i] = filter.texels(source, corner.z, corner.x - filter.across.radius + x, corner.y + row);
            x += texels_on;
            row += rows_on;
            if (x >= width) {
                x -= width;
                ++row;
            }
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const float all[4] = {texel[i].x, texel[i].y, texel[i].z, texel[i].w};
            Value<channels> value;
#pragma unroll
            for (int c = 0; c < channels; ++c) value.channel[c] = all[c];
            if (position[i] >= 0) values[position[i]] = value;
        }
    }
}

/// Neighboring threads process the channels of a texel, then rows, so that they access different banks.
template <int channels>
__device__ void sum_across(const Weights& weights, const Strip& strip, const float* fetched, float* sums) {
    constexpr unsigned kRows = channels == 4 ? 8 : 16;
    const unsigned channel = threadIdx.x % channels;
    const unsigned part = threadIdx.x / (channels * kRows);
    const unsigned row = threadIdx.x / channels % kRows + kRows * (part % (kRun / kRows));
    const unsigned run = part / (kRun / kRows) * kRun;
    const float* from = fetched + (row * static_cast<unsigned>(strip.fetched) + run) * channels + channel;
    float sum[kRun] = {};
    add_up(sum, weights, [&] {
        const float value = *from;
        from += channels;
        return value;
    });
    float* to = sums + (row * static_cast<unsigned>(strip.summed) + run) * channels + channel;
#pragma unroll
    for (int i = 0; i < kRun; ++i) to[i * channels] = sum[i];
}

/// Sums columns of the ring, whose newest rows are the kRun rows from `newest` on. Writes the sums to the kRun rows
/// from `to` on, which are the next to be overwritten. Each thread reads and writes only its own column.
template <int channels>
__device__ void sum_down(const Weights& weights, const Strip& strip, float* ring, std::int32_t newest,
                         std::int32_t to) {
    const std::int32_t pitch = strip.summed * channels;
    const std::int32_t end = strip.ring * pitch;
    std::int32_t at = (newest - 2 * weights.radius) * pitch;
    if (at < 0) at += end;
    ring += threadIdx.x;
    float sum[kRun] = {};
    add_up(sum, weights, [&] {
        const float value = ring[at];
        at += pitch;
        if (at == end) at = 0;
        return value;
    });
#pragma unroll
    for (int i = 0; i < kRun; ++i) ring[(to + i) * pitch] = sum[i];
}

template <int channels, class Finish>
__device__ void store_rows(const Job<Finish>& job, const HardwareSource& source, PixelPosition corner,
                           const float* sums) {
    constexpr int kPixels = kRun / channels;  // number of pixels of a thread, in one column
    const auto width = static_cast<unsigned>(job.strip.width);
    const unsigned row = threadIdx.x / width;
    const unsigned x = static_cast<unsigned>(corner.x) + threadIdx.x % width;
    if (x >= job.target.width) return;
    const auto* values = reinterpret_cast<const Value<channels>*>(sums);
#pragma unroll 1
    for (int first = 0; first < kPixels; first += 4) {
        detail::PixelColumn<4> pixels;
        const unsigned y = static_cast<unsigned>(corner.y) + row + static_cast<unsigned>(first) * channels;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const Value<channels> value =
                values[(row + static_cast<unsigned>(first + i) * channels) * static_cast<unsigned>(job.strip.summed) +
                       threadIdx.x % width];
            float all[4] = {};
#pragma unroll
            for (int c = 0; c < channels; ++c) all[c] = value.channel[c];
            const auto pointwise_texel = [&] {
                return job.filter.texels(source, corner.z, static_cast<std::int32_t>(x),
                                         static_cast<std::int32_t>(y) + i * channels);
            };
            pixels.color[i] = detail::packed(job.finish(pointwise_texel, Float4{all[0], all[1], all[2], all[3]}));
        }
        if (y < job.target.height) detail::store_pixels<channels>(job.target, x, y, blockIdx.z, pixels);
    }
}

template <int channels, class Finish>
__global__ void __launch_bounds__(kMaxThreads, 4) filter_strip(const __grid_constant__ Job<Finish> job) {
    extern __shared__ float4 memory[];
    const Strip& strip = job.strip;
    auto* ring = reinterpret_cast<float*>(memory);
    float* fetched = ring + strip.ring * strip.summed * channels;
    const unsigned across =
        (job.target.width + static_cast<unsigned>(strip.width) - 1) / static_cast<unsigned>(strip.width);
    HardwareSource source = job.source;
    source.integers = false;
    PixelPosition corner{static_cast<std::int32_t>(blockIdx.x % across) * strip.width,
                         job.first_row + static_cast<std::int32_t>(blockIdx.x / across) * strip.rows,
                         static_cast<std::int32_t>(blockIdx.z)};
    const std::int32_t first = corner.y;
    const auto height = static_cast<std::int32_t>(job.target.height);
    const std::int32_t end = first + strip.rows < height ? first + strip.rows : height;
    corner.y -= strip.rows_before();
    const auto fetch = [&](std::int32_t y) {
        fetch_rows<channels>(source, job.filter, strip, {corner.x, y + job.filter.down.radius, corner.z}, fetched);
    };
    fetch(corner.y);
    for (std::int32_t newest = 0; corner.y < end; corner.y += kRun) {
        const std::int32_t next = newest + kRun == strip.ring ? 0 : newest + kRun;
        __syncthreads();
        sum_across<channels>(job.filter.across, strip, fetched, ring + newest * strip.summed * channels);
        __syncthreads();
        const bool complete = corner.y >= first;
        if (complete) {
            sum_down<channels>(job.filter.down, strip, ring, newest, next);
            __syncthreads();
        }
        if (corner.y + kRun < end) fetch(corner.y + kRun);
        if (complete) store_rows<channels>(job, source, corner, ring + next * strip.summed * channels);
        newest = next;
    }
}

// --- division of the image into strips -------------------------------------------------------------------------------

std::int32_t multiple_of_run(std::int32_t count) { return (count + kRun - 1) / kRun * kRun; }

Strip strip_of(const Separable& filter, std::int32_t width) {
    return {width, (width + 2 * filter.across.radius) | 1, width | 1, kRun + multiple_of_run(2 * filter.down.radius),
            kRun};
}

struct Partition {
    Strip strip;
    unsigned blocks_at_once = 0;
};

/// Returns the width of strips with which the largest number of threads runs at the same time; of equal ones, the
/// largest width. `blocks_at_once` is 0 if no width fits into shared memory.
Partition widest_strips(const detail::Launch& launch, const Separable& filter, int channels) {
    constexpr std::int32_t kMinWidth = 32;
    Partition best{};
    unsigned maximum = 0;
    for (std::int32_t width = kMaxThreads / channels; width >= kMinWidth; width /= 2) {
        const Strip strip = strip_of(filter, width);
        const auto threads = static_cast<unsigned>(width * channels);
        const unsigned blocks = detail::blocks_at_once(launch, threads, strip.bytes(channels));
        if (blocks * threads <= maximum) continue;
        maximum = blocks * threads;
        best = {strip, blocks};
    }
    return best;
}

unsigned parts(unsigned side, unsigned part) { return (side + part - 1) / part; }

template <int channels, class Finish>
bool enqueue_strips(const detail::Launch& launch, const Separable& filter, const Finish& finish) {
    Partition partition = widest_strips(launch, filter, channels);
    if (partition.blocks_at_once == 0) return false;
    const PixelTarget& target = launch.target();
    Strip& strip = partition.strip;
    const unsigned first_row = detail::first_row_of(launch);
    const unsigned height = target.height - first_row;
    const unsigned across = parts(target.width, static_cast<unsigned>(strip.width));
    strip.rows = static_cast<std::int32_t>(detail::rows_of_block(
        {across * target.depth, height, kRun, static_cast<unsigned>(strip.rows_before()), partition.blocks_at_once}));
    Job<Finish> job{target, HardwareSource(launch.shape(0), launch.handle(0)),
                    filter, finish,
                    strip,  static_cast<std::int32_t>(first_row)};
    void* arguments[] = {&job};
    const unsigned blocks = across * parts(height, static_cast<unsigned>(strip.rows));
    detail::launch_blocks(
        {&launch, 1}, reinterpret_cast<const void*>(&filter_strip<channels, Finish>), arguments,
        {{blocks, 1, target.depth}, {static_cast<unsigned>(strip.width * channels), 1}, strip.bytes(channels)});
    return true;
}

template <class Finish>
bool enqueue_with(const detail::Launch& launch, const Separable& filter, const Finish& finish) {
    switch (detail::channels_read(launch.state().textures[0])) {
        case 1: return enqueue_strips<1>(launch, filter, finish);
        case 2: return enqueue_strips<2>(launch, filter, finish);
        default: return enqueue_strips<4>(launch, filter, finish);
    }
}

}  // namespace
}  // namespace texton::filters

namespace texton::detail {

bool CudaKernels::convolve(Launch& launch, const filters::Separable& filter, const filters::Sharpen* sharpen) const {
    if (!lies_apart(launch.state().textures[0], launch.state().image)) return false;
    const bool in_rows = ImageRowsScope::of(launch.state().image) != nullptr;
    if (!in_rows && sharpen == nullptr && filters::enqueue_values(launch, filter)) return true;
    if (!in_rows && filters::enqueue_columns(launch, filter, sharpen)) return true;
    if (filters::enqueue_blocks(launch, filter, sharpen)) return true;
    if (sharpen != nullptr) return filters::enqueue_with(launch, filter, filters::SharpenTexel{*sharpen});
    return filters::enqueue_with(launch, filter, filters::Keep{});
}

}  // namespace texton::detail
