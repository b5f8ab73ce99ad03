#pragma once
// Sizes, positions and regions in texels.
#include <cstddef>
#include <string>

namespace texton {

/// The size of a block of texels. 1D extents have height and depth 1, and 2D extents have depth 1. A dimension of 0 is
/// not valid for memory.
struct Extent {
    std::size_t width = 0;                           ///< texels per row
    std::size_t height = 1;                          ///< rows per slice
    std::size_t depth = 1;                           ///< number of slices, layers or faces
    bool operator==(const Extent&) const = default;  ///< Returns true if all dimensions are equal.
};

/// A position in texels.
struct Offset {
    std::size_t x = 0;                               ///< position in the row
    std::size_t y = 0;                               ///< row
    std::size_t z = 0;                               ///< slice, layer or face
    bool operator==(const Offset&) const = default;  ///< Returns true if all coordinates are equal.
};

/// A box of texels.
struct Region {
    Offset offset;                                   ///< the texel with the lowest coordinates
    Extent extent;                                   ///< size of the box
    bool operator==(const Region&) const = default;  ///< Returns true if offset and extent are equal.
};

/// Returns the extent as text: "640 x 480", or "64 x 64 x 8" if the depth is not 1.
[[nodiscard]] std::string to_string(Extent extent);
/// Returns the region as text: "640 x 480 at (16, 0)".
[[nodiscard]] std::string to_string(Region region);

/// Returns true if `inner` lies inside a block of size `outer`. Correct for all values, without overflow. False if
/// `inner` is empty.
[[nodiscard]] bool contains(Extent outer, Region inner) noexcept;

/// Returns a * b. Throws Error{overflow} if the product does not fit in 64 bits. The message contains `object` and
/// `what`, for example "width * height".
[[nodiscard]] std::size_t checked_product(std::size_t a, std::size_t b, const char* object, const char* what);

}  // namespace texton
