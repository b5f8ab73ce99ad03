#include "arrays/streaming/tile_slots.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace texton::detail {

namespace {

struct Run {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

// Returns the shortest run of free slots that has at least `most` of them, or the longest run.
Run best_run(std::uint32_t used, std::uint32_t most) noexcept {
    Run best;
    for (std::uint32_t i = 0; i < TileBlocks::kSlots;) {
        const auto count =
            static_cast<std::uint32_t>(std::countr_zero((std::uint64_t{1} << TileBlocks::kSlots | used) >> i));
        const bool better = best.count < most ? count > best.count : count >= most && count < best.count;
        if (better) best = {i, count};
        i += count + 1;
    }
    return best;
}

}  // namespace

std::pair<TileSlotNumber, std::uint32_t> TileBlocks::take(std::uint32_t most, std::size_t blocks) {
    const auto fitting = free_.lower_bound({most, 0});
    std::uint32_t block = 0;
    if (fitting != free_.end()) {
        block = fitting->second;
    } else {
        const bool full = free_.empty() || free_.rbegin()->first == 0;
        block = full || allocated_ < blocks ? allocate() : free_.rbegin()->second;
    }
    const std::uint32_t used = blocks_[block].used;
    const Run run = best_run(used, most);
    const std::uint32_t count = std::min(run.count, most);
    const auto slots = static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1) << run.first;
    set_used(block, used | slots);
    return {{block, run.first}, count};
}

std::uint32_t TileBlocks::allocate() {
    auto unused = std::ranges::find_if(blocks_, [](const Block& block) { return block.tiles.size() == 0; });
    if (unused == blocks_.end()) {
        blocks_.emplace_back();
        unused = std::prev(blocks_.end());
    }
    const auto block = static_cast<std::uint32_t>(unused - blocks_.begin());
    Tiles tiles = pool_.allocate(kSlots);
    free_.emplace(kSlots, block);
    unused->tiles = std::move(tiles);
    unused->used = 0;
    ++allocated_;
    return block;
}

void TileBlocks::set_used(std::uint32_t block, std::uint32_t used) noexcept {
    const std::uint32_t before = best_run(blocks_[block].used, kSlots).count;
    const std::uint32_t after = best_run(used, kSlots).count;
    if (before != after) {
        auto entry = free_.extract({before, block});
        entry.value().first = after;
        free_.insert(std::move(entry));
    }
    blocks_[block].used = used;
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
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
        Block& block = blocks_[i];
        if (block.tiles.size() == 0 || block.used != 0) continue;
        free_.erase({kSlots, i});
        block.tiles = {};
        --allocated_;
    }
}

std::pair<std::uint32_t, std::uint32_t> FreeBuffers::find(std::size_t most) const noexcept {
    std::pair<std::size_t, std::size_t> best;
    for (std::size_t seen = 0; seen < free_.size() && best.second < most;) {
        const std::size_t first = (next_ + seen) % free_.size();
        std::size_t count = 0;
        while (first + count < free_.size() && count < most && free_[first + count]) ++count;
        if (count > best.second) best = {first, count};
        seen += count + 1;
    }
    return {static_cast<std::uint32_t>(best.first), static_cast<std::uint32_t>(best.second)};
}

void FreeBuffers::take(std::uint32_t first, std::uint32_t count) noexcept {
    std::fill_n(free_.begin() + first, count, false);
    count_ -= count;
    next_ = first + count;
}

void FreeBuffers::give(std::uint32_t first, std::uint32_t count) noexcept {
    std::fill_n(free_.begin() + first, count, true);
    count_ += count;
}

std::optional<TileNumber> ResidentTiles::Victims::at(std::size_t skipped, const TileNeed& need) {
    for (; group_ != tiles_->groups_.end(); ++group_, next_ = 0) {
        auto& [own, group] = *group_;
        if (!(own < need)) break;
        if (next_ == 0) tiles_->arrange(own, group);
        for (; next_ < group.tiles.size(); ++next_) {
            if (!tiles_->is_in(group.tiles[next_], own)) continue;
            if (skipped_ == skipped) return group.tiles[next_];
            ++skipped_;
        }
    }
    return std::nullopt;
}

void ResidentTiles::add(TileNumber tile, const Tile& what) {
    tiles_.insert(tile, what);
    try {
        join(tile, what.need);
    } catch (...) {
        tiles_.erase(tile);
        throw;
    }
}

void ResidentTiles::remove(TileNumber tile) noexcept {
    const TileNeed need = at(tile).need;
    tiles_.erase(tile);
    leave(need);
}

bool ResidentTiles::raise(TileNumber tile, const TileNeed& need) {
    Tile* const found = tiles_.find(tile);
    if (found == nullptr) return false;
    if (!(found->need < need)) return true;
    join(tile, need);
    leave(std::exchange(found->need, need));
    return true;
}

std::vector<TileNumber> ResidentTiles::least(std::size_t count) {
    std::vector<TileNumber> tiles;
    tiles.reserve(count);
    for (auto& [need, group] : groups_) {
        arrange(need, group);
        for (auto tile = group.tiles.begin(); tile != group.tiles.end() && tiles.size() < count; ++tile) {
            if (is_in(*tile, need)) tiles.push_back(*tile);
        }
    }
    return tiles;
}

void ResidentTiles::join(TileNumber tile, const TileNeed& need) {
    Group& group = groups_[need];
    if (group.tiles.size() > 2 * group.count + 64) arrange(need, group);
    group.tiles.push_back(tile);
    group.sorted = false;
    ++group.count;
}

void ResidentTiles::leave(const TileNeed& need) noexcept {
    const auto group = groups_.find(need);
    if (--group->second.count == 0) groups_.erase(group);
}

// Sorts the list, and removes the tiles that have left if there are many.
void ResidentTiles::arrange(const TileNeed& need, Group& group) const noexcept {
    if (group.sorted && group.tiles.size() <= 2 * group.count) return;
    std::erase_if(group.tiles, [&](TileNumber tile) { return !is_in(tile, need); });
    if (!group.sorted) std::ranges::sort(group.tiles);
    group.tiles.erase(std::unique(group.tiles.begin(), group.tiles.end()), group.tiles.end());
    group.sorted = true;
}

}  // namespace texton::detail
