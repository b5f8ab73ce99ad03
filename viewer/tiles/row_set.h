#pragma once
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "viewer/tiles/rows.h"

namespace texton::tiles {

/// A set of rows of an image, as ranges.
class RowSet {
public:
    RowSet() = default;
    explicit RowSet(Rows rows) { add(rows); }

    void add(Rows rows);
    void remove(Rows rows);
    /// Returns true if the set contains all of the rows.
    [[nodiscard]] bool contains(Rows rows) const { return rows.count() == 0 || end_of(rows.first) >= rows.end; }
    /// Returns the end of the range that contains a row, or the row itself if the set does not contain it.
    [[nodiscard]] std::size_t end_of(std::size_t row) const;
    /// Returns the first row in the set from `row` on, or `none`, which must not be smaller, if there is none before
    /// it.
    [[nodiscard]] std::size_t next(std::size_t row, std::size_t none) const;
    /// Returns the number of rows.
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Returns the ranges in ascending order. They neither overlap nor touch.
    [[nodiscard]] std::vector<Rows> ranges() const;
    /// Returns the ranges as text, with the last row of each: "0 to 511, 700 to 899". Of many, returns the first ones.
    [[nodiscard]] std::string text() const;

private:
    std::map<std::size_t, std::size_t> ends_;  // the end of each range, by its first row
    std::size_t count_ = 0;
};

/// Returns the rows of a strip that computes the first of some rows: at most `strip_rows`, from a multiple of `unit`
/// on, which may be before these rows. `strip_rows` must be a multiple of `unit`, or the height of the image.
[[nodiscard]] Rows first_strip(Rows rows, std::size_t strip_rows, std::size_t unit) noexcept;

}  // namespace texton::tiles
