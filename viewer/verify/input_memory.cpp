#include "viewer/verify/input_memory.h"

#include <vector>

#include <texton/copy.h>
#include <texton/deferred_array.h>
#include <texton/error.h>
#include <texton/pitched.h>
#include <texton/sparse_array.h>

namespace texton::verify {
namespace {

constexpr std::size_t kHoleInterval = 3;  // in tiles

void copy_levels(const Array& array, const HostArray& texels, const Stream& stream) {
    for (std::size_t level = 0; level < texels.levels.size(); ++level)
        copy(array.view({.level = static_cast<int>(level)}), texels.levels[level].view(), stream);
    stream.synchronize();
}

Texture in_rows(const Device& device, const HostArray& texels, const Sampler& sampler, const TextureRange& range) {
    if (texels.info.kind != ArrayKind::array_2d || texels.levels.size() != 1 || range != TextureRange{})
        throw Error({.code = ErrorCode::unsupported,
                     .object = "texton::verify::upload",
                     .problem = "rows of memory hold one image, which is read whole and in its own format",
                     .remedy = "Use the kind array_2d with one level and without \"read\", or another memory."});
    const HostImage& image = texels.levels.front();
    const Pitched2D memory(device, image.format, image.extent);
    copy(memory.view(), image.view());
    return Texture(memory.view(), sampler);
}

// Returns the boxes of one tile each that get memory, and those of the mip tails, which always do.
std::vector<TileBox> mapped_boxes(const SparseArray& array, const ArrayInfo& info) {
    std::vector<TileBox> boxes;
    const SparseProperties& properties = array.properties();
    std::size_t number = 0;
    for (std::size_t layer = 0; layer < info.layers; ++layer) {
        for (int level = 0; level < std::min(info.levels, properties.first_tail_level); ++level) {
            const Extent tiles = array.tiles(level);
            for (std::size_t z = 0; z < tiles.depth; ++z)
                for (std::size_t y = 0; y < tiles.height; ++y)
                    for (std::size_t x = 0; x < tiles.width; ++x)
                        if (number++ % kHoleInterval != kHoleInterval - 1)
                            boxes.push_back({.level = level, .layer = layer, .offset = {x, y, z}});
        }
    }
    if (properties.first_tail_level < info.levels)
        for (std::size_t layer = 0; layer < (properties.tail_per_layer ? info.layers : 1); ++layer)
            boxes.push_back(TileBox::mip_tail(layer));
    return boxes;
}

Texture in_tiles(const Device& device, const HostArray& texels, const Sampler& sampler, const TextureRange& range) {
    SparseArray array(device, texels.info);
    const Stream stream(device);
    const Tiles tiles = TilePool(device).allocate(array.slots());
    const std::size_t tail_slots = array.properties().tail_bytes / kTileBytes;
    std::vector<TileMapping> mappings;
    std::size_t slot = 0;
    for (const TileBox& box : mapped_boxes(array, texels.info)) {
        mappings.push_back({box, tiles, slot});
        slot += box.tail ? tail_slots : 1;
    }
    array.map(mappings, stream);
    copy_levels(array.array(), texels, stream);
    return Texture(array.array(), sampler, range);
}

Texture deferred(const Device& device, const HostArray& texels, const Sampler& sampler, const TextureRange& range) {
    DeferredArray array(device, texels.info);
    const Stream stream(device);
    array.map(TilePool(device).allocate_bytes(array.requirements().bytes), stream);
    copy_levels(array.array(), texels, stream);
    return Texture(array.array(), sampler, range);
}

}  // namespace

Texture upload(const Device& device, const HostArray& texels, InputMemory memory, const Sampler& sampler,
               const TextureRange& range) {
    switch (memory) {
        case InputMemory::array: break;
        case InputMemory::rows: return in_rows(device, texels, sampler, range);
        case InputMemory::sparse: return in_tiles(device, texels, sampler, range);
        case InputMemory::deferred: return deferred(device, texels, sampler, range);
    }
    return Texture(upload(device, texels), sampler, range);
}

}  // namespace texton::verify
