#pragma once
// Finds the tiles that a fetch reads. It runs the model of the texture unit, but collects tiles instead of texels.
#include <vector>

#include "arrays/streaming/tile_grid.h"
#include "arrays/unit/footprint.h"
#include "arrays/unit/texture_unit.h"

namespace texton::detail {

/// Takes the place of TexelSum in the functions of texture_unit.h: see add_footprint().
class FootprintTiles {
public:
    /// Tiles are added to `found`, which must outlive the object.
    FootprintTiles(const TileGrid& grid, std::vector<TileNumber>& found) : grid_(&grid), found_(&found) {}

    void start_level(int level) { level_ = level; }
    void add(std::int32_t x, std::int32_t y, std::int32_t z, bool volume) {
        if (x == kBorderTexel || y == kBorderTexel || z == kBorderTexel || level_ >= grid_->resident_level()) return;
        const Extent& tile = grid_->tile();
        const auto slice = static_cast<std::size_t>(z);
        const Offset position{static_cast<std::size_t>(x) / tile.width, static_cast<std::size_t>(y) / tile.height,
                              volume ? slice / tile.depth : 0};
        const TileNumber number = grid_->number({level_, volume ? 0 : slice, position});
        if (found_->empty() || found_->back() != number) found_->push_back(number);
    }
    void end_position() {}
    Texel result() const { return {}; }

    bool volume = false;

private:
    const TileGrid* grid_;
    std::vector<TileNumber>* found_;
    int level_ = 0;
};

inline LevelTaps find_taps_for(FootprintTiles& tiles, const TextureView& view, const Sampler& sampler, int level,
                               const Coordinates& at, const Placement& placement) {
    tiles.start_level(level);
    tiles.volume = view.kind == ArrayKind::array_3d;
    return find_taps(view, sampler, view.levels[level], at, placement);
}

inline void add_quad(FootprintTiles& tiles, const LevelView&, const TexelFormat&, const Sampler&, const LevelTaps& taps,
                     int slice, const FootprintWeights& weights, int) {
    for (int i = 0; i < 4; ++i) {
        if (weights.of[i] != 0) tiles.add(taps.x.texel[i & 1], taps.y.texel[i >> 1], taps.z.texel[slice], tiles.volume);
    }
}

inline Texel read_point(FootprintTiles& tiles, const TextureView& view, const Sampler& sampler, int level,
                        const Coordinates& at) {
    const LevelTaps taps = find_taps_for(tiles, view, sampler, level, at, {});
    tiles.add(taps.x.texel[0], taps.y.texel[0], taps.z.texel[0], tiles.volume);
    return {};
}

}  // namespace texton::detail
