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
    if (extent.width <= kMostPixels && extent.height <= kMostPixels) return;
    throw Error({.code = ErrorCode::overflow,
                 .object = object,
                 .problem = fmt::format(
                     "an image of {} pixels was given, but the width and height are limited to {} because pixel "
                     "centers are float32 numbers",
                     to_string(extent), kMostPixels),
                 .remedy = "Compute the image in parts.",
                 .numbers = {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}}});
}

void check_home(const char* object, const Place& picture, const Backend& device) {
    if (picture.kind == MemoryKind::host) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = "the image is in pageable host memory",
                     .remedy = "Use memory of the device, or pinned memory."});
    }
    const Backend* home = detail::home(picture);
    if (home == nullptr || home == &device) return;
    if (picture.kind == MemoryKind::managed && home->properties().kind == device.properties().kind) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("the image is in memory of {}, but the work runs on {}",
                                        home->properties().name, device.properties().name),
                 .remedy = "Use memory of that device, or pinned or managed memory."});
}

// Returns true if a row of the image shares bytes with a row of the memory. In each of them the rows are in ascending
// order and do not overlap.
bool rows_meet(const Place& memory, const Place& picture) {
    const auto length = static_cast<std::ptrdiff_t>(row_bytes(memory.format, memory.extent.width));
    const auto picture_length = static_cast<std::ptrdiff_t>(row_bytes(picture.format, picture.extent.width));
    const auto pitch = static_cast<std::ptrdiff_t>(memory.pitch);
    const auto last_row = static_cast<std::ptrdiff_t>(memory.extent.height) - 1;
    for (std::size_t z = 0; z < picture.extent.depth; ++z) {
        for (std::size_t y = 0; y < picture.extent.height; ++y) {
            const std::ptrdiff_t begin = picture.address + z * picture.slice_pitch + y * picture.pitch - memory.address;
            const std::ptrdiff_t end = begin + picture_length;
            if (end <= 0) continue;
            const std::ptrdiff_t row = std::min((end - 1) / pitch, last_row);  // the last row that begins before `end`
            if (row * pitch + length > begin) return true;
        }
    }
    return false;
}

// Returns true if the image is in a level of an array that the texture reads. Layers are not distinguished.
bool same_level(const TextureState& texture, const Place& picture) {
    if (texture.source != TextureSource::array || texture.block == nullptr) return false;
    const ArrayBlock& block = static_cast<const ArrayBlock&>(*texture.block);
    if (block.handle != picture.array) return false;
    const int first = block.part + texture.first_level;
    return picture.array_part >= first && picture.array_part < first + texture.levels;
}

// Returns true if the image is exactly the first level that the texture reads.
bool is_same(const TextureState& texture, const Place& picture) {
    if (picture.kind == MemoryKind::array) {
        const ArrayBlock& block = static_cast<const ArrayBlock&>(*texture.block);
        const Place whole = place_of(block, texture.first_level);
        return picture.array_part == whole.array_part && picture.extent == whole.extent &&
               texture.layers == block.info.layers;
    }
    const Place& memory = texture.memory;
    return memory.address == picture.address && memory.pitch == picture.pitch && memory.extent == picture.extent &&
           info(memory.format).bytes == info(picture.format).bytes;
}

}  // namespace

Place written_picture(const char* object, const View& picture, const Backend& device) {
    check_live(picture.place(), object);
    check_format(object, picture.format());
    check_sides(object, picture.extent());
    const auto locked = page_locked(picture.place(), object);
    const Place& place = locked ? *locked : picture.place();
    check_home(object, place, device);
    return place;
}

void check_source(const char* object, const Texture& texture) {
    const Block* block = texture.state()->block;
    if (block == nullptr || block->alive.load(std::memory_order_acquire)) return;
    throw Error({.code = ErrorCode::released,
                 .object = object,
                 .problem = "the memory that the texture reads was freed or unmapped",
                 .remedy = "Keep the memory alive, or create a texture of other memory."});
}

bool meets_source(const Texture& texture, const Place& picture) {
    const TextureState& state = *texture.state();
    if (picture.kind == MemoryKind::array) return same_level(state, picture);
    return state.memory.address != nullptr && rows_meet(state.memory, picture);
}

void check_apart(const char* object, const Texture& texture, const Place& picture, bool same_allowed) {
    if (!meets_source(texture, picture) || (same_allowed && is_same(*texture.state(), picture))) return;
    throw Error(
        {.code = ErrorCode::overlap,
         .object = object,
         .problem = fmt::format("an image of {} pixels shares {} that the texture reads", to_string(picture.extent),
                                picture.kind == MemoryKind::array ? "a level" : "bytes with the memory"),
         .remedy = "Write to other memory.",
         .numbers = {{"width", picture.extent.width}, {"height", picture.extent.height}}});
}

}  // namespace texton::detail
