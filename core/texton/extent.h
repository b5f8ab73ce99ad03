#pragma once
#include <cstddef>
#include <string>

namespace texton {

/// Sides of a block of texels. A 1D extent has height and depth 1; a 2D one depth 1. A side of 0 is never valid where
/// memory is asked for.
struct Extent {
    std::size_t width = 0;
    std::size_t height = 1;
    std::size_t depth = 1;
    bool operator==(const Extent&) const = default;
};

/// A position in texels.
struct Offset {
    std::size_t x = 0;
    std::size_t y = 0;
    std::size_t z = 0;
    bool operator==(const Offset&) const = default;
};

/// A box of texels.
struct Region {
    Offset offset;
    Extent extent;
    bool operator==(const Region&) const = default;
};

/// "640 x 480", or "64 x 64 x 8" where the depth is not 1.
[[nodiscard]] std::string to_string(Extent extent);
/// "640 x 480 at (16, 0)".
[[nodiscard]] std::string to_string(Region region);

/// True if `inner` lies in a block of size `outer`. Safe against wrap-around; an empty region lies nowhere.
[[nodiscard]] bool contains(Extent outer, Region inner) noexcept;

/// a * b, or Error{overflow} naming `object` and `what` ("width * height").
[[nodiscard]] std::size_t checked_product(std::size_t a, std::size_t b, const char* object, const char* what);

}  // namespace texton
