// Sizes of sparse and deferred arrays as an H200 reports them. The rules agree with all 49,646 shapes that were
// measured. Not measured: layered block-compressed arrays with several levels, where level 0 has only one tile along a
// dimension and ends inside the last block of this tile.
//
// Texels are stored in blocks of GOBs. A GOB has 64 bytes by 8 rows. A block is 1 GOB wide. Its height in GOBs and its
// depth in slices are powers of two: as many as the level needs, up to a maximum. Everything that has memory of its own
// is rounded up to tiles of 64 KiB. The levels of a layer follow each other, and each layer starts at a multiple of
// layer_alignment().
#include <algorithm>
#include <bit>

#include "core/cpu/array.h"
#include "core/cpu/system.h"

namespace texton::detail {
namespace {

constexpr std::size_t kGobBytes = 64;  // per row
constexpr std::size_t kGobRows = 8;

// The maximum size of a block.
struct GobBlock {
    std::size_t gobs;  // height in GOBs
    std::size_t slices;
};
constexpr GobBlock kFlatBlock{16, 1};
constexpr GobBlock kVolumeBlock{1, 16};
constexpr std::size_t kMinPlaneGobs = 4;  // minimum height of a block of a plane

bool is_volume(const ArrayInfo& info) { return info.kind == ArrayKind::array_3d; }
bool is_planar(const ArrayInfo& info) { return plane_count(info.format) > 1; }

// The tiles of an array determine the size of its blocks, also in the tail. If no level has tiles, the blocks are as in
// other arrays.
GobBlock block_of(const ArrayInfo& info, Extent tile, int first_tail_level) {
    if (first_tail_level == 0) return is_volume(info) ? kVolumeBlock : kFlatBlock;
    return {row_count(info.format, tile.height) / kGobRows, tile.depth};
}

std::size_t gobs_high(Format format, std::size_t height) {
    return round_up(row_count(format, height), kGobRows) / kGobRows;
}

// Returns the bytes of one layer of a part, or of all slices of a volume.
std::size_t part_bytes(const ArrayInfo& info, int part, GobBlock maximum) {
    const Format format = part_format(info, part);
    const Extent extent = part_extent(info, part);
    const std::size_t gobs = gobs_high(format, extent.height);
    const std::size_t needed = std::max(std::bit_ceil(gobs), is_planar(info) ? kMinPlaneGobs : 1);
    const std::size_t rows = round_up(gobs, std::min(needed, maximum.gobs)) * kGobRows;
    const std::size_t slices =
        is_volume(info) ? round_up(extent.depth, std::min(std::bit_ceil(extent.depth), maximum.slices)) : 1;
    return round_up(row_bytes(format, extent.width), kGobBytes) * rows * slices;
}

// Returns the alignment of layers in bytes. It is the size of level 0's block, which is halved in height until its rows
// exceed the height of the level by at most half. For block-compressed formats too, the height is counted in texels
// here.
std::size_t layer_alignment(const ArrayInfo& info) {
    std::size_t gobs = kFlatBlock.gobs;
    while (gobs > 1 && 2 * gobs * kGobRows > 3 * info.extent.height) gobs /= 2;
    return std::min(gobs, std::bit_ceil(gobs_high(info.format, info.extent.height))) * kGobRows * kGobBytes;
}

// Returns the bytes of the levels from `first` on, of one layer or a volume.
std::size_t layer_bytes(const ArrayInfo& info, int first, GobBlock maximum) {
    std::size_t bytes = 0;
    for (int level = first; level < info.levels; ++level) bytes += part_bytes(info, level, maximum);
    return bytes;
}

// Returns the bytes of the levels from `first` on, of all layers.
std::size_t levels_bytes(const ArrayInfo& info, int first, GobBlock maximum) {
    const std::size_t bytes = layer_bytes(info, first, maximum);
    return is_volume(info) ? bytes : round_up(bytes, layer_alignment(info)) * slice_count(info, 0);
}

// Returns true if the level is at least as large as a tile in every dimension, in units of `side` texels.
bool holds_tile(const ArrayInfo& info, int level, Extent tile, std::size_t side) {
    const Extent extent = level_extent(info, level);
    const auto units = [side](std::size_t texels) { return (texels + side - 1) / side; };
    return units(extent.width) >= units(tile.width) && units(extent.height) >= units(tile.height) &&
           extent.depth >= tile.depth;
}

}  // namespace

SparseProperties sparse_sizes(const ArrayInfo& info) {
    SparseProperties sizes;
    sizes.tile = tile_extent(info.format, is_volume(info) ? 3 : 2);
    // If there are several levels, a level that ends inside its last block is compared in blocks, otherwise in texels.
    const std::size_t side = info.levels == 1 ? 1 : block_side(info.format);
    while (sizes.first_tail_level < info.levels && holds_tile(info, sizes.first_tail_level, sizes.tile, side)) {
        ++sizes.first_tail_level;
    }
    sizes.tail_per_layer = holds_tile(info, 0, sizes.tile, 1);
    const GobBlock maximum = block_of(info, sizes.tile, sizes.first_tail_level);
    sizes.tail_bytes = round_up(sizes.tail_per_layer ? layer_bytes(info, sizes.first_tail_level, maximum)
                                                     : levels_bytes(info, sizes.first_tail_level, maximum),
                                kTileBytes);
    return sizes;
}

MemoryRequirements deferred_sizes(const ArrayInfo& info) {
    if (!is_planar(info)) {
        const GobBlock maximum = is_volume(info) ? kVolumeBlock : kFlatBlock;
        return {round_up(levels_bytes(info, 0, maximum), kTileBytes), kTileBytes};
    }
    std::size_t bytes = 0;  // each plane starts at a tile
    for (int plane = 0; plane < part_count(info); ++plane) {
        bytes += round_up(part_bytes(info, plane, kFlatBlock), kTileBytes);
    }
    return {bytes, kTileBytes};
}

}  // namespace texton::detail
