#pragma once
// The tiles of a streamed texture, numbered through all levels that have tiles of their own.
#include <cstdint>
#include <vector>

#include <texton/array_info.h>
#include <texton/sparse_array.h>

namespace texton::detail {

/// Number of a tile: by level, then by layer, then z, y, x.
using TileNumber = std::uint32_t;

/// One tile. `position` is counted in tiles.
struct TilePosition3 {
    int level = 0;
    std::size_t layer = 0;
    Offset position{};
};

/// Converts between numbers, positions and texels of tiles. A plain value; it does not change after construction.
class TileGrid {
public:
    TileGrid() = default;
    TileGrid(const ArrayInfo& info, const SparseProperties& properties);

    /// Returns the first level that is always resident: that of the mip tail, or the last level if there is no tail.
    int resident_level() const noexcept { return static_cast<int>(levels_.size()); }
    /// Returns the number of tiles below the resident level.
    std::size_t count() const noexcept { return count_; }
    std::size_t layers() const noexcept { return layers_; }
    const Extent& tile() const noexcept { return tile_; }
    const Extent& tiles(int level) const noexcept { return levels_[static_cast<std::size_t>(level)].tiles; }
    TileNumber first_tile(int level) const noexcept { return levels_[static_cast<std::size_t>(level)].first; }

    TileNumber number(const TilePosition3& tile) const noexcept {
        const Level& level = levels_[static_cast<std::size_t>(tile.level)];
        const std::size_t index =
            ((tile.layer * level.tiles.depth + tile.position.z) * level.tiles.height + tile.position.y) *
                level.tiles.width +
            tile.position.x;
        return level.first + static_cast<TileNumber>(index);
    }
    TilePosition3 position(TileNumber number) const noexcept;
    int level(TileNumber number) const noexcept {
        std::size_t level = levels_.size() - 1;
        while (levels_[level].first > number) --level;
        return static_cast<int>(level);
    }
    /// Returns position(number).position.x.
    std::size_t column(TileNumber number) const noexcept {
        const Level& level = levels_[static_cast<std::size_t>(this->level(number))];
        return (number - level.first) % static_cast<TileNumber>(level.tiles.width);
    }
    /// Returns true if the tiles are neighbors in a row.
    bool follows(TileNumber tile, TileNumber before) const noexcept { return tile == before + 1 && column(tile) > 0; }
    /// Returns the texels of a tile in its level.
    Region texels(const TilePosition3& tile) const noexcept;
    /// Returns the tile as a box for SparseArray.
    static TileBox box(const TilePosition3& tile) noexcept;
    /// Returns the center of a tile relative to its level: 0 to 1 along each axis.
    void center(const TilePosition3& tile, float (&at)[3]) const noexcept;
    /// Returns the tile of the next coarser level that contains the center. The next level must have tiles.
    TilePosition3 parent(const TilePosition3& tile) const noexcept;
    /// Calls visit(TilePosition3) for the tiles that contain a region of a level and layer.
    template <class Visit>
    void each_tile(int level, std::size_t layer, const Region& region, const Visit& visit) const {
        const Offset first{region.offset.x / tile_.width, region.offset.y / tile_.height,
                           region.offset.z / tile_.depth};
        const Offset last{(region.offset.x + region.extent.width - 1) / tile_.width,
                          (region.offset.y + region.extent.height - 1) / tile_.height,
                          (region.offset.z + region.extent.depth - 1) / tile_.depth};
        for (std::size_t z = first.z; z <= last.z; ++z)
            for (std::size_t y = first.y; y <= last.y; ++y)
                for (std::size_t x = first.x; x <= last.x; ++x) visit(TilePosition3{level, layer, {x, y, z}});
    }

private:
    struct Level {
        Extent extent;  // texels
        Extent tiles;
        TileNumber first;
    };
    std::vector<Level> levels_;  // below the resident level
    Extent tile_;
    std::size_t layers_ = 1;
    std::size_t count_ = 0;
};

}  // namespace texton::detail
