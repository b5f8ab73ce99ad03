#pragma once
// The memory of the tiles of a streamed texture, and the order in which tiles lose it.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <texton/tile_pool.h>

#include "arrays/streaming/tile_grid.h"
#include "arrays/streaming/tile_map.h"

namespace texton::detail {

/// How much a tile is needed. The lowest value loses its memory first.
struct TileNeed {
    std::uint64_t generation = 0;  ///< of the last request
    float weight = 0;
    int level = 0;  ///< coarse levels are kept longer
    auto operator<=>(const TileNeed&) const = default;
};

/// A slot of 64 KiB in one of the blocks.
struct TileSlotNumber {
    std::uint32_t block = 0;
    std::uint32_t slot = 0;
};

/// Slots in blocks of 2 MiB. A block is allocated when it is needed, and its memory returns to the pool when release()
/// is called for an empty block.
class TileBlocks {
public:
    static constexpr std::uint32_t kSlots = 32;  // of a block: a chunk of the pool, the granularity of the device

    explicit TileBlocks(TilePool pool) : pool_(std::move(pool)) {}

    /// Takes at most `most` consecutive slots of a block, 1 to kSlots: all of them if a block has as many, if possible one
    /// without more. Otherwise allocates a block if there are fewer than `blocks`, or no slot is free. Returns the first
    /// slot, and the number of slots. Throws the errors of TilePool::allocate().
    std::pair<TileSlotNumber, std::uint32_t> take(std::uint32_t most, std::size_t blocks);
    void give(const TileSlotNumber& slot) noexcept { give(slot.block, 1u << slot.slot); }
    /// Frees several slots of a block: bit i stands for slot i.
    void give(std::uint32_t block, std::uint32_t slots) noexcept { set_used(block, blocks_[block].used & ~slots); }
    const Tiles& tiles(const TileSlotNumber& slot) const noexcept { return blocks_[slot.block].tiles; }
    std::size_t allocated() const noexcept { return allocated_; }  ///< number of blocks
    /// Returns the block with the fewest used slots, or nothing if no block is allocated.
    std::optional<std::uint32_t> emptiest() const noexcept;
    /// Returns the memory of empty blocks to the pool.
    void release_empty() noexcept;

private:
    struct Block {
        Tiles tiles;  // empty: not allocated
        std::uint32_t used = 0;
    };
    std::uint32_t allocate();
    void set_used(std::uint32_t block, std::uint32_t used) noexcept;

    TilePool pool_;
    std::vector<Block> blocks_;
    std::size_t allocated_ = 0;
    std::set<std::pair<std::uint32_t, std::uint32_t>> free_;  // length of the longest run of free slots, block
};

/// Numbers of free staging buffers.
class FreeBuffers {
public:
    FreeBuffers() = default;
    explicit FreeBuffers(std::size_t count) : free_(count, true), count_(count) {}

    std::size_t count() const noexcept { return count_; }
    /// Returns the first of at most `most` consecutive free buffers, and their number: the first such buffers after those
    /// that were taken last, or the longest sequence. There must be a free buffer.
    std::pair<std::uint32_t, std::uint32_t> find(std::size_t most) const noexcept;
    void take(std::uint32_t first, std::uint32_t count) noexcept;
    void give(std::uint32_t first, std::uint32_t count) noexcept;

private:
    std::vector<bool> free_;
    std::size_t count_ = 0;
    std::size_t next_ = 0;
};

/// The tiles that have memory, ordered by their need.
class ResidentTiles {
    // The tiles of one need. They are appended in any order, and stay in the list when they leave the group.
    struct Group {
        std::vector<TileNumber> tiles;
        std::size_t count = 0;  // tiles that have not left
        bool sorted = true;
    };

public:
    struct Tile {
        TileSlotNumber slot;
        TileNeed need;
    };

    /// The tiles in the order in which they lose their memory: by need, then by number. Tiles must not be changed while it
    /// is used.
    class Victims {
    public:
        explicit Victims(ResidentTiles& tiles) noexcept : tiles_(&tiles), group_(tiles.groups_.begin()) {}
        /// Returns the tile that loses its memory after `skipped` others, if it is needed less than `need`. `skipped`
        /// must be at least that of the call before.
        std::optional<TileNumber> at(std::size_t skipped, const TileNeed& need);

    private:
        ResidentTiles* tiles_;
        std::map<TileNeed, Group>::iterator group_;
        std::size_t next_ = 0;  // in the group
        std::size_t skipped_ = 0;
    };

    std::size_t size() const noexcept { return tiles_.size(); }
    bool contains(TileNumber tile) const noexcept { return tiles_.contains(tile); }
    /// Returns a tile that has memory.
    const Tile& at(TileNumber tile) const noexcept { return *tiles_.find(tile); }
    void add(TileNumber tile, const Tile& what);
    void remove(TileNumber tile) noexcept;
    /// Raises the need of a tile. Returns false if the tile has no memory.
    bool raise(TileNumber tile, const TileNeed& need);
    /// Returns the tile that loses its memory first, if it is needed less than `need`.
    std::optional<TileNumber> victim(const TileNeed& need) { return Victims(*this).at(0, need); }
    /// Returns the `count` least needed tiles. There must be as many.
    std::vector<TileNumber> least(std::size_t count);
    const TileMap<Tile>& all() const noexcept { return tiles_; }

private:
    bool is_in(TileNumber tile, const TileNeed& need) const noexcept {
        const Tile* const found = tiles_.find(tile);
        return found != nullptr && found->need == need;
    }
    void join(TileNumber tile, const TileNeed& need);
    void leave(const TileNeed& need) noexcept;
    void arrange(const TileNeed& need, Group& group) const noexcept;

    TileMap<Tile> tiles_;
    std::map<TileNeed, Group> groups_;
};

}  // namespace texton::detail
