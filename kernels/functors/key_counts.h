#pragma once
// Counts of the keys of values, whose order is the order of the values. This definition is shared by both devices.
#include "kernels/functors/statistics.h"

namespace texton::detail {

/// The numbers of values of each channel whose keys have the same half.
struct KeyCounts {
    static constexpr std::uint32_t kHalves = 65536;
    std::uint32_t of[4][kHalves];
};

/// Which half of the keys is counted: the upper one of all values, or the lower one of those whose upper half is known.
struct KeyHalf {
    bool lower;
    std::uint32_t upper[4];  ///< of the channels

    /// Returns whether a value of a channel is counted, and its half.
    TEXTON_HD bool counts(float value, int channel, std::uint32_t& half) const {
        if (!is_finite(value)) return false;
        const std::uint32_t key = key_of(value);
        half = lower ? key & 0xffffu : key >> 16;
        return !lower || key >> 16 == upper[channel];
    }
};

/// Returns the value of a key.
TEXTON_HD inline float value_of_key(std::uint32_t key) { return float_of(key >> 31 ? key & 0x7fffffffu : ~key); }

}  // namespace texton::detail
