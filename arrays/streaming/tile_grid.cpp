#include "arrays/streaming/tile_grid.h"

#include <algorithm>

namespace texton::detail {
namespace {

std::size_t pieces(std::size_t texels, std::size_t tile) noexcept { return (texels + tile - 1) / tile; }

// Returns the tile at the same relative position in a level with another number of tiles.
std::size_t scaled(std::size_t tile, std::size_t size, std::size_t texels, std::size_t next_texels,
                   std::size_t next_tiles) noexcept {
    const std::size_t center = std::min(tile * size + size / 2, texels - 1);
    return std::min(center * next_texels / texels / size, next_tiles - 1);
}

}  // namespace

TileGrid::TileGrid(const ArrayInfo& info, const SparseProperties& properties)
    : tile_(properties.tile), layers_(is_layered(info.kind) ? info.layers : 1) {
    const int resident = std::min(properties.first_tail_level, info.levels - 1);
    for (int i = 0; i < resident; ++i) {
        const Extent extent = level_extent(info, i);
        const Extent tiles{pieces(extent.width, tile_.width), pieces(extent.height, tile_.height),
                           pieces(extent.depth, tile_.depth)};
        levels_.push_back({extent, tiles, static_cast<TileNumber>(count_)});
        count_ += tiles.width * tiles.height * tiles.depth * layers_;
    }
}

TilePosition3 TileGrid::position(TileNumber number) const noexcept {
    TilePosition3 tile{level(number), 0, {}};
    const Level& level = levels_[static_cast<std::size_t>(tile.level)];
    const Extent& tiles = level.tiles;
    std::size_t rest = number - level.first;
    tile.position.x = rest % tiles.width;
    rest /= tiles.width;
    tile.position.y = rest % tiles.height;
    rest /= tiles.height;
    tile.position.z = rest % tiles.depth;
    tile.layer = rest / tiles.depth;
    return tile;
}

Region TileGrid::texels(const TilePosition3& tile) const noexcept {
    const Extent& whole = levels_[static_cast<std::size_t>(tile.level)].extent;
    const Offset first{tile.position.x * tile_.width, tile.position.y * tile_.height, tile.position.z * tile_.depth};
    return {first,
            {std::min(tile_.width, whole.width - first.x), std::min(tile_.height, whole.height - first.y),
             std::min(tile_.depth, whole.depth - first.z)}};
}

TileBox TileGrid::box(const TilePosition3& tile) noexcept {
    return {.level = tile.level, .layer = tile.layer, .offset = tile.position};
}

void TileGrid::center(const TilePosition3& tile, float (&at)[3]) const noexcept {
    const Extent& whole = levels_[static_cast<std::size_t>(tile.level)].extent;
    const Region texels = this->texels(tile);
    const auto middle = [](std::size_t offset, std::size_t size, std::size_t all) {
        return (static_cast<float>(offset) + 0.5f * static_cast<float>(size)) / static_cast<float>(all);
    };
    at[0] = middle(texels.offset.x, texels.extent.width, whole.width);
    at[1] = middle(texels.offset.y, texels.extent.height, whole.height);
    at[2] = middle(texels.offset.z, texels.extent.depth, whole.depth);
}

TilePosition3 TileGrid::parent(const TilePosition3& tile) const noexcept {
    const Level& level = levels_[static_cast<std::size_t>(tile.level)];
    const Level& next = levels_[static_cast<std::size_t>(tile.level) + 1];
    return {tile.level + 1,
            tile.layer,
            {scaled(tile.position.x, tile_.width, level.extent.width, next.extent.width, next.tiles.width),
             scaled(tile.position.y, tile_.height, level.extent.height, next.extent.height, next.tiles.height),
             scaled(tile.position.z, tile_.depth, level.extent.depth, next.extent.depth, next.tiles.depth)}};
}

}  // namespace texton::detail
