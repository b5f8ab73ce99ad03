#pragma once
// Support for tests of sparse arrays: arrays of a few tiles of one-byte texels, and pools for their memory.
#include <cstddef>
#include <vector>

#include <texton/sparse_array.h>

#include "tests/support/on_every_device.h"

namespace texton::test {

inline constexpr std::size_t kSide = 256;  // width and height in texels of a tile of one-byte texels
inline constexpr std::size_t kChunk = std::size_t{2} << 20;

// Describes an array of one-byte texels with columns x rows tiles.
inline ArrayInfo tiled(std::size_t columns, std::size_t rows = 1) {
    return {.format = Format::r8_uint, .extent = {columns * kSide, rows * kSide}};
}

inline TileBox tile_at(std::size_t x, std::size_t y = 0) { return {.offset = {x, y, 0}}; }

class SparseArrayFixture : public OnEveryDevice {
protected:
    TilePool pool() const { return TilePool(device(), {.chunk_bytes = kChunk}); }

    // Returns the texels of one tile.
    static View texels(const SparseArray& array, std::size_t x, std::size_t y = 0) {
        return array.array().view({.region = Region{{x * kSide, y * kSide, 0}, {kSide, kSide, 1}}});
    }

    static void map_all(SparseArray& array, const TilePool& from, const Stream& stream) {
        const ArrayInfo& info = array.array().info();
        const SparseProperties& how = array.properties();
        const std::size_t layers = is_layered(info.kind) ? info.layers : 1;
        std::vector<TileMapping> mappings;
        for (int level = 0; level < how.first_tail_level; ++level) {
            const Extent box = array.tiles(level);
            for (std::size_t layer = 0; layer < layers; ++layer) {
                mappings.push_back({{.level = level, .layer = layer, .extent = box},
                                    from.allocate(box.width * box.height * box.depth)});
            }
        }
        if (how.tail_bytes > 0) {
            for (std::size_t layer = 0; layer < (how.tail_per_layer ? layers : 1); ++layer) {
                mappings.push_back({TileBox::mip_tail(layer), from.allocate_bytes(how.tail_bytes)});
            }
        }
        array.map(mappings, stream);
    }
};

}  // namespace texton::test
