#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

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
    steps,        ///< rectangles with sides of a few texels; many of their values are the lowest or the highest
    /// Waves of 40 to 4,000 texels a period, others in each channel. As rgba8_unorm it deflates to about an eighth.
    smooth
};

/// A generated image, which has the same bits on every machine.
struct Pattern {
    PatternKind kind = PatternKind::noise;
    std::uint32_t seed = 1;  ///< of noise; each level adds its index
    /// Lowest and highest value. Default: -1 and 1 for snorm, the limits of the type for integers, 0 and 1 for other
    /// formats.
    std::optional<std::array<float, 2>> range{};
};

/// Returns the pattern with a name, such as "zone_plate", or nothing if there is none.
[[nodiscard]] std::optional<PatternKind> pattern_named(std::string_view name) noexcept;
/// Sentence for messages that lists all names.
inline constexpr const char* kPatternNames =
    "Use noise, gradient, zone_plate, checker, special, ties, transparent, steps or smooth.";

/// Returns an array whose levels each contain the pattern at the size of the level.
///
/// Throws Error{unsupported} if the format is planar, or if it is block-compressed and the pattern is not noise.
[[nodiscard]] HostArray draw(const Pattern& pattern, const ArrayInfo& info);
/// Draws a part of an image with this size. `packed` gets its texels, tightly packed. They are the same as if the whole
/// image were drawn. Throws Error{unsupported} if the format is planar or block-compressed.
void draw_part(const Pattern& pattern, Format format, Extent image, const Region& part, std::byte* packed);

}  // namespace texton::verify
