#pragma once
// Map of the levels of detail of a displayed image, which is flat or on a tilted plane.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/inspect/model.h"
#include "viewer/model/jobs.h"
#include "viewer/render/lod_plane.h"

namespace texton::viewer {

/// A canvas that shows the image, flat or on a tilted plane, and the resolution of its map.
struct LodView {
    LodPlane plane{};
    ViewState view{};
    int width = 0;    ///< of the canvas, in pixels
    int height = 0;   ///< of the canvas, in pixels
    int columns = 0;  ///< width of the map; a pixel of the map can represent several pixels of the canvas
    int rows = 0;     ///< height of the map
};

/// Position in texels at the center of a map pixel, and the steps to the neighboring canvas pixels.
struct LodPixel {
    Position texel;
    PixelSteps steps;
};
/// Returns the position of a map pixel. `image` is the size of the displayed level. Returns nullopt if the pixel, or
/// a neighbor, is above the horizon of the plane.
[[nodiscard]] std::optional<LodPixel> pixel_of(const LodView& view, int column, int row, Extent image);

/// The level choice for each pixel of a map.
struct LodMap {
    int width = 0;
    int height = 0;
    int levels = 1;
    int max_anisotropy = 1;
    std::vector<std::optional<LevelChoice>> pixels{};  ///< row by row; nullopt above the horizon of the plane

    const std::optional<LevelChoice>& at(int x, int y) const {
        return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    }
};

/// Computes the map. The gradients of a pixel are the differences to its neighbors on the canvas. If the work is
/// canceled, the remaining pixels are nullopt.
[[nodiscard]] LodMap lod_map(const Model& model, const ArrayInfo& info, const SubresourceIndex& subresource,
                             const LodView& view, const CancellationToken& token = {});
/// Returns the fetch of a map pixel, or nullopt above the horizon of the plane.
[[nodiscard]] std::optional<Fetch> lod_fetch(const ArrayInfo& info, const SubresourceIndex& subresource,
                                             const Sampler& sampler, const LodView& view, int column, int row);

/// Returns one quantity of a level choice. Levels of detail are in levels, not in 1/256.
[[nodiscard]] double value_of(const LevelChoice& choice, LodQuantity quantity);
/// Returns the values of the first and the last color of the legend.
[[nodiscard]] std::pair<double, double> range_of(const LodMap& map, LodQuantity quantity);
/// Returns the legend color 0xffRRGGBB for a fraction of the range, from dark violet (0) to yellow (1). The fraction is
/// clamped; NaN is treated as 0.
[[nodiscard]] std::uint32_t legend_color(double share);
/// Returns the map as colors 0xffRRGGBB, row by row. Pixels above the horizon get the background color.
[[nodiscard]] std::vector<std::uint32_t> colors_of(const LodMap& map, LodQuantity quantity, std::uint32_t background);
/// Returns a description of a level choice in one line, for example "lod 2.500, biased 2.500, clamped 2.500: level 2
/// and 128/256 of level 3, 2 samples".
[[nodiscard]] std::string words_of(const LevelChoice& choice);

}  // namespace texton::viewer
