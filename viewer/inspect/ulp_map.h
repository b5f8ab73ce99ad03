#pragma once
// Where two textures return different bits: the same array on two devices, or read with two samplers.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <texton/texture.h>

#include "viewer/inspect/fetches.h"
#include "viewer/model/jobs.h"

namespace texton::viewer {

/// Ulp distances between what fetches return, of which each counts by its largest channel.
struct UlpMap {
    std::size_t fetches = 0;
    std::size_t differing = 0;
    std::uint32_t largest = 0;
    Position worst;                           ///< the first place with the largest distance
    std::array<Texel, 2> worst_texels{};      ///< what the textures return there
    std::array<std::size_t, 33> histogram{};  ///< [0] is 0, [n] is 2^(n-1) to 2^n - 1
    FetchGrid grid;
    std::size_t cell = 1;  ///< fetches along the sides of a cell
    std::size_t columns = 0;
    std::size_t rows = 0;
    std::vector<std::uint32_t> cells;  ///< the largest distance of the fetches in it

    /// Where in the place a cell's first fetch is.
    Position place_of(std::size_t column, std::size_t row) const { return grid.at(column * cell, row * cell); }
};

/// `fetches` are for textures with the samplers' common coordinates. Stops early where nobody wants it: then it is not
/// complete. Throws what texton::sample() throws.
[[nodiscard]] UlpMap ulp_map_of(const Texture& a, const Texture& b, const PlaceFetches& fetches, const FetchGrid& grid,
                                const Wanted& wanted = {}, std::size_t most_cells = 1024);

/// "0", "1", "2 to 3", "4 to 7", ...: the distances of a bar of the histogram.
[[nodiscard]] std::string ulp_range_words(std::size_t bar);
/// "none", "12 ulps", or that one is no number.
[[nodiscard]] std::string ulp_words(std::uint32_t ulps);

}  // namespace texton::viewer
