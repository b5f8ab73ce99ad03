#pragma once
// Texels as other libraries describe them: elements along axes, slowest axis first. Used by dlpack.cpp and
// array_interface.cpp.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <texton/view.h>

namespace texton::detail {

/// The type of an element: uint, sint or floating.
struct Element {
    FormatKind kind = FormatKind::uint;
    std::size_t bytes = 1;
    bool operator==(const Element&) const = default;
};

/// A strided array. Non-owning.
struct Strided {
    std::byte* data = nullptr;
    Element element;
    std::vector<std::int64_t> shape{};
    std::vector<std::int64_t> strides{};  ///< one per axis; empty: packed
    std::size_t unit = 1;                 ///< unit of the strides, in bytes
};

/// Throws Error{unsupported} if an array has another number of axes than 1 to 4.
void check_axes(std::size_t axes, const char* object);

/// Returns the texels of a view, with strides in bytes. `dimensions` is the number of axes for slices, rows and
/// columns; 0 means as many as the extent needs. Formats with several channels have an additional axis. An axis of
/// length 1 has the stride of packed texels.
///
/// Throws Error{unsupported} for arrays and for formats that are not plain, and Error{bad_argument} if `dimensions`,
/// the address or a pitch does not fit.
Strided strided(const ConstView& view, int dimensions, const char* object);

/// Returns the texels of a strided array as host memory without an owner.
///
/// Without a format, the axes are [width], [height][width], [height][width][channels] or
/// [depth][height][width][channels], and the format has the integers or floats of the elements. With a format, the last
/// axis is the channels if the format has more than one channel, if there are four axes, or if the last of three axes
/// has the length 1.
///
/// Throws an Error if rows overlap, or if the texels of a row or the channels of a texel have gaps between them.
MemoryLocation location_of(const Strided& array, std::optional<Format> format, const char* object);

/// Marks the location as memory of the device. If the device does not know the memory, throws Error{not_registered} for a
/// CUDA device, and leaves it as host memory for the CPU device.
void settle(MemoryLocation& location, const Device& device, const char* object);

/// Returns the bytes from the start of the first texel to the end of the last.
std::size_t span_bytes(const MemoryLocation& location);

}  // namespace texton::detail
