#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "viewer/model/host_image.h"

namespace texton::verify {

enum class PatternKind : std::uint8_t {
    noise,       ///< each channel of each texel by itself; of block-compressed formats, random blocks
    gradient,    ///< red grows to the right, green downwards, blue with both and with the slices; alpha falls
    zone_plate,  ///< grey rings, from wide in the middle to a texel at the rim
    checker      ///< squares of four texels
};

/// A picture made by a rule: the same to the bit everywhere.
struct Pattern {
    PatternKind kind = PatternKind::noise;
    std::uint32_t seed = 1;
    /// From the darkest to the brightest. By itself 0 to 1, -1 to 1 of snorm, all of integers.
    std::optional<std::array<float, 2>> range{};
};

/// Every level is the pattern in its own size. Error{unsupported} for planar formats, and for other patterns than noise in
/// block-compressed ones.
[[nodiscard]] HostArray draw(const Pattern& pattern, const ArrayInfo& info);

}  // namespace texton::verify
