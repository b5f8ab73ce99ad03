#pragma once
// Map of the positions where two textures return different bits: the same array on two devices, or with two samplers.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <texton/texture.h>

#include "viewer/inspect/fetches.h"
#include "viewer/model/jobs.h"

namespace texton::viewer {

/// Ulp distances between the results of fetches. The distance of a fetch is the largest distance of its channels.
struct UlpMap {
    std::size_t fetches = 0;                  ///< number of fetches that were compared
    std::size_t differing = 0;                ///< number of fetches with a distance above 0
    std::uint32_t largest = 0;                ///< largest distance
    Position worst;                           ///< first position with the largest distance
    std::array<Texel, 2> worst_texels{};      ///< results of both textures at that position
    std::array<std::size_t, 33> histogram{};  ///< fetches by distance: [0] is 0, [n] is 2^(n-1) to 2^n - 1
    FetchGrid grid;
    std::size_t cell = 1;              ///< fetches along each side of a cell
    std::size_t columns = 0;           ///< number of cells in a row
    std::size_t rows = 0;              ///< number of rows of cells
    std::vector<std::uint32_t> cells;  ///< largest distance in each cell, row by row

    /// Returns the position of a cell's first fetch, in texels.
    Position subresource_of(std::size_t column, std::size_t row) const { return grid.at(column * cell, row * cell); }
};

/// Compares the fetches of two textures at the positions of a grid. `fetches` creates the fetches for both, so the
/// samplers must use the same coordinates. The map has at most `max_cells` cells in each dimension. Blocks; if the
/// work is canceled, the map is incomplete. Throws the errors of texton::sample().
[[nodiscard]] UlpMap ulp_map_of(const Texture& a, const Texture& b, const SubresourceFetches& fetches,
                                const FetchGrid& grid, const CancellationToken& token = {},
                                std::size_t max_cells = 1024);

/// Returns the distances that a bar of the histogram counts: "0", "1", "2 to 3", "4 to 7", ...
[[nodiscard]] std::string ulp_range_text(std::size_t bar);
/// Returns a distance as text, for example "12 ulps". kFarthest is described as NaN.
[[nodiscard]] std::string ulp_text(std::uint32_t ulps);

}  // namespace texton::viewer
