#pragma once
// Levels of detail across a plane that carries the picture, or across the flat picture.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/inspect/model.h"
#include "viewer/model/jobs.h"
#include "viewer/render/lod_plane.h"

namespace texton::viewer {

/// A canvas that shows the picture flat, or the plane that carries it; and how many of its pixels are asked for.
struct LodView {
    LodPlane plane{};
    ViewState view{};
    int width = 0;  ///< of the canvas
    int height = 0;
    int columns = 0;  ///< of the map, whose pixels stand for some of the canvas'
    int rows = 0;
};

/// What a pixel reads: a place in texels, and how far it is from there to its neighbours on the canvas.
struct LodPixel {
    Position texel;
    PixelSteps steps;
};
[[nodiscard]] std::optional<LodPixel> pixel_of(const LodView& view, int column, int row, Extent picture);

struct LodMap {
    int width = 0;
    int height = 0;
    int levels = 1;
    int max_anisotropy = 1;
    std::vector<std::optional<LevelChoice>> pixels{};  ///< by rows; none where there is no plane

    const std::optional<LevelChoice>& at(int x, int y) const {
        return pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    }
};

/// The gradients are what lies between neighbouring pixels of the canvas.
[[nodiscard]] LodMap lod_map(const Model& model, const ArrayInfo& info, const Place& place, const LodView& view,
                             const Wanted& wanted = {});
/// The fetch of a pixel of such a map.
[[nodiscard]] std::optional<Fetch> lod_fetch(const ArrayInfo& info, const Place& place, const Sampler& sampler,
                                             const LodView& view, int column, int row);

[[nodiscard]] double value_of(const LevelChoice& choice, LodQuantity quantity);
/// What the first and the last colour of the legend stand for.
[[nodiscard]] std::pair<double, double> range_of(const LodMap& map, LodQuantity quantity);
/// 0xffRRGGBB for a share of the range, clamped: from dark violet to yellow.
[[nodiscard]] std::uint32_t legend_colour(double share);
/// The map in colours, rows packed; `background` where there is no plane.
[[nodiscard]] std::vector<std::uint32_t> colours_of(const LodMap& map, LodQuantity quantity, std::uint32_t background);
/// All that was decided for a pixel, in one line: "lod 2.50, biased 2.50, clamped 2.50: level 2 and 128/256 of level 3,
/// ...".
[[nodiscard]] std::string words_of(const LevelChoice& choice);

}  // namespace texton::viewer
