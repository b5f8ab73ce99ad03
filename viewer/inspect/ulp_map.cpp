#include "viewer/inspect/ulp_map.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include <texton/metrics.h>

namespace texton::viewer {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;  // maximum number of fetches per call of sample()

// Adds the fetches of a row, or the part of the row that is in one piece.
void add(UlpMap& map, std::size_t row, std::size_t first, std::span<const Texel> a, std::span<const Texel> b,
         std::span<const std::uint32_t> ulps) {
    for (std::size_t i = 0; i < ulps.size(); ++i) {
        const std::uint32_t distance = ulps[i];
        map.histogram[static_cast<std::size_t>(std::bit_width(distance))] += 1;
        map.differing += distance != 0;
        if (distance > map.largest) {
            map.largest = distance;
            map.worst = map.grid.at(first + i, row);
            map.worst_texels = {a[i], b[i]};
        }
        std::uint32_t& cell = map.cells[row / map.cell * map.columns + (first + i) / map.cell];
        cell = std::max(cell, distance);
    }
    map.fetches += ulps.size();
}

}  // namespace

UlpMap ulp_map_of(const Texture& a, const Texture& b, const SubresourceFetches& fetches, const FetchGrid& grid,
                  const CancellationToken& token, std::size_t max_cells) {
    UlpMap map;
    map.grid = grid;
    map.cell = std::max<std::size_t>(1, (std::max(grid.columns, grid.rows) + max_cells - 1) / max_cells);
    map.columns = (grid.columns + map.cell - 1) / map.cell;
    map.rows = (grid.rows + map.cell - 1) / map.cell;
    map.cells.resize(map.columns * map.rows);
    if (map.cells.empty()) return map;
    const std::size_t rows_of_piece = std::max<std::size_t>(1, kPiece / grid.columns);
    for (std::size_t begin = 0; begin < grid.rows; begin += rows_of_piece) {
        const std::size_t end = std::min(grid.rows, begin + rows_of_piece);
        for (std::size_t first = 0; first < grid.columns; first += kPiece) {
            if (token.canceled()) return map;
            const std::size_t count = std::min(kPiece, grid.columns - first);
            std::vector<Fetch> piece;
            piece.reserve(count * (end - begin));
            for (std::size_t row = begin; row < end; ++row) {
                for (std::size_t i = 0; i < count; ++i)
                    piece.push_back(fetches.as_seen(grid.at(first + i, row), grid.steps()));
            }
            const std::vector<Texel> of_a = fetched(a, piece);
            const std::vector<Texel> of_b = fetched(b, piece);
            const std::vector<std::uint32_t> ulps = ulps_between(of_a, of_b, a.format());
            for (std::size_t row = begin; row < end; ++row) {
                const std::size_t at = (row - begin) * count;
                add(map, row, first, std::span(of_a).subspan(at, count), std::span(of_b).subspan(at, count),
                    std::span(ulps).subspan(at, count));
            }
        }
    }
    return map;
}

std::string ulp_range_text(std::size_t bar) {
    if (bar < 2) return fmt::format("{}", bar);
    const std::uint64_t low = std::uint64_t{1} << (bar - 1);
    return fmt::format("{} to {}", low, 2 * low - 1);
}

std::string ulp_text(std::uint32_t ulps) {
    if (ulps == 0) return "0 ulps";
    if (ulps == kFarthest) return "one value is NaN";
    return fmt::format("{} {}", ulps, ulps == 1 ? "ulp" : "ulps");
}

}  // namespace texton::viewer
