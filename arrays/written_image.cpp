#include "arrays/written_image.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/error.h>

#include "arrays/array_block.h"
#include "arrays/texture_state.h"
#include "arrays/unit/affine_map.h"
#include "core/transfer.h"

namespace texton::detail {
namespace {

void check_format(const char* object, Format format) {
    const FormatLayout layout = info(format).layout;
    if (layout == FormatLayout::plain || layout == FormatLayout::packed) return;
    throw Error(
        {.code = ErrorCode::bad_argument,
         .object = object,
         .problem = fmt::format("an image of {} was given, which is a block-compressed or planar format", name(format)),
         .remedy = "Use an image of a plain or packed format."});
}

void check_sides(const char* object, const Extent& extent) {
    if (extent.width <= kMaxPixels && extent.height <= kMaxPixels) return;
    throw Error({.code = ErrorCode::overflow,
                 .object = object,
                 .problem = fmt::format(
                     "an image of {} pixels was given, but the width and height are limited to {} because pixel "
                     "centers are float32 numbers",
                     to_string(extent), kMaxPixels),
                 .remedy = "Compute the image in parts.",
                 .numbers = {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}}});
}

void check_home(const char* object, const MemoryLocation& image, const Backend& device) {
    if (image.kind == MemoryKind::host) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = "the image is in pageable host memory",
                     .remedy = "Use memory of the device, or pinned memory."});
    }
    const Backend* home = detail::home(image);
    if (home == nullptr || home == &device) return;
    if (image.kind == MemoryKind::managed && home->properties().kind == device.properties().kind) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("the image is in memory of {}, but the work runs on {}",
                                        home->properties().name, device.properties().name),
                 .remedy = "Use memory of that device, or pinned or managed memory."});
}

// Returns true if a row of the image shares bytes with a row of the memory. In each of them the rows are in ascending
// order and do not overlap.
bool rows_meet(const MemoryLocation& memory, const MemoryLocation& image) {
    const auto length = static_cast<std::ptrdiff_t>(row_bytes(memory.format, memory.extent.width));
    const auto image_length = static_cast<std::ptrdiff_t>(row_bytes(image.format, image.extent.width));
    const auto pitch = static_cast<std::ptrdiff_t>(memory.pitch);
    const auto last_row = static_cast<std::ptrdiff_t>(memory.extent.height) - 1;
    for (std::size_t z = 0; z < image.extent.depth; ++z) {
        for (std::size_t y = 0; y < image.extent.height; ++y) {
            const std::ptrdiff_t begin = image.address + z * image.slice_pitch + y * image.pitch - memory.address;
            const std::ptrdiff_t end = begin + image_length;
            if (end <= 0) continue;
            const std::ptrdiff_t row = std::min((end - 1) / pitch, last_row);  // the last row that begins before `end`
            if (row * pitch + length > begin) return true;
        }
    }
    return false;
}

// Returns true if the image is in a level of an array that the texture reads. Layers are not distinguished.
bool same_level(const TextureState& texture, const MemoryLocation& image) {
    if (texture.source != TextureSource::array || texture.block == nullptr) return false;
    const ArrayBlock& block = static_cast<const ArrayBlock&>(*texture.block);
    if (block.handle != image.array) return false;
    const int first = block.part + texture.first_level;
    return image.array_part >= first && image.array_part < first + texture.levels;
}

// Returns true if the image is exactly the first level that the texture reads.
bool is_same(const TextureState& texture, const MemoryLocation& image) {
    if (image.kind == MemoryKind::array) {
        const ArrayBlock& block = static_cast<const ArrayBlock&>(*texture.block);
        const MemoryLocation whole = location_of(block, texture.first_level);
        return image.array_part == whole.array_part && image.extent == whole.extent &&
               texture.layers == block.info.layers;
    }
    const MemoryLocation& memory = texture.memory;
    return memory.address == image.address && memory.pitch == image.pitch && memory.extent == image.extent &&
           info(memory.format).bytes == info(image.format).bytes;
}

}  // namespace

MemoryLocation written_image(const char* object, const View& image, const Backend& device) {
    check_live(image.location(), object);
    check_format(object, image.format());
    check_sides(object, image.extent());
    const auto locked = page_locked(image.location(), object);
    const MemoryLocation& location = locked ? *locked : image.location();
    check_home(object, location, device);
    return location;
}

void check_source(const char* object, const Texture& texture) {
    const Block* block = texture.state()->block;
    if (block == nullptr || block->alive.load(std::memory_order_acquire)) return;
    throw Error({.code = ErrorCode::released,
                 .object = object,
                 .problem = "the memory that the texture reads was freed or unmapped",
                 .remedy = "Keep the memory alive, or create a texture of other memory."});
}

bool meets_source(const Texture& texture, const MemoryLocation& image) {
    const TextureState& state = *texture.state();
    if (image.kind == MemoryKind::array) return same_level(state, image);
    return state.memory.address != nullptr && rows_meet(state.memory, image);
}

void check_apart(const char* object, const Texture& texture, const MemoryLocation& image, bool same_allowed) {
    if (!meets_source(texture, image) || (same_allowed && is_same(*texture.state(), image))) return;
    throw Error(
        {.code = ErrorCode::overlap,
         .object = object,
         .problem = fmt::format("an image of {} pixels shares {} that the texture reads", to_string(image.extent),
                                image.kind == MemoryKind::array ? "a level" : "bytes with the memory"),
         .remedy = "Write to other memory.",
         .numbers = {{"width", image.extent.width}, {"height", image.extent.height}}});
}

}  // namespace texton::detail
