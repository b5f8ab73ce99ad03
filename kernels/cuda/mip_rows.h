#pragma once
// Sums of rows of stored texels for the box filter of mip chains, for sides that may be odd: then pixels cover parts of
// three texels, with weights of their own. Terms are added in the order of kernels/functors/mip_functors.h. For code that
// nvcc compiles.
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/stored_rows.h"
#include "kernels/cuda/stored_values.h"

namespace texton::mip {

using detail::kValues;
using detail::WordOf;

TEXTON_HD constexpr int taps_along(const Halving& axis) { return axis.from == axis.to ? 1 : 2 + axis.from % 2; }

/// Returns how many lanes of a warp compute pixels (RowTexels::take_last()).
TEXTON_HD constexpr unsigned computing_lanes(const Halving& along_row) { return taps_along(along_row) > 2 ? 31 : 32; }

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
    /// Takes texels of a row in shared memory from number `first` on. The last texel of the row takes the place of those
    /// after it, whose weights are not used.
    __device__ void take(const Texel* row, unsigned first, unsigned last) {
#pragma unroll
        for (int i = 0; i < kTexels; ++i) set(i, row[::min(first + static_cast<unsigned>(i), last)]);
    }
    /// Loads all texels but the last one, from number `first` on. The last texel of the row takes the place of those
    /// after it, whose weights are not used. No branch is between the loads, so that they do not wait for each other.
    template <StoredIn in>
    __device__ void load(const StoredRows& rows, unsigned first, unsigned y, unsigned z) {
        const unsigned byte = first * static_cast<unsigned>(sizeof(Texel));
        const unsigned last = rows.row_bytes - static_cast<unsigned>(sizeof(Texel));
        if (rows.alignment >= sizeof(Loaded) && byte + kBytes <= rows.row_bytes) {
#pragma unroll
            for (unsigned i = 0; i < kBytes / sizeof(Loaded); ++i) {
                const auto loaded =
                    detail::stored<in, Loaded>(rows.texels, byte + i * static_cast<unsigned>(sizeof(Loaded)), y, z);
                ::memcpy(words + i * (sizeof(Loaded) / sizeof(unsigned)), &loaded, sizeof loaded);
            }
        } else {
#pragma unroll
            for (int i = 0; i + 1 < kTexels; ++i) {
                const unsigned at = ::min(byte + static_cast<unsigned>(i) * static_cast<unsigned>(sizeof(Texel)), last);
                set(i, detail::stored<in, Texel>(rows.texels, at, y, z));
            }
        }
    }
    /// Takes the last texel, which only odd sides need, from the next lane, where it is the first one. All threads of a
    /// warp must call this function together; the last lane has no next one and cannot compute pixels.
    __device__ void take_last() {
        constexpr int kOfTexel = sizeof(Texel) < sizeof(unsigned) ? 1 : sizeof(Texel) / sizeof(unsigned);
        constexpr int kLastWord = (kTexels - 1) * channels / kValues * Format::kWords;  // begins with the last texel
#pragma unroll
        for (int i = 0; i < kOfTexel; ++i) words[kLastWord + i] = __shfl_down_sync(0xffffffff, words[i], 1);
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

/// Writes the stored means of the values whose sums of up to three rows are given. `total` is the weight of a pixel.
template <class Format, class Sums>
__device__ void store_means(const Sums& first, const Sums& second, const Sums& third, const Taps<Box::kMax>& down,
                            int taps, float total, typename Format::Stored (&results)[kValues]) {
#pragma unroll
    for (int i = 0; i < kValues; ++i) {
        float plane = ::fmaf(first.of[i], down.weight[0], 0.0f);
        if (taps > 1) plane = ::fmaf(second.of[i], down.weight[1], plane);
        if (taps > 2) plane = ::fmaf(third.of[i], down.weight[2], plane);
        results[i] = Format::stored(mean<Format>(::fmaf(plane, 1.0f, 0.0f), total), i);
    }
}

/// Calls `call` with the memory of the rows as a constant.
template <class Call>
__device__ void with_memory_of(const StoredRows& rows, const Call& call) {
    switch (rows.in) {
        case StoredIn::memory: call(std::integral_constant<StoredIn, StoredIn::memory>{}); break;
        case StoredIn::plane: call(std::integral_constant<StoredIn, StoredIn::plane>{}); break;
        case StoredIn::layers: call(std::integral_constant<StoredIn, StoredIn::layers>{}); break;
    }
}

}  // namespace texton::mip
