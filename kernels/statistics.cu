// Statistics on a CUDA device, and as pictures.
//
// Threads keep counts and sums to themselves as long as they can: a sum as two words that it adds to, of which values
// from 2^-30 to 4 share one pair; the histogram, in which threads meet seldom, lies in the block's shared memory. A
// block adds what it has to the result once, when it has gone through its tiles.
#include "kernels/statistics.h"

#include <texton/copy.h>
#include <texton/launch.h>
#include <texton/linear.h>

#include "kernels/checks.h"
#include "kernels/registry.h"
#if defined(__CUDACC__)
#include "kernels/filter_texels.h"
#endif

namespace texton {
namespace detail {

#if defined(__CUDACC__)
namespace {

constexpr unsigned kWidth = StatisticsTiles::kWidth;
constexpr unsigned kThreads = StatisticsTiles::kTexels;
constexpr unsigned kAllLanes = 0xffffffffu;

__device__ void add_word(std::int64_t& word, std::int64_t value) {
    if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(&word), static_cast<unsigned long long>(value));
}

/// What one thread knows of a channel.
class ThreadTally {
public:
    __device__ void add(float value, std::int64_t* sum) {
        if (!is_finite(value)) {
            if (value != value)
                ++nans_;
            else
                ++infinities_;
            return;
        }
        ++finite_;
        const std::uint32_t key = key_of(value);
        if (key > highest_key_) highest_key_ = key;
        if (~key > lowest_key_) lowest_key_ = ~key;
        const SumPart part = sum_part(value);
        if (part.word != sum_.word) {
            add_to(sum);
            sum_ = {part.word, 0, 0};
        }
        sum_.lower += part.lower;
        sum_.upper += part.upper;
    }

    /// Called by all threads of a warp together.
    __device__ void add_to(Statistics& block, int channel) {
        const bool adds = warp_adds_sums();
        if (adds) add_to(block.sum[channel]);
        if (finite_ != 0) {
            atomicAdd(&block.finite[channel], finite_);
            atomicMax(&block.highest_key[channel], highest_key_);
            atomicMax(&block.lowest_key[channel], lowest_key_);
        }
        if (nans_ != 0) atomicAdd(&block.nans[channel], nans_);
        if (infinities_ != 0) atomicAdd(&block.infinities[channel], infinities_);
    }

private:
    __device__ void add_to(std::int64_t* sum) const {
        add_word(sum[sum_.word], sum_.lower);
        add_word(sum[sum_.word + 1], sum_.upper);
    }

    /// Where all sums of the warp are of the same words, the first thread's becomes that of all. True for those who
    /// have one.
    __device__ bool warp_adds_sums() {
        if (!__all_sync(kAllLanes, sum_.word == __shfl_sync(kAllLanes, sum_.word, 0))) return true;
        for (unsigned apart = 16; apart != 0; apart /= 2) {
            sum_.lower += __shfl_down_sync(kAllLanes, sum_.lower, apart);
            sum_.upper += __shfl_down_sync(kAllLanes, sum_.upper, apart);
        }
        return threadIdx.x % 32 == 0;
    }

    std::uint32_t finite_ = 0;
    std::uint32_t nans_ = 0;
    std::uint32_t infinities_ = 0;
    std::uint32_t highest_key_ = 0;
    std::uint32_t lowest_key_ = 0;
    SumPart sum_{0, 0, 0};
};

template <int channels>
__device__ void add_block(Statistics& result, const Statistics& block) {
    for (unsigned i = threadIdx.x; i < channels * Statistics::kBins; i += kThreads) {
        const std::uint32_t count = (&block.histogram[0][0])[i];
        if (count != 0) atomicAdd(&(&result.histogram[0][0])[i], count);
    }
    for (unsigned i = threadIdx.x; i < channels * Statistics::kSumWords; i += kThreads)
        add_word((&result.sum[0][0])[i], (&block.sum[0][0])[i]);
    if (threadIdx.x >= channels) return;
    const unsigned c = threadIdx.x;
    atomicAdd(&result.finite[c], block.finite[c]);
    atomicAdd(&result.nans[c], block.nans[c]);
    atomicAdd(&result.infinities[c], block.infinities[c]);
    atomicMax(&result.highest_key[c], block.highest_key[c]);
    atomicMax(&result.lowest_key[c], block.lowest_key[c]);
}

template <int channels>
__global__ void __launch_bounds__(kThreads)
    collect(cudaTextureObject_t texture, const StatisticsSource from, const StatisticsTiles tiles,
            const HistogramRange range, Statistics* result) {
    __shared__ Statistics block;
    for (unsigned i = threadIdx.x; i < sizeof block / 4; i += kThreads) reinterpret_cast<std::uint32_t*>(&block)[i] = 0;
    __syncthreads();
    const HardwareSource source(from.shape, texture);
    const NumberedTexels texels{from.layered};
    ThreadTally tally[channels];
    for (std::int64_t tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
        const auto x = static_cast<std::int32_t>(tile % tiles.across * kWidth + threadIdx.x % kWidth);
        const auto y = static_cast<std::int32_t>(tile / tiles.across % tiles.down * StatisticsTiles::kHeight +
                                                 threadIdx.x / kWidth);
        if (x >= from.shape.width || y >= from.shape.height) continue;
        const Float4 texel = texels(source, static_cast<std::int32_t>(tile / tiles.across / tiles.down), x, y);
        const float values[4] = {texel.x, texel.y, texel.z, texel.w};
#pragma unroll
        for (int c = 0; c < channels; ++c) {
            tally[c].add(values[c], block.sum[c]);
            if (is_finite(values[c])) atomicAdd(&block.histogram[c][range.bin(values[c])], 1u);
        }
    }
    __syncwarp();
#pragma unroll
    for (int c = 0; c < channels; ++c) tally[c].add_to(block, c);
    __syncthreads();
    add_block<channels>(*result, block);
}

}  // namespace

const void* collect_kernel(int channels) {
    switch (channels) {
        case 1: return reinterpret_cast<const void*>(&collect<1>);
        case 2: return reinterpret_cast<const void*>(&collect<2>);
        case 3: return reinterpret_cast<const void*>(&collect<3>);
        default: return reinterpret_cast<const void*>(&collect<4>);
    }
}
#endif

}  // namespace detail

// --- by name ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kTableRows = 5;

/// A channel in each column: lowest, highest, mean, NaNs, infinities.
struct Table {
    const Statistics* statistics;

    TEXTON_HD Float4 operator()(PixelPlace at) const { return {value(at.x, at.y), 0, 0, 0}; }

private:
    TEXTON_HD float value(int channel, int row) const {
        switch (row) {
            case 0: return statistics->lowest(channel);
            case 1: return statistics->highest(channel);
            case 2: return statistics->mean(channel);
            case 3: return static_cast<float>(statistics->nans[channel]);
            default: return static_cast<float>(statistics->infinities[channel]);
        }
    }
};

/// What is shown of a texture's statistics, which are collected into memory of the stream's pool.
Kernel kernel_of_statistics(const char* name, const char* summary, std::vector<ParameterInfo> parameters,
                            PictureShape (*shape)(const Texture& texture),
                            void (*show)(const Stream& stream, const View& picture, const Linear& statistics),
                            StatisticsOptions (*options)(const Arguments& arguments)) {
    KernelInfo info;
    info.name = name;
    info.group = "statistics";
    info.summary = summary;
    info.inputs = {{"picture", "what is counted", {ArrayKind::array_2d, ArrayKind::layered_2d}}};
    info.parameters = std::move(parameters);
    return {std::move(info),
            [shape](const Arguments&, std::span<const Texture> inputs) {
                return std::vector<PictureShape>{shape(inputs[0])};
            },
            [shape, show, options, object = std::string("texton::") + name](
                const Stream& stream, std::span<const View> pictures, const Arguments& arguments,
                std::span<const Texture> inputs) {
                detail::check_extent(object.c_str(), "the picture", pictures[0], shape(inputs[0]).extent);
                const Linear memory = Linear::async(sizeof(Statistics), stream);
                collect_statistics(stream, memory.view(), inputs[0], options(arguments));
                show(stream, pictures[0], memory);
            }};
}

PictureShape table_shape(const Texture& texture) {
    return {{info(texture.format()).channels, kTableRows}, Format::r32_float};
}

void show_table(const Stream& stream, const View& picture, const Linear& statistics) {
    detail::launch_as("texton::statistics", stream, picture,
                      Table{reinterpret_cast<const Statistics*>(statistics.data())});
}

PictureShape histogram_shape(const Texture& texture) {
    return {{Statistics::kBins, info(texture.format()).channels}, Format::r32_uint};
}

/// By a copy, as floats do not hold all counts.
void show_histogram(const Stream& stream, const View& picture, const Linear& statistics) {
    static_assert(offsetof(Statistics, histogram) == 0);
    if (picture.format() != Format::r32_uint)
        detail::refuse_argument("texton::histogram",
                                "a picture of " + std::string(name(picture.format())) + " was given",
                                "Give one of r32_uint.");
    const ConstView bins = statistics.view(Format::r32_uint, {Statistics::kBins, picture.extent().height});
    copy(picture, bins, stream);
}

}  // namespace

Kernel detail::statistics_kernel() {
    return kernel_of_statistics("statistics", "of each channel: lowest, highest, mean, NaNs and infinities, a row each",
                                {}, table_shape, show_table, [](const Arguments&) { return StatisticsOptions{}; });
}

Kernel detail::histogram_kernel() {
    return kernel_of_statistics(
        "histogram", "how many values of each channel lie in each of 256 parts of a range",
        {{.name = "range",
          .kind = ParameterKind::numbers,
          .summary = "from where to where; values outside count in the first and last part",
          .standard = std::vector<double>{0, 1},
          .count = 2}},
        histogram_shape, show_histogram, [](const Arguments& arguments) {
            const std::vector<double>& range = arguments.numbers("range");
            return StatisticsOptions{static_cast<float>(range[0]), static_cast<float>(range[1])};
        });
}

}  // namespace texton
