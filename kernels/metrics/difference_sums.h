// Sums of the differences of two images, which every device computes, and what compare() returns of them.
//
// Sums of short codes (CodeFormat) are integers, which can be added in any order. Sums of other formats are rounded, so
// their order is fixed: the texels of each segment of kSegment texels, in the order of the image, are added in
// kSegmentLanes sums, those of a texel by its position modulo kSegmentLanes; the sums are added in pairs of lane i and
// lane i + n for n = 16, 8, 4, 2, 1; and the sums of the segments are added from the first to the last.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/metrics/codes.h"

namespace texton::detail {

inline constexpr std::size_t kSegment = 1024, kSegmentLanes = 32;

/// Rounded sums of a segment, or of segments, by channel.
struct RoundedSums {
    double differences[4] = {};
    double squares[4] = {};

    void add(const RoundedSums& other) {
        for (std::size_t c = 0; c < 4; ++c) {
            differences[c] += other.differences[c];
            squares[c] += other.squares[c];
        }
    }
};

/// A sum of integers that does not overflow.
class ExactSum {
public:
    void add(std::uint64_t value) {
        low_ += value & UINT32_MAX;
        high_ += (value >> 32) + (low_ >> 32);
        low_ &= UINT32_MAX;
    }
    void add(const ExactSum& other) {
        add(other.low_);
        high_ += other.high_;
    }
    double value() const { return static_cast<double>(high_) * 0x1p32 + static_cast<double>(low_); }

private:
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;  // in units of 2^32
};

struct ChannelSums {
    std::size_t differing = 0;
    std::uint32_t max_ulp = 0;
    double max = 0;        // the largest difference of values of float formats
    ExactSum differences;  // of short codes
    ExactSum squares;
    std::array<std::size_t, 2> nans{};
    std::array<std::size_t, 2> infinities{};
};

struct DifferenceSums {
    std::array<ChannelSums, 4> channels{};
    RoundedSums rounded;                      // of formats without short codes
    std::size_t differing = 0;                // texels
    std::array<std::size_t, 33> histogram{};  // of the channels of texels that differ, by the bits of the ulp distance
    std::vector<WorstTexel> worst;            // in any order

    void add(const DifferenceSums& other);
};

/// Returns true if `one` precedes `other` in Comparison::worst.
bool worse(const WorstTexel& one, const WorstTexel& other);
/// Adds a texel to the worst ones so far if it belongs to them. `worst` is a heap whose first element is the least bad.
void keep_worst(std::vector<WorstTexel>& worst, std::size_t count, const WorstTexel& texel);

/// Writes everything except SSIM and FLIP. `texels` is the number of texels.
void finish_differences(const DifferenceSums& sums, const CodeFormat& format, std::size_t texels, Comparison& result);

}  // namespace texton::detail
