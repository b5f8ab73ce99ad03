#include "arrays/streaming/tile_slots.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace texton::detail {

TileSlotNumber TileBlocks::take() {
    constexpr std::uint32_t kFull = ~std::uint32_t{0};
    for (std::uint32_t i = first_free_; i < blocks_.size(); ++i) {
        Block& block = blocks_[i];
        if (block.tiles.size() == 0 || block.used == kFull) continue;
        first_free_ = i;
        const auto slot = static_cast<std::uint32_t>(std::countr_one(block.used));
        block.used |= std::uint32_t{1} << slot;
        return {i, slot};
    }
    auto unused = std::ranges::find_if(blocks_, [](const Block& block) { return block.tiles.size() == 0; });
    if (unused == blocks_.end()) {
        blocks_.emplace_back();
        unused = std::prev(blocks_.end());
    }
    unused->tiles = pool_.allocate(kSlots);
    unused->used = 1;
    ++allocated_;
    first_free_ = static_cast<std::uint32_t>(unused - blocks_.begin());
    return {static_cast<std::uint32_t>(unused - blocks_.begin()), 0};
}

std::optional<std::uint32_t> TileBlocks::emptiest() const noexcept {
    std::optional<std::uint32_t> found;
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
        if (blocks_[i].tiles.size() == 0) continue;
        if (!found || std::popcount(blocks_[i].used) < std::popcount(blocks_[*found].used)) found = i;
    }
    return found;
}

void TileBlocks::release_empty() noexcept {
    for (Block& block : blocks_) {
        if (block.tiles.size() == 0 || block.used != 0) continue;
        block.tiles = {};
        --allocated_;
    }
}

void ResidentTiles::add(TileNumber tile, const Tile& what) {
    const auto entry = order_.insert({what.need, tile}).first;
    try {
        tiles_.emplace(tile, what);
    } catch (...) {
        order_.erase(entry);
        throw;
    }
}

bool ResidentTiles::raise(TileNumber tile, const TileNeed& need) {
    const auto found = tiles_.find(tile);
    if (found == tiles_.end()) return false;
    if (!(found->second.need < need)) return true;
    auto entry = order_.extract({found->second.need, tile});
    found->second.need = need;
    entry.value().first = need;
    order_.insert(std::move(entry));
    return true;
}

std::vector<TileNumber> ResidentTiles::least(std::size_t count) const {
    std::vector<TileNumber> tiles;
    tiles.reserve(count);
    for (auto entry = order_.begin(); tiles.size() < count; ++entry) tiles.push_back(entry->second);
    return tiles;
}

}  // namespace texton::detail
