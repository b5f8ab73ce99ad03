#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// The patterns of generated images.
enum class PatternKind : std::uint8_t {
    noise,       ///< independent random values in all channels; random blocks in block-compressed formats
    gradient,    ///< red increases with x, green with y, blue with x, y and z; alpha decreases with y
    zone_plate,  ///< gray rings that become narrower from the center to one texel at the border
    checker,     ///< squares with sides of 4 texels, which change from slice to slice
    /// Noise, in which some values are special: NaN, infinities, -0, denormal numbers and the largest ones in float
    /// formats, the lowest and the highest codes and their neighbors in other formats.
    special,
    ties,         ///< random values in the middle between two codes of 8 bits
    transparent,  ///< noise in rectangles whose alpha is 0, 1 or noise
    steps         ///< rectangles with sides of a few texels; many of their values are the lowest or the highest
};

/// A generated image, which has the same bits on every machine.
struct Pattern {
    PatternKind kind = PatternKind::noise;
    std::uint32_t seed = 1;  ///< of noise; each level adds its index
    /// Lowest and highest value. Default: -1 and 1 for snorm, the limits of the type for integers, 0 and 1 for other
    /// formats.
    std::optional<std::array<float, 2>> range{};
};

/// Returns an array whose levels each contain the pattern at the size of the level.
///
/// Throws Error{unsupported} if the format is planar, or if it is block-compressed and the pattern is not noise.
[[nodiscard]] HostArray draw(const Pattern& pattern, const ArrayInfo& info);

}  // namespace texton::verify
