#pragma once
// A sparse array with the texels of an image: which tiles have memory, and the results of fetches.
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

/// The tiles of one level and layer, or a mip tail, which counts as one tile because it is mapped as a whole.
struct TileTable {
    bool tail = false;
    int level = 0;  ///< mip tail: the first level that it contains
    std::size_t layer = 0;
    Extent tiles{1, 1, 1};  ///< number of tiles along each dimension
    std::size_t slots = 1;  ///< slots of 64 KiB per tile
    bool operator==(const TileTable&) const = default;

    /// Returns the number of tiles.
    std::size_t count() const noexcept { return tiles.width * tiles.height * tiles.depth; }
    /// Returns the position of a tile in the table.
    Offset offset_of(std::size_t tile) const noexcept;
    /// Returns the index of the tile at a position; x changes fastest.
    std::size_t index_of(Offset tile) const noexcept;
};

/// For each table, whether each of its tiles has memory, in the order of TileTable::index_of(). Can be stored for undo.
using Residency = std::vector<std::vector<bool>>;

/// Results of fetches at the pixel centers of a grid that covers a level.
struct SparseReads {
    std::size_t width = 0;
    std::size_t height = 0;
    std::vector<std::uint32_t> pixels;   ///< 0xffRRGGBB
    std::vector<std::uint8_t> resident;  ///< 1 if all texels of the fetch have memory, otherwise 0
};

/// A sparse array with the info of an image's array. Tiles are mapped and unmapped on request; mapped tiles contain the
/// texels of the image.
///
/// Thread-safe: a mutex serializes the functions that use the mapping. Functions block until the device has finished.
/// The object keeps the image's array alive.
class ResidencyMap {
public:
    /// Creates the sparse array without memory. Throws the errors of SparseArray, whose message says why a kind or
    /// format cannot be sparse.
    explicit ResidencyMap(Array image);

    const ArrayInfo& info() const noexcept { return image_.info(); }
    const SparseProperties& properties() const { return sparse_.properties(); }
    const std::vector<TileTable>& tables() const noexcept { return tables_; }

    /// Maps and unmaps tiles until they match `target`, and uploads the texels of tiles that become mapped. Throws
    /// Error{out_of_memory}, and Canceled if `token` is canceled. Changes that were made before the exception
    /// remain.
    void apply(const Residency& target, const CancellationToken& token = {});
    /// Returns which tiles have memory.
    Residency residency() const;
    /// Returns a value for apply() in which all tiles, or no tiles, have memory.
    Residency uniform(bool mapped) const;

    std::size_t slots() const { return sparse_.slots(); }  ///< slots of 64 KiB that all tiles need
    /// Returns the number of slots that are mapped.
    std::size_t resident_slots() const;
    /// Returns the usage of the tile pool.
    TilePoolUsage pool() const { return pool_.usage(); }

    /// Samples a level of the sparse array on a grid of `width` x `height` pixels. Throws the errors of Texture, for
    /// example if the format does not support the filter, and of texton::sample().
    SparseReads read(int level, std::size_t layer, std::size_t slice, std::size_t width, std::size_t height,
                     Filter filter) const;

private:
    TileBox box_of(const TileTable& table, std::size_t tile) const;
    void upload(const TileTable& table, std::size_t tile) const;

    Array image_;
    SparseArray sparse_;
    TilePool pool_;
    Stream stream_;
    std::vector<TileTable> tables_;
    mutable std::mutex mutex_;
};

}  // namespace texton::viewer
