// Separable filters of small radius in one CUDA kernel, without shared memory.
//
// A warp computes adjacent columns of the image from top to bottom. Each thread fetches one texel of a row and gets the
// texels beside it from the other threads of the warp. It keeps the sums of the rows that the next pixels need in
// registers. The threads at both ends of the warp only fetch texels. Terms are added in the order of the functors
// Across and Down.
#include "kernels/cuda/filter_columns.h"

#include <algorithm>

#include <texton/cuda_pixels.h>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/columns.h"

namespace texton::filters {
namespace {

using detail::ChannelSums;
using detail::kColumnPixels;
using detail::PixelTarget;

constexpr int kLanes = 32;
constexpr int kWarps = 8;  // of a block
constexpr int kLargestRadius = 3;

struct Job {
    PixelTarget target;
    HardwareSource source;
    NumberedTexels texels;
    float across[2 * kLargestRadius + 1];  // weights; those beyond the radius of the filter are 0
    float down[2 * kLargestRadius + 1];
    Sharpen sharpen;
    std::int32_t rows;  // that a warp computes
};

template <int radius, int channels, bool sharpens>
__global__ void __launch_bounds__(kLanes* kWarps) filter_columns(const __grid_constant__ Job job) {
    constexpr int kTaps = 2 * radius + 1;
    constexpr int kColumns = kLanes - 2 * radius;
    constexpr unsigned kAll = 0xffffffff;
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const unsigned blocks_across = (job.target.width + kColumns - 1) / kColumns;
    const std::int32_t x = static_cast<std::int32_t>(blockIdx.x % blocks_across) * kColumns + lane - radius;
    const auto y = static_cast<std::int32_t>(blockIdx.x / blocks_across * kWarps + threadIdx.y) * job.rows;
    const auto z = static_cast<std::int32_t>(blockIdx.z);
    const std::int32_t end = ::min(y + job.rows, static_cast<std::int32_t>(job.target.height));
    const bool stores = lane >= radius && lane < kLanes - radius && x < static_cast<std::int32_t>(job.target.width);
    HardwareSource source = job.source;
    source.integers = false;

    ChannelSums<channels> sums[kTaps];  // of the rows around the next pixel
    ChannelSums<channels> ahead;        // the texel of the row after them
    const auto fetch = [&](std::int32_t row) {
        ahead = ChannelSums<channels>::of_texel(job.texels(source, z, x, row));
    };
    const auto add_row = [&](std::int32_t next) {
        const ChannelSums<channels> texel = ahead;
        fetch(next);  // is not needed before this row is done
        ChannelSums<channels> sum;
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
            ChannelSums<channels> beside = texel;
            if (tap != radius) {
#pragma unroll
                for (int c = 0; c < channels; ++c) beside.of[c] = __shfl_sync(kAll, texel.of[c], lane - radius + tap);
            }
            sum.add(beside, job.across[tap]);
        }
#pragma unroll
        for (int tap = 1; tap < kTaps; ++tap) sums[tap - 1] = sums[tap];
        sums[kTaps - 1] = sum;
    };
    if (y >= end) return;
    fetch(y - radius);
    for (std::int32_t row = y - radius; row < y + radius; ++row) add_row(row + 1);
    for (std::int32_t row = y; row < end; row += kColumnPixels) {
        detail::PixelColumn<detail::kColumnPixels> pixels;
#pragma unroll
        for (int i = 0; i < kColumnPixels; ++i) {
            add_row(row + i + radius + 1);
            ChannelSums<channels> sum;
#pragma unroll
            for (int tap = 0; tap < kTaps; ++tap) sum.add(sums[tap], job.down[tap]);
            Float4 pixel = sum.pixel();
            if constexpr (sharpens) pixel = job.sharpen(job.texels(source, z, x, row + i), pixel);
            pixels.color[i] = detail::packed(pixel);
        }
        if (stores) {
            detail::store_pixels<1>(job.target, static_cast<unsigned>(x), static_cast<unsigned>(row),
                                    static_cast<unsigned>(z), pixels);
        }
    }
}

unsigned parts(unsigned side, unsigned part) { return (side + part - 1) / part; }

template <int radius, int channels>
void enqueue(const detail::Launch& launch, Job job, bool sharpens) {
    const PixelTarget& target = job.target;
    const void* const kernel = sharpens ? reinterpret_cast<const void*>(&filter_columns<radius, channels, true>)
                                        : reinterpret_cast<const void*>(&filter_columns<radius, channels, false>);
    const unsigned across = parts(target.width, kLanes - 2 * radius);
    // Filters of radius 1 wait for memory, the others for the sums.
    const unsigned wanted = radius > 1 ? 64 : target.format.stored.bits > 8 ? 8 : 16;
    const unsigned rows = detail::rows_of_runs(launch, {across * target.depth, target.height, kWarps, wanted});
    job.rows = static_cast<std::int32_t>(rows);
    void* arguments[] = {&job};
    detail::launch_blocks({&launch, 1}, kernel, arguments,
                          {{across * parts(target.height, rows * kWarps), 1, target.depth}, {kLanes, kWarps}});
}

template <int channels>
bool enqueue_channels(const detail::Launch& launch, const Job& job, std::int32_t radius, bool sharpens) {
    constexpr int kMaxRadius = channels == 4 ? 2 : kLargestRadius;
    if (radius > kMaxRadius) return false;
    if (radius == 1) {
        enqueue<1, channels>(launch, job, sharpens);
    } else if (radius == 2) {
        enqueue<2, channels>(launch, job, sharpens);
    } else if constexpr (kMaxRadius == 3) {
        enqueue<3, channels>(launch, job, sharpens);
    }
    return true;
}

}  // namespace

bool enqueue_columns(const detail::Launch& launch, const Separable& filter, const Sharpen* sharpen) {
    const std::int32_t radius = std::max({filter.across.radius, filter.down.radius, 1});
    if (radius > kLargestRadius) return false;
    Job job{launch.target(), HardwareSource(launch.shape(0), launch.handle(0)), filter.texels, {}, {}, {}, 0};
    const auto copy = [radius](const Weights& weights, float* to) {
        std::copy_n(weights.weight, 2 * weights.radius + 1, to + radius - weights.radius);
    };
    copy(filter.across, job.across);
    copy(filter.down, job.down);
    if (sharpen != nullptr) job.sharpen = *sharpen;
    switch (detail::channels_read(launch.state().textures[0])) {
        case 1: return enqueue_channels<1>(launch, job, radius, sharpen != nullptr);
        case 2: return enqueue_channels<2>(launch, job, radius, sharpen != nullptr);
        default: return enqueue_channels<4>(launch, job, radius, sharpen != nullptr);
    }
}

}  // namespace texton::filters
