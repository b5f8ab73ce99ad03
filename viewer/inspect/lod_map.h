#pragma once
// Levels of detail across a plane that carries the picture, or across the flat picture.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "viewer/inspect/model.h"
#include "viewer/jobs.h"

namespace texton::viewer {

/// Where a pixel of a picture of the plane lies on it, in shares of the carried picture; none above the horizon. The plane is as high
/// as the picture of it where it is not tilted.
[[nodiscard]] std::optional<Position> place_on_plane(const LodPlane& plane, Position pixel, int width, int height);

/// What a pixel reads: a place, and how far it is from there to its neighbours.
struct PlanePixel {
    Position texel;
    PixelSteps steps;
};
[[nodiscard]] std::optional<PlanePixel> pixel_on_plane(const LodPlane& plane, int x, int y, int width, int height,
                                                       Extent picture);
/// The same of a canvas that shows the picture flat.
[[nodiscard]] PlanePixel pixel_of_view(const ViewState& view, int x, int y, int width, int height);

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

/// Of level 0 of the place; the steps between pixels are the gradients. With `plane.shown` the plane, else the view.
[[nodiscard]] LodMap lod_map(const Model& model, const ArrayInfo& info, const Place& place, const LodPlane& plane,
                             const ViewState& view, int width, int height, const Wanted& wanted = {});
/// The fetch of a pixel of such a map.
[[nodiscard]] std::optional<Fetch> lod_fetch(const ArrayInfo& info, const Place& place, const Sampler& sampler,
                                             const LodPlane& plane, const ViewState& view, int x, int y, int width,
                                             int height);

enum class LodQuantity : std::uint8_t {
    lod,      ///< before bias and limits
    clamped,  ///< after them
    level,    ///< the finer of the levels that are read
    blend,    ///< the share of the coarser one
    ratio,    ///< of the footprint's axes
    samples   ///< places that are sampled, in both levels
};

[[nodiscard]] double value_of(const LevelChoice& choice, LodQuantity quantity);
/// What the first and the last colour of the legend stand for.
[[nodiscard]] std::pair<double, double> range_of(const LodMap& map, LodQuantity quantity);
/// 0xffRRGGBB for a share of the range, clamped: from dark violet to yellow.
[[nodiscard]] std::uint32_t legend_colour(double share);
/// The map in colours, rows packed; `background` where there is no plane.
[[nodiscard]] std::vector<std::uint32_t> colours_of(const LodMap& map, LodQuantity quantity, std::uint32_t background);
/// All that was decided for a pixel, in one line: "lod 2.50, biased 2.50, clamped 2.50: level 2 and 128/256 of level 3, ...".
[[nodiscard]] std::string words_of(const LevelChoice& choice);

}  // namespace texton::viewer
