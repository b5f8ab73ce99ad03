// Separable filters of small radius whose texels and pixels have the same format, in one CUDA kernel that neither uses
// the texture unit nor shared memory.
//
// A row is a sequence of stored values, with the channels of a texel after one another. A warp computes adjacent values
// of the image from top to bottom, four for each thread. A thread loads four values of a row and gets the values beside
// them from the other threads of the warp. It keeps the sums of the rows that the next values need in registers. The
// threads at both ends of the warp only load values. Terms are added in the order of the functors Across and Down.
#include <algorithm>
#include <optional>

#include "arrays/texture_state.h"
#include "kernels/cuda/blocks.h"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/filter_columns.h"
#include "kernels/cuda/stored_texels.h"
#include "kernels/cuda/stored_values.h"

namespace texton::filters {
namespace {

using detail::ChannelSums;
using detail::kValues;
using detail::PixelTarget;

constexpr int kLanes = 32;
constexpr int kWarps = 8;     // of a block
constexpr int kMaxRows = 64;  // that a warp computes
constexpr int kLargestRadius = 3;

struct Job {
    PixelTarget texels;
    PixelTarget target;
    bool layered;
    float across[2 * kLargestRadius + 1];  // weights, none of which is 0
    float down[2 * kLargestRadius + 1];
    std::int32_t rows;  // that a warp computes
};

/// Loads the values from `first` on. Values beyond the edges are those of the texels at the edges.
template <class Format, int channels>
__device__ void load_words(const Job& job, std::int32_t first, unsigned y, unsigned z,
                           unsigned (&words)[Format::kWords]) {
    using Stored = typename Format::Stored;
    const std::int32_t end = static_cast<std::int32_t>(job.texels.width) * channels;
    if (first >= 0 && first + kValues <= end) {
        const auto loaded = detail::load_stored<typename Format::Words>(
            job.texels, static_cast<unsigned>(first) * sizeof(Stored), y, z);
        ::memcpy(words, &loaded, sizeof loaded);
        return;
    }
    Stored values[kValues];
    for (int i = 0; i < kValues; ++i) {
        const std::int32_t channel = (first + i + kLargestRadius * kLanes * channels) % channels;
        const std::int32_t at = ::min(::max(first + i, channel), end - channels + channel);
        values[i] = detail::load_stored<Stored>(job.texels, static_cast<unsigned>(at) * sizeof(Stored), y, z);
    }
    ::memcpy(words, values, sizeof values);
}

template <class Format, int channels, int radius>
__global__ void __launch_bounds__(kLanes* kWarps) filter_values(const __grid_constant__ Job job) {
    using Stored = typename Format::Stored;
    using Sums = ChannelSums<kValues>;
    constexpr int kTaps = 2 * radius + 1;
    constexpr int kBeside = (radius * channels + kValues - 1) / kValues;  // threads whose values a thread needs
    constexpr int kAcross = (kLanes - 2 * kBeside) * kValues;             // values of a warp
    constexpr unsigned kAll = 0xffffffff;
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const auto values = static_cast<std::int32_t>(job.target.width) * channels;  // of a row
    const auto blocks_across = static_cast<unsigned>((values + kAcross - 1) / kAcross);
    const std::int32_t x = static_cast<std::int32_t>(blockIdx.x % blocks_across) * kAcross + (lane - kBeside) * kValues;
    const auto y = static_cast<std::int32_t>(blockIdx.x / blocks_across * kWarps + threadIdx.y) * job.rows;
    const std::int32_t end = ::min(y + job.rows, static_cast<std::int32_t>(job.target.height));
    const unsigned z = blockIdx.z;
    const auto last_row = static_cast<std::int32_t>(job.texels.height) - 1;
    const bool stores = lane >= kBeside && lane < kLanes - kBeside && x < values;
    if (y >= end) return;

    Sums sums[kTaps];  // of the rows around the next one
    const auto add_row = [&](std::int32_t row) {
        unsigned words[2 * kBeside + 1][Format::kWords];
        load_words<Format, channels>(job, x, static_cast<unsigned>(::min(::max(row, 0), last_row)), job.layered ? z : 0,
                                     words[kBeside]);
#pragma unroll
        for (int i = 0; i < 2 * kBeside + 1; ++i) {
#pragma unroll
            for (int word = 0; word < Format::kWords; ++word) {
                if (i != kBeside) words[i][word] = __shfl_sync(kAll, words[kBeside][word], lane + i - kBeside);
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
    for (std::int32_t row = y - radius; row < y + radius; ++row) add_row(row);
    std::byte* to = job.target.address + z * job.target.slice_pitch + static_cast<unsigned>(y) * job.target.pitch +
                    static_cast<std::int64_t>(x) * static_cast<std::int64_t>(sizeof(Stored));
#pragma unroll kTaps
    for (std::int32_t row = y; row < end; ++row, to += job.target.pitch) {
        add_row(row + radius);
        Sums sum;
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
#pragma unroll
            for (int i = 0; i < kValues; ++i) sum.of[i] = ::fmaf(sums[tap].of[i], job.down[tap], sum.of[i]);
        }
        Stored results[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) results[i] = Format::stored(sum.of[i]);
        if (!stores) continue;
        if (x + kValues <= values) {
            typename Format::Words packed;
            ::memcpy(&packed, results, sizeof packed);
            *reinterpret_cast<typename Format::Words*>(to) = packed;
        } else {
            for (int i = 0; x + i < values; ++i) reinterpret_cast<Stored*>(to)[i] = results[i];
        }
    }
}

unsigned parts(unsigned side, unsigned part) { return (side + part - 1) / part; }

template <class Format, int channels, int radius>
void enqueue(const detail::Launch& launch, Job job) {
    constexpr unsigned kEnoughBlocks = 1024;  // for the largest GPUs
    constexpr unsigned kLeastRows = 8;
    constexpr unsigned kAcross = kLanes * kValues - 2 * kValues * ((radius * channels + kValues - 1) / kValues);
    const PixelTarget& target = job.target;
    const auto blocks = [&](unsigned rows) {
        return parts(target.width * channels, kAcross) * parts(target.height, rows * kWarps);
    };
    unsigned rows = kMaxRows;
    while (rows > kLeastRows && blocks(rows) * target.depth < kEnoughBlocks) rows /= 2;
    job.rows = static_cast<std::int32_t>(rows);
    void* arguments[] = {&job};
    detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&filter_values<Format, channels, radius>),
                          arguments, {{blocks(rows), 1, target.depth}, {kLanes, kWarps}});
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

template <class Format>
bool enqueue_format(const detail::Launch& launch, const Job& job, std::int32_t radius) {
    if (!detail::has_aligned_values<Format>(job.texels) || !detail::has_aligned_values<Format>(job.target))
        return false;
    return job.target.format.stored.channels == 1 ? enqueue_channels<Format, 1>(launch, job, radius)
                                                  : enqueue_channels<Format, 2>(launch, job, radius);
}

}  // namespace

bool enqueue_values(const detail::Launch& launch, const Separable& filter) {
    const std::int32_t radius = filter.across.radius;
    const Texture& texture = launch.state().textures[0];
    const Sampler& sampler = texture.sampler();
    const PixelTarget& target = launch.target();
    const detail::TexelFormat& format = target.format.stored;
    // The sums of four channels are faster with fetches of the texture unit.
    if (radius < 1 || radius > kLargestRadius || filter.down.radius != radius || format.channels > 2) return false;
    if (target.address == nullptr || sampler.address[0] != AddressMode::clamp ||
        sampler.address[1] != AddressMode::clamp)
        return false;
    const std::optional<PixelTarget> texels = detail::stored_texels(texture);
    if (!texels || texels->format.stored != format) return false;
    Job job{*texels, target, texture.kind() == ArrayKind::layered_2d, {}, {}, 0};
    const std::int32_t count = 2 * radius + 1;
    std::copy_n(filter.across.weight, count, job.across);
    std::copy_n(filter.down.weight, count, job.down);
    // Texels whose weight is 0 do not count, which other kernels check.
    if (std::count(job.across, job.across + count, 0.0f) != 0 || std::count(job.down, job.down + count, 0.0f) != 0)
        return false;
    return detail::with_stored_values(
        format, [&]<class Format>(std::type_identity<Format>) { return enqueue_format<Format>(launch, job, radius); });
}

}  // namespace texton::filters
