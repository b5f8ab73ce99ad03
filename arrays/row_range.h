#pragma once
#include <cstddef>

namespace texton::detail {

/// Consecutive rows of an image.
struct RowRange {
    std::size_t first = 0;
    std::size_t end = 0;  ///< the row after the last one

    std::size_t count() const noexcept { return end - first; }
    bool operator==(const RowRange&) const = default;
};

}  // namespace texton::detail
