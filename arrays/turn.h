#pragma once

namespace texton::detail {

/// A rotation by a multiple of 90 degrees, optionally with mirroring. The transposition is applied first.
struct Turn {
    bool transposed = false;  ///< rows and columns are exchanged
    bool reversed_x = false;  ///< the order of the columns is reversed
    bool reversed_y = false;  ///< the order of the rows is reversed
    bool operator==(const Turn&) const = default;
};

}  // namespace texton::detail
