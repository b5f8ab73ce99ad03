#pragma once
// Texels that a file stores in pairs, or as indices into a palette.
#include <array>
#include <cstdint>

#include "arrays/files/source.h"

namespace texton::detail {

/// How texels follow from a unit of stored bytes: one byte, or four bytes that hold two texels of a row.
struct UnitLayout {
    static constexpr std::int8_t kOpaque = -1;  ///< a byte that is 255 in all texels

    std::int8_t texels = 1;  ///< texels that follow from a unit: 1 or 2
    /// For each texel and each of its bytes, the index of the byte in the unit.
    std::array<std::array<std::int8_t, 4>, 2> bytes{};
};

/// Colors of indices of 8 bits, as texels of 4 bytes.
using Palette = std::array<std::array<std::byte, 4>, 256>;

/// Returns a source of the texels of `units`, whose format is rgba8_unorm. `levels` are the sizes of the levels in
/// texels: a row of `w` texels has (w + 1) / 2 units if a unit has two texels. Texels have one to four channels of 8
/// bits.
[[nodiscard]] ImageSourcePtr expanded_units(ImageSourcePtr units, const UnitLayout& layout, Format format, bool srgb,
                                            std::vector<Extent> levels);
/// Returns a source of the colors of `indices`, whose format is r8_unorm. `format` has four channels of 8 bits.
[[nodiscard]] ImageSourcePtr palette_colors(ImageSourcePtr indices, const Palette& palette, Format format, bool srgb);

}  // namespace texton::detail
