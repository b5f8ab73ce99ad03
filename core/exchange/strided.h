#pragma once
// Texels as other libraries describe them: numbers along axes, from the slowest to the fastest. What dlpack.cpp and
// array_interface.cpp share.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <texton/view.h>

namespace texton::detail {

/// The type of one number: uint, sint or floating.
struct Element {
    FormatKind kind = FormatKind::uint;
    std::size_t bytes = 1;
    bool operator==(const Element&) const = default;
};

struct Strided {
    std::byte* data = nullptr;
    Element element;
    std::vector<std::int64_t> shape{};
    std::vector<std::int64_t> strides{};  ///< as many as the shape has, or none: packed
    std::size_t unit = 1;                 ///< bytes that a stride counts in
};

/// The texels of a view, with strides in bytes: slices, rows and columns as `dimensions` says (0: as many as the extent
/// needs), and channels where there are more than one. An axis of length 1 has the stride that it would have if packed.
/// Error{unsupported} for arrays and for formats of no plain numbers.
Strided strided(const ConstView& view, int dimensions, const char* object);

/// The texels that somebody else describes, as host memory without an owner. Without a format: [width], [height][width],
/// [height][width][channels] and [depth][height][width][channels], with the integer or float format of the numbers. With
/// one: the last axis is the channels where the format has more than one, or where it has one and the axis is of length 1
/// and the third or fourth. Throws unless rows lie one after another, and texels in a row side by side.
Place place_of(const Strided& array, std::optional<Format> format, const char* object);

/// Makes the place memory of the device. Where a CUDA device does not know it, Error{not_registered}; where the CPU device
/// does not, it stays host memory.
void settle(Place& place, const Device& device, const char* object);

/// Bytes from the first to the last texel.
std::size_t span_bytes(const Place& place);

}  // namespace texton::detail
