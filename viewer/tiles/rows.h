#pragma once
#include <cstddef>

namespace texton::tiles {

/// Consecutive rows of an image.
struct Rows {
    std::size_t first = 0;
    std::size_t end = 0;  ///< the row after the last one

    std::size_t count() const noexcept { return end - first; }
    bool operator==(const Rows&) const = default;
};

}  // namespace texton::tiles
