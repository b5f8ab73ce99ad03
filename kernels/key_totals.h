#pragma once
// Percentiles of images that are counted in parts, possibly by several processes.
#include <cstdint>
#include <functional>
#include <span>

#include <texton/percentiles.h>

#include "kernels/functors/key_counts.h"

namespace texton::detail {

/// The numbers of values of each channel whose keys have the same half, for images of fewer than 2^40 texels.
struct KeyTotals {
    static constexpr std::uint32_t kHalves = KeyCounts::kHalves;
    std::uint64_t of[4][kHalves] = {};

    /// Adds the values of the parts. Throws the errors of percentiles().
    void add(const Stream& stream, const TextureParts& parts, const KeyHalf& half);
};

/// Adds the values of all texels of an image to totals that are 0.
using CountKeys = std::function<void(const KeyHalf&, KeyTotals&)>;

/// Returns the percentiles of an image, as percentiles() of its parts. Calls `count` once, and once more for each share
/// whose value is not near the one of another share. Throws Error{bad_argument} if a share is not from 0 to 1.
[[nodiscard]] std::vector<std::array<float, 4>> percentiles_of(const CountKeys& count, std::span<const double> shares);

}  // namespace texton::detail
