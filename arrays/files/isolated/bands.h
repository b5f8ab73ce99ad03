#pragma once
// The parts of an image that a reader decodes into the shared memory, one after the other.
#include <cstdint>
#include <vector>

#include "arrays/files/source.h"

namespace texton::detail {

/// Returns bands that cover a box. The packed texels of the box are those of the bands, in their order. A band consists
/// of whole granules, but for the first and last rows or slices of the box, and is not much larger than kBandBytes
/// unless its granules are.
[[nodiscard]] std::vector<Region> bands_of(Format format, const Region& box, const Extent& granule);

/// Number of bands that are in the memory at the same time.
inline constexpr std::size_t kBandsInMemory = 2;
/// Returns the offset of a band in the memory. `largest` is the size of the largest band in bytes.
[[nodiscard]] std::uint64_t band_offset(std::size_t index, std::uint64_t largest) noexcept;

}  // namespace texton::detail
