#include "viewer/tiles/row_set.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace texton::tiles {

void RowSet::add(Rows rows) {
    if (rows.count() == 0) return;
    auto range = ends_.upper_bound(rows.first);
    if (range != ends_.begin() && std::prev(range)->second >= rows.first) --range;
    while (range != ends_.end() && range->first <= rows.end) {
        rows.first = std::min(rows.first, range->first);
        rows.end = std::max(rows.end, range->second);
        count_ -= range->second - range->first;
        range = ends_.erase(range);
    }
    ends_.emplace(rows.first, rows.end);
    count_ += rows.count();
}

void RowSet::remove(Rows rows) {
    if (rows.count() == 0) return;
    auto range = ends_.upper_bound(rows.first);
    if (range != ends_.begin() && std::prev(range)->second > rows.first) --range;
    while (range != ends_.end() && range->first < rows.end) {
        const Rows old{range->first, range->second};
        range = ends_.erase(range);
        count_ -= old.count();
        add({old.first, std::max(old.first, rows.first)});
        add({std::min(old.end, rows.end), old.end});
    }
}

std::size_t RowSet::end_of(std::size_t row) const {
    const auto range = ends_.upper_bound(row);
    return range == ends_.begin() ? row : std::max(row, std::prev(range)->second);
}

std::size_t RowSet::next(std::size_t row, std::size_t none) const {
    if (end_of(row) > row) return row;
    const auto range = ends_.upper_bound(row);
    return range == ends_.end() ? none : std::min(range->first, none);
}

std::vector<Rows> RowSet::ranges() const {
    std::vector<Rows> ranges;
    for (const auto& [first, end] : ends_) ranges.push_back({first, end});
    return ranges;
}

std::string RowSet::text() const {
    constexpr std::size_t kMaxRanges = 8;
    std::string text;
    std::size_t listed = 0;
    for (const auto& [first, end] : ends_) {
        if (listed++ == kMaxRanges) return text + ", ...";
        text += fmt::format("{}{} to {}", text.empty() ? "" : ", ", first, end - 1);
    }
    return text;
}

Rows first_strip(Rows rows, std::size_t strip_rows, std::size_t unit) noexcept {
    const std::size_t first = rows.first - rows.first % unit;
    return {first, std::min(rows.end, first + strip_rows)};
}

}  // namespace texton::tiles
