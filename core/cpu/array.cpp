#include "core/cpu/array.h"

#include <algorithm>
#include <utility>

#include "core/cpu/system.h"

namespace texton::detail {
namespace {

// Parts start at multiples of a cache line.
constexpr std::size_t kPartAlignment = 64;
// In the mip tail, levels start at multiples of the largest texel, because many small levels share little space.
constexpr std::size_t kTailAlignment = 16;

std::size_t pieces(std::size_t whole, std::size_t piece) noexcept { return whole / piece + (whole % piece != 0); }

CpuLevel packed_level(Format format, Extent extent) {
    CpuLevel level;
    level.extent = extent;
    level.row_pitch = row_bytes(format, extent.width);
    level.slice_pitch = packed_bytes(format, {extent.width, extent.height, 1});
    return level;
}

void cut_into_tiles(CpuLevel& level, Format format, Extent tile) {
    level.tile = tile;
    level.tile_count = {pieces(level.extent.width, tile.width), pieces(level.extent.height, tile.height),
                        tile.depth == 1 ? 1 : pieces(level.extent.depth, tile.depth)};
    level.tile_pitch = row_bytes(format, tile.width);
    level.tile_rows = row_count(format, tile.height);
}

// Numbers the pages: first all tiles, level by level, then the tails, layer by layer.
void add_pages(CpuArray& array) {
    const SparseProperties sizes = sparse_sizes(array.info);
    const bool volume = array.info.kind == ArrayKind::array_3d;
    const bool tail_per_layer = sizes.tail_per_layer && !volume;
    const std::size_t tail_pages = sizes.tail_bytes / kTileBytes;
    std::vector<std::size_t> first_page;
    std::size_t pages = 0;
    std::size_t tail = 0;  // bytes
    for (std::size_t i = 0; i < array.parts.size(); ++i) {
        CpuLevel& level = array.parts[i];
        first_page.push_back(pages);
        if (static_cast<int>(i) < sizes.first_tail_level) {
            cut_into_tiles(level, array.info.format, sizes.tile);
            const std::size_t layers = volume ? 1 : level.extent.depth;
            pages += level.tile_count.width * level.tile_count.height * level.tile_count.depth * layers;
            continue;
        }
        level.tail_offset = tail;
        tail += round_up(level.slice_pitch * (tail_per_layer ? 1 : level.extent.depth), kTailAlignment);
        if (tail_per_layer) {
            level.slice_pitch = 0;
            level.tail_pages = tail_pages;
        }
    }
    pages += tail_pages * (tail_per_layer ? slice_count(array.info, 0) : 1);
    array.pages.resize(pages);
    array.owners.resize(pages);
    array.bytes = pages * kTileBytes;
    for (std::size_t i = 0; i < array.parts.size(); ++i) array.parts[i].tiles = array.pages.data() + first_page[i];
}

}  // namespace

int part_count(const ArrayInfo& info) noexcept { return std::max(info.levels, plane_count(info.format)); }

Format part_format(const ArrayInfo& info, int part) {
    return plane_count(info.format) == 1 ? info.format : plane_info(info.format, part).format;
}

Extent part_extent(const ArrayInfo& info, int part) {
    if (plane_count(info.format) == 1) {
        Extent extent = level_extent(info, part);
        extent.depth = slice_count(info, part);
        return extent;
    }
    const PlaneInfo plane = plane_info(info.format, part);
    return {pieces(info.extent.width, plane.divide_width), pieces(info.extent.height, plane.divide_height),
            slice_count(info, 0)};
}

CpuRun CpuLevel::run(std::size_t byte, std::size_t row, std::size_t slice) const noexcept {
    const std::size_t left = row_pitch - byte;
    if (!sparse()) {
        return {data == nullptr ? nullptr : data + slice * slice_pitch + row * row_pitch + byte, left};
    }
    if (tile.width == 0) {
        const std::size_t position = tail_offset + slice * slice_pitch + row * row_pitch + byte;
        std::byte* page = tiles[slice * tail_pages + position / kTileBytes];
        const std::size_t in_page = position % kTileBytes;
        return {page == nullptr ? nullptr : page + in_page, std::min(kTileBytes - in_page, left)};
    }
    const std::size_t z = slice / tile.depth;
    const std::size_t y = row / tile_rows;
    const std::size_t x = byte / tile_pitch;
    std::byte* page = tiles[(z * tile_count.height + y) * tile_count.width + x];
    const std::size_t in_row = byte % tile_pitch;
    const std::size_t in_tile = (slice % tile.depth * tile_rows + row % tile_rows) * tile_pitch + in_row;
    return {page == nullptr ? nullptr : page + in_tile, std::min(tile_pitch - in_row, left)};
}

std::byte* CpuLevel::texel(std::size_t x, std::size_t y, std::size_t z, Format format) const noexcept {
    const std::size_t side = block_side(format);
    if (loaded != nullptr) return loaded->find(number, x / side * texton::info(format).bytes, y / side, z);
    return run(x / side * texton::info(format).bytes, y / side, z).address;
}

void CpuArray::place(std::byte* address) noexcept {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].data = address == nullptr ? nullptr : address + offsets[i];
    }
}

std::unique_ptr<CpuArray> make_cpu_array(const ArrayInfo& info, ArrayBacking backing) {
    auto array = std::make_unique<CpuArray>();
    array->info = info;
    array->backing = backing;
    for (int part = 0; part < part_count(info); ++part) {
        const CpuLevel& level =
            array->parts.emplace_back(packed_level(part_format(info, part), part_extent(info, part)));
        array->offsets.push_back(array->bytes);
        array->bytes += round_up(level.slice_pitch * level.extent.depth, kPartAlignment);
    }
    if (backing == ArrayBacking::deferred) array->owners.resize(1);
    if (backing == ArrayBacking::sparse) add_pages(*array);
    return array;
}

ArrayHandle make_loaded_array(const ArrayInfo& info, std::shared_ptr<LoadedTexels> texels) {
    auto array = make_cpu_array(info, ArrayBacking::own);
    for (std::size_t i = 0; i < array->parts.size(); ++i) {
        array->parts[i].loaded = texels.get();
        array->parts[i].number = static_cast<int>(i);
    }
    array->loaded = std::move(texels);
    return reinterpret_cast<ArrayHandle>(array.release());
}

}  // namespace texton::detail
