#pragma once
// What a texel's value adds to the Statistics: the definition for both devices.
#include <texton/pixel_target.h>
#include <texton/source.h>
#include <texton/statistics.h>
#include <texton/texture.h>

#include "core/backend.h"

namespace texton::detail {

/// Which bin of the histogram counts a value.
struct HistogramRange {
    float low;
    float bins_a_unit;

    TEXTON_HD int bin(float value) const {
        const float place = (value - low) * bins_a_unit;
        if (!(place > 0)) return 0;
        return place < static_cast<float>(Statistics::kBins) ? static_cast<int>(place) : Statistics::kBins - 1;
    }
};

TEXTON_HD inline bool is_finite(float value) { return (bits_of(value) & 0x7f800000u) != 0x7f800000u; }

/// The floats' order as unsigned integers.
TEXTON_HD inline std::uint32_t key_of(float value) {
    const std::uint32_t bits = bits_of(value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/// What a finite value adds to words `word` and word + 1 of a sum.
struct SumPart {
    int word;
    std::int64_t lower;
    std::int64_t upper;
};
TEXTON_HD inline SumPart sum_part(float value) {
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t exponent = bits >> 23 & 255u;
    const std::uint32_t mantissa = exponent == 0 ? bits & 0x7fffffu : (bits & 0x7fffffu) | 0x800000u;
    const std::uint32_t place = exponent == 0 ? 0 : exponent - 1;  // a multiple of 2^(place - 149)
    const std::uint64_t part = static_cast<std::uint64_t>(mantissa) << (place % 32);
    const auto lower = static_cast<std::int64_t>(part & 0xffffffffu);
    const auto upper = static_cast<std::int64_t>(part >> 32);
    const bool negative = bits >> 31;
    return {static_cast<int>(place / 32), negative ? -lower : lower, negative ? -upper : upper};
}

/// How a kernel reads the texture.
struct StatisticsSource {
    SourceShape shape;
    bool layered;
    int channels;  ///< of the format
};

/// What the blocks of threads of a CUDA device go through: tiles of the texture, row by row and layer by layer.
struct TileGrid {
    unsigned across;
    unsigned down;
    unsigned layers;

    std::int64_t count() const { return std::int64_t{across} * down * layers; }
};

struct StatisticsTiles {
    static constexpr unsigned kWidth = 32;
    static constexpr unsigned kHeight = 8;
    static constexpr unsigned kTexels = kWidth * kHeight;  ///< a thread each
};

/// The same for texels of 8 bits a channel, whose bytes are counted as they are stored: tiles of units of 16 bytes.
struct CodeTiles {
    static constexpr unsigned kUnitBytes = 16;
    static constexpr unsigned kWidth = 16;
    static constexpr unsigned kHeight = 128;
    static constexpr unsigned kThreads = 1024;
    static constexpr unsigned kUnits = kWidth * kHeight / kThreads;  ///< of a thread, below each other

    /// Counts of 16 bits, of each byte of a word apart; those of a lane are in a bank of its own, whatever the bytes are.
    static constexpr unsigned kLanes = 32;
    static constexpr unsigned kSharedBytes = 2 * Statistics::kBins * kLanes * 4;
    /// A block's, so that no count overflows.
    static constexpr std::int64_t kMost = 65535 / (kThreads / kLanes * kUnits * kUnitBytes / 4);
};

/// A kernel that takes the texture's handle, StatisticsSource, TileGrid, HistogramRange and Statistics*, for so
/// many channels.
[[nodiscard]] const void* collect_kernel(int channels);
/// Where the texels lie, TileGrid, whether the fetches filter, HistogramRange and Statistics*.
[[nodiscard]] const void* collect_codes_kernel(const PixelTarget& texels);

/// Adds the texels to statistics that were cleared. Without CUDA there is no such device.
void collect_on_cuda(Backend& device, StreamHandle stream, const Texture& texture, const StatisticsSource& source,
                     const HistogramRange& range, Statistics* statistics);

}  // namespace texton::detail
