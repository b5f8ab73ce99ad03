#pragma once
// A sparse array like a picture: which of its tiles have memory, and what fetches see of it.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <texton/sampler.h>
#include <texton/sparse_array.h>
#include <texton/stream.h>
#include <texton/tile_pool.h>

#include "viewer/model/cancellation.h"

namespace texton::viewer {

/// Tiles of one level and layer, or a tail, which is one tile here and mapped as a whole.
struct TileTable {
    bool tail = false;
    int level = 0;  ///< of a tail: the first level that lies in it
    std::size_t layer = 0;
    Extent tiles{1, 1, 1};
    std::size_t slots = 1;  ///< of 64 KiB, that a tile takes
    bool operator==(const TileTable&) const = default;

    std::size_t count() const noexcept { return tiles.width * tiles.height * tiles.depth; }
    Offset offset_of(std::size_t tile) const noexcept;
    std::size_t index_of(Offset tile) const noexcept;
};

/// For each table whether its tiles have memory, x fastest. A value, which can be kept for undo.
using Residency = std::vector<std::vector<bool>>;

/// What fetches return at the middles of a grid of pixels over a level.
struct SparseReads {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<std::uint32_t> pixels;   ///< 0xffRRGGBB
    std::vector<std::uint8_t> resident;  ///< 1 where all texels of the fetch have memory
};

/// Any thread may call it: one at a time is let in.
class ResidencyMap {
public:
    /// A sparse array with the picture's info, none of it mapped. Throws what SparseArray throws: its words say why a kind or format
    /// has none.
    explicit ResidencyMap(Array picture);

    const ArrayInfo& info() const noexcept { return picture_.info(); }
    const SparseProperties& properties() const { return sparse_.properties(); }
    const std::vector<TileTable>& tables() const noexcept { return tables_; }

    /// Maps and unmaps tiles until they are as `wanted`, from a pool; what is mapped holds the picture's texels. Throws
    /// Error{out_of_memory} and Cancelled, with as many changed as were until then.
    void apply(const Residency& target, const StillWanted& wanted = {});
    Residency residency() const;
    /// Nothing, or everything, mapped.
    Residency uniform(bool mapped) const;

    std::size_t slots() const { return sparse_.slots(); }  ///< that all of it would take
    std::size_t resident_slots() const;
    std::size_t committed_bytes() const { return resident_slots() * kTileBytes; }
    TilePoolUsage pool() const { return pool_.usage(); }

    /// The level as a texture of the sparse array returns it: `filter` must be one that the format takes.
    SparseReads read(int level, std::size_t layer, std::size_t slice, std::size_t width, std::size_t height,
                     Filter filter) const;

private:
    TileBox box_of(const TileTable& table, std::size_t tile) const;
    void upload(const TileTable& table, std::size_t tile) const;

    Array picture_;
    SparseArray sparse_;
    TilePool pool_;
    Stream stream_;
    std::vector<TileTable> tables_;
    mutable std::mutex mutex_;
};

}  // namespace texton::viewer
