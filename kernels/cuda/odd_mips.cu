// Computes a level of a mip chain with the box filter from texels as they are stored. A side of the level above may be
// odd; then pixels cover parts of three texels, with weights of their own.
//
// A thread computes four adjacent values of a row, or several rows of them. The weights along x are the same in all
// rows, so the sum of a row of texels that belongs to two rows of pixels is computed once. Terms are added in the order
// of kernels/functors/mip_functors.h.
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/fused_mips.h"
#include "kernels/cuda/stored_rows.h"
#include "kernels/cuda/stored_values.h"
#include "kernels/launch/launch_state.h"

namespace texton::mip {
namespace {

using detail::kValues;
using detail::WordOf;

constexpr unsigned kThreadsAcross = 32;  // of a block
constexpr unsigned kThreadsDown = 8;

struct Job {
    StoredRows above;
    StoredRows level;
    Halving x;
    Halving y;
    float total;  // of the weights of a pixel
    bool layered;
};

TEXTON_HD constexpr int taps_along(const Halving& axis) { return axis.from == axis.to ? 1 : 2 + axis.from % 2; }

/// The texels of a row that the pixels of a thread depend on, one after the other.
template <class FormatOf, int channels>
struct RowTexels {
    using Format = FormatOf;
    using Stored = typename Format::Stored;
    using Texel = WordOf<channels * sizeof(Stored)>;
    static constexpr int kPixels = kValues / channels;
    static constexpr int kTexels = 2 * kPixels + 1;
    static constexpr unsigned kBytes = 2 * kValues * sizeof(Stored);  // without the last texel
    using Loaded = WordOf<(kBytes < sizeof(uint4) ? kBytes : sizeof(uint4))>;

    unsigned words[(kTexels * channels + kValues - 1) / kValues * Format::kWords];

    /// Returns a value of the texel number i.
    __device__ float value(int i, int channel) const {
        const int number = i * channels + channel;
        return Format::value(words + number / kValues * Format::kWords, number % kValues);
    }
    __device__ void set(int i, const Texel& texel) {
        constexpr int kOfWord = sizeof(unsigned) / sizeof(Texel);
        if constexpr (kOfWord > 1) {
            constexpr int kBits = 8 * static_cast<int>(sizeof(Texel));
            const unsigned code = static_cast<unsigned>(texel) << i % kOfWord * kBits;
            words[i / kOfWord] = i % kOfWord == 0 ? code : words[i / kOfWord] | code;
        } else {
            ::memcpy(words + i * static_cast<int>(sizeof(Texel) / sizeof(unsigned)), &texel, sizeof texel);
        }
    }
    /// Loads the texels from number `first` on. The last texel of the row takes the place of those after it, whose
    /// weights are not used. No branch is between the loads, so that they do not wait for each other.
    template <StoredIn in>
    __device__ void load(const StoredRows& rows, unsigned first, unsigned y, unsigned z) {
        const unsigned byte = first * static_cast<unsigned>(sizeof(Texel));
        const unsigned last = rows.row_bytes - static_cast<unsigned>(sizeof(Texel));
        const auto texel = [&](int i) {
            const unsigned at = ::min(byte + static_cast<unsigned>(i) * static_cast<unsigned>(sizeof(Texel)), last);
            set(i, detail::stored<in, Texel>(rows.texels, at, y, z));
        };
        if (rows.alignment >= sizeof(Loaded) && byte + kBytes <= rows.row_bytes) {
#pragma unroll
            for (unsigned i = 0; i < kBytes / sizeof(Loaded); ++i) {
                const auto loaded =
                    detail::stored<in, Loaded>(rows.texels, byte + i * static_cast<unsigned>(sizeof(Loaded)), y, z);
                ::memcpy(words + i * (sizeof(Loaded) / sizeof(unsigned)), &loaded, sizeof loaded);
            }
            texel(kTexels - 1);
        } else {
#pragma unroll
            for (int i = 0; i < kTexels; ++i) texel(i);
        }
    }
};

/// The weights of the pixels of a thread along a row.
template <class Texels>
class AcrossWeights {
public:
    struct Sums {
        float of[kValues];
    };

    __device__ AcrossWeights(const Halving& axis, unsigned pixel) : taps_(taps_along(axis)) {
#pragma unroll
        for (int i = 0; i < Texels::kPixels; ++i) {
            const Taps<Box::kMax> taps = Box{}.taps(axis, static_cast<std::int32_t>(pixel) + i);
#pragma unroll
            for (int tap = 0; tap < Box::kMax; ++tap) weights_[i][tap] = taps.weight[tap];
        }
    }

    __device__ Sums sum(const Texels& texels) const {
        constexpr int kChannels = kValues / Texels::kPixels;
        Sums sums;
#pragma unroll
        for (int i = 0; i < kValues; ++i) {
            const int pixel = i / kChannels, channel = i % kChannels;
            float sum = ::fmaf(texels.value(2 * pixel, channel), weights_[pixel][0], 0.0f);
            if (taps_ > 1) sum = ::fmaf(texels.value(2 * pixel + 1, channel), weights_[pixel][1], sum);
            if (taps_ > 2) sum = ::fmaf(texels.value(2 * pixel + 2, channel), weights_[pixel][2], sum);
            sums.of[i] = sum;
        }
        return sums;
    }

private:
    int taps_;
    float weights_[Texels::kPixels][Box::kMax];
};

/// Returns sum / total.
template <class Format>
__device__ float mean(float sum, float total) {
    if constexpr (std::is_same_v<Format, detail::Unorm8> || std::is_same_v<Format, detail::Unorm16>)
        return detail::quotient(sum, total);
    return quick_quotient(sum, total);
}

/// Rows of pixels that a thread computes.
template <class Format>
constexpr unsigned kRows = sizeof(typename Format::Words) == sizeof(uint4) ? 1 : 2;

template <class Format, int channels>
__global__ void __launch_bounds__(kThreadsAcross* kThreadsDown) make_level(const __grid_constant__ Job job) {
    using Texels = RowTexels<Format, channels>;
    using Stored = typename Format::Stored;
    constexpr unsigned kOwnRows = kRows<Format>;
    constexpr unsigned kLoaded = 2 * kOwnRows + 1;
    const unsigned pixel = (blockIdx.x * kThreadsAcross + threadIdx.x) * Texels::kPixels;
    const unsigned begin = (blockIdx.y * kThreadsDown + threadIdx.y) * kOwnRows;
    if (pixel >= job.level.texels.width || begin >= job.level.texels.height) return;
    const unsigned layer = job.layered ? blockIdx.z : 0;
    // All rows are loaded before the first one is summed, so that many loads are in flight.
    Texels texels[kLoaded];
    const auto load = [&]<StoredIn in>(std::integral_constant<StoredIn, in>) {
#pragma unroll
        for (unsigned i = 0; i < kLoaded; ++i) {
            const unsigned row = ::min(2 * begin + i, static_cast<unsigned>(job.y.from) - 1);
            texels[i].template load<in>(job.above, 2 * pixel, row, layer);
        }
    };
    switch (job.above.in) {
        case StoredIn::memory: load(std::integral_constant<StoredIn, StoredIn::memory>{}); break;
        case StoredIn::plane: load(std::integral_constant<StoredIn, StoredIn::plane>{}); break;
        case StoredIn::layers: load(std::integral_constant<StoredIn, StoredIn::layers>{}); break;
    }
    const AcrossWeights<Texels> across(job.x, pixel);
    const int taps = taps_along(job.y);
    auto first = across.sum(texels[0]);
#pragma unroll
    for (unsigned row = 0; row < kOwnRows; ++row) {
        const unsigned y = begin + row;
        if (y >= job.level.texels.height) return;
        const Taps<Box::kMax> down = Box{}.taps(job.y, static_cast<std::int32_t>(y));
        const auto second = across.sum(texels[2 * row + 1]);
        const auto third = across.sum(texels[2 * row + 2]);
        Stored results[kValues];
#pragma unroll
        for (int i = 0; i < kValues; ++i) {
            float plane = ::fmaf(first.of[i], down.weight[0], 0.0f);
            if (taps > 1) plane = ::fmaf(second.of[i], down.weight[1], plane);
            if (taps > 2) plane = ::fmaf(third.of[i], down.weight[2], plane);
            results[i] = Format::stored(mean<Format>(::fmaf(plane, 1.0f, 0.0f), job.total), i);
        }
        typename Format::Words words;
        ::memcpy(&words, results, sizeof words);
        write_words<typename Texels::Texel>(job.level, pixel * static_cast<unsigned>(sizeof(typename Texels::Texel)), y,
                                            blockIdx.z, words);
        first = third;
    }
}

}  // namespace

bool enqueue_level(const Step& step, const detail::Launch& launch) {
    const std::optional<StoredRows> above = rows_above(step);
    const std::optional<StoredRows> level = stored_rows(launch.target());
    if (!above || !level || above->texels.format.stored != level->texels.format.stored) return false;
    const Sides sides = sides_between(step.from, step.level.extent());
    const auto total = [](const Halving& axis) { return Box{}.taps(axis, 0).total; };
    Job job{*above, *level, sides.x, sides.y, total(sides.x) * total(sides.y), step.from.depth > 1};
    return detail::with_stored_values(level->texels.format.stored, [&]<class Format, int channels>() {
        const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
        const detail::PixelTarget& target = level->texels;
        void* arguments[] = {&job};
        detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&make_level<Format, channels>), arguments,
                              {{parts(target.width * channels, kThreadsAcross * kValues),
                                parts(target.height, kThreadsDown * kRows<Format>), target.depth},
                               {kThreadsAcross, kThreadsDown}});
        return true;
    });
}

}  // namespace texton::mip
