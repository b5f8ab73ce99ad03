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
    throw Error({.code = ErrorCode::bad_argument,
                 .object = object,
                 .problem = fmt::format("a picture of {} was given", name(format)),
                 .remedy = "Give pixels of a plain or packed format."});
}

void check_sides(const char* object, const Extent& extent) {
    if (extent.width <= kMostPixels && extent.height <= kMostPixels) return;
    throw Error(
        {.code = ErrorCode::overflow,
         .object = object,
         .problem = fmt::format("a picture of {} pixels was given, but beyond {} a side the middles of pixels are "
                                "no float32 numbers",
                                to_string(extent), kMostPixels),
         .remedy = "Make the picture in parts.",
         .numbers = {{"width", extent.width}, {"height", extent.height}, {"depth", extent.depth}}});
}

void check_home(const char* object, const Place& picture, const Backend& device) {
    if (picture.kind == MemoryKind::host) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = object,
                     .problem = "pageable host memory was given as the picture",
                     .remedy = "Give memory of the device, or Pinned memory."});
    }
    const Backend* home = detail::home(picture);
    if (home == nullptr || home == &device) return;
    if (picture.kind == MemoryKind::managed && home->properties().kind == device.properties().kind) return;
    throw Error({.code = ErrorCode::wrong_device,
                 .object = object,
                 .problem = fmt::format("memory of {} was given as the picture of work on {}", home->properties().name,
                                        device.properties().name),
                 .remedy = "Give memory of that device, or pinned or managed memory."});
}

// True if a row of one is also, in part, a row of the other: those of each lie in order, none in another.
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
            const std::ptrdiff_t row = std::min((end - 1) / pitch, last_row);  // the last that begins before the end
            if (row * pitch + length > begin) return true;
        }
    }
    return false;
}

// Levels of an array that a texture reads are not written, whichever layer.
bool same_level(const TextureState& texture, const Place& picture) {
    if (texture.source != TextureSource::array || texture.block == nullptr) return false;
    const ArrayBlock& block = static_cast<const ArrayBlock&>(*texture.block);
    if (block.handle != picture.array) return false;
    const int first = block.part + texture.first_level;
    return picture.array_part >= first && picture.array_part < first + texture.levels;
}

// The picture is what the texture reads at its first level.
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
                 .remedy = "Make the texture of memory that lives."});
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
         .problem = fmt::format("a picture of {} pixels shares {} that the texture reads", to_string(picture.extent),
                                picture.kind == MemoryKind::array ? "a level" : "bytes with the memory"),
         .remedy = "Write to other memory.",
         .numbers = {{"width", picture.extent.width}, {"height", picture.extent.height}}});
}

}  // namespace texton::detail
