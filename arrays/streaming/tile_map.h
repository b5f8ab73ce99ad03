#pragma once
// Values by tile number.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "arrays/streaming/tile_grid.h"

namespace texton::detail {

/// A hash map whose entries are consecutive in memory, because updates look up each tile many times. Pointers and
/// iterators are valid until the next insertion or removal. If an insertion throws, the map is unchanged.
template <class Value>
class TileMap {
public:
    struct Entry {
        TileNumber tile;
        Value value;
    };

    bool empty() const noexcept { return entries_.empty(); }
    std::size_t size() const noexcept { return entries_.size(); }
    auto begin() const noexcept { return entries_.begin(); }
    auto end() const noexcept { return entries_.end(); }
    auto begin() noexcept { return entries_.begin(); }
    auto end() noexcept { return entries_.end(); }

    bool contains(TileNumber tile) const noexcept { return find(tile) != nullptr; }
    const Value* find(TileNumber tile) const noexcept {
        const std::size_t at = place_of(tile);
        return at < places_.size() && places_[at] != kFree ? &entries_[places_[at]].value : nullptr;
    }
    Value* find(TileNumber tile) noexcept { return const_cast<Value*>(std::as_const(*this).find(tile)); }

    /// Inserts the value if the map has none for the tile. Returns the tile's value, and true if it was inserted.
    std::pair<Value*, bool> insert(TileNumber tile, Value value) {
        if (2 * (entries_.size() + 1) > places_.size()) grow();
        const std::size_t at = place_of(tile);
        if (places_[at] != kFree) return {&entries_[places_[at]].value, false};
        entries_.push_back({tile, std::move(value)});
        places_[at] = static_cast<std::uint32_t>(entries_.size() - 1);
        return {&entries_.back().value, true};
    }

    /// Removes the tile's value. Returns false if there was none.
    bool erase(TileNumber tile) noexcept {
        const std::size_t at = place_of(tile);
        if (at >= places_.size() || places_[at] == kFree) return false;
        const std::uint32_t entry = places_[at];
        close_gap(at);
        if (entry + 1 != entries_.size()) {
            places_[place_of(entries_.back().tile)] = entry;
            entries_[entry] = std::move(entries_.back());
        }
        entries_.pop_back();
        return true;
    }

    /// Removes all values for which the predicate of tile and value returns true.
    template <class Predicate>
    void erase_if(const Predicate& predicate) noexcept {
        for (std::size_t i = entries_.size(); i-- > 0;) {
            if (predicate(entries_[i].tile, entries_[i].value)) erase(entries_[i].tile);
        }
    }

    void clear() noexcept {
        entries_.clear();
        places_.assign(places_.size(), kFree);
    }

private:
    static constexpr std::uint32_t kFree = ~std::uint32_t{0};

    std::size_t first_place(TileNumber tile) const noexcept {
        return static_cast<std::size_t>(std::uint64_t{tile} * 0x9e3779b97f4a7c15u >> shift_);
    }
    // Returns the place of the tile, or the free one where it belongs. places_.size() if there are no places.
    std::size_t place_of(TileNumber tile) const noexcept {
        if (places_.empty()) return 0;
        std::size_t at = first_place(tile);
        while (places_[at] != kFree && entries_[places_[at]].tile != tile) at = (at + 1) & (places_.size() - 1);
        return at;
    }

    void grow() {
        std::vector<std::uint32_t> places(places_.empty() ? 16 : 2 * places_.size(), kFree);
        places_.swap(places);
        shift_ = 64 - std::countr_zero(places_.size());
        for (std::uint32_t i = 0; i < entries_.size(); ++i) {
            std::size_t at = first_place(entries_[i].tile);
            while (places_[at] != kFree) at = (at + 1) & (places_.size() - 1);
            places_[at] = i;
        }
    }

    // Frees a place, and moves those behind it that would no longer be found.
    void close_gap(std::size_t gap) noexcept {
        const std::size_t mask = places_.size() - 1;
        for (std::size_t at = (gap + 1) & mask; places_[at] != kFree; at = (at + 1) & mask) {
            const std::size_t wanted = first_place(entries_[places_[at]].tile);
            if (((at - wanted) & mask) < ((at - gap) & mask)) continue;
            places_[gap] = places_[at];
            gap = at;
        }
        places_[gap] = kFree;
    }

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> places_;  // numbers of entries; its size is a power of two
    int shift_ = 64;
};

/// Distinct tiles. Like TileMap, without values.
class TileSet {
public:
    bool empty() const noexcept { return tiles_.empty(); }
    std::size_t size() const noexcept { return tiles_.size(); }
    bool contains(TileNumber tile) const noexcept { return tiles_.contains(tile); }
    /// Returns false if the set contained the tile.
    bool insert(TileNumber tile) { return tiles_.insert(tile, {}).second; }
    bool erase(TileNumber tile) noexcept { return tiles_.erase(tile); }
    void clear() noexcept { tiles_.clear(); }
    /// The entries have the member `tile`.
    auto begin() const noexcept { return tiles_.begin(); }
    auto end() const noexcept { return tiles_.end(); }

private:
    struct None {};
    TileMap<None> tiles_;
};

}  // namespace texton::detail
