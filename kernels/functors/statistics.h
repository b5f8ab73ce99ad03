#pragma once
// What the value of a texel contributes to Statistics. This definition is shared by both devices.
#include <texton/pixel_target.h>
#include <texton/source.h>
#include <texton/statistics.h>
#include <texton/texture.h>

#include "core/backend.h"

namespace texton::detail {

/// Maps values to bins of the histogram.
struct HistogramRange {
    float low;
    float bins_a_unit;

    TEXTON_HD int bin(float value) const {
        const float position = (value - low) * bins_a_unit;
        if (!(position > 0)) return 0;
        return position < static_cast<float>(Statistics::kBins) ? static_cast<int>(position) : Statistics::kBins - 1;
    }
};

TEXTON_HD inline bool is_finite(float value) { return (bits_of(value) & 0x7f800000u) != 0x7f800000u; }

/// Returns an unsigned integer whose order is the order of the floats.
TEXTON_HD inline std::uint32_t key_of(float value) {
    const std::uint32_t bits = bits_of(value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/// What a finite value adds to the 64-bit words `word` and `word` + 1 of a sum.
struct SumPart {
    int word;
    std::int64_t lower;
    std::int64_t upper;
};
TEXTON_HD inline SumPart sum_part(float value) {
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t exponent = bits >> 23 & 255u;
    const std::uint32_t mantissa = exponent == 0 ? bits & 0x7fffffu : (bits & 0x7fffffu) | 0x800000u;
    const std::uint32_t position = exponent == 0 ? 0 : exponent - 1;  // the value is mantissa * 2^(position - 149)
    const std::uint64_t part = static_cast<std::uint64_t>(mantissa) << (position % 32);
    const auto lower = static_cast<std::int64_t>(part & 0xffffffffu);
    const auto upper = static_cast<std::int64_t>(part >> 32);
    const bool negative = bits >> 31;
    return {static_cast<int>(position / 32), negative ? -lower : lower, negative ? -upper : upper};
}

/// How collect_statistics() reads the texture.
struct StatisticsSource {
    SourceShape shape;
    bool layered;
    int channels;  ///< number of channels of the format
};

}  // namespace texton::detail
