#include "arrays/written_image.h"

#include <algorithm>
#include <limits>

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

// Returns the number of the last of `count` items that begin at 0, pitch, 2 * pitch, ... and not after `byte`.
std::ptrdiff_t last_before(std::ptrdiff_t byte, std::size_t pitch, std::size_t count) {
    return count == 1 ? 0 : std::min(byte / static_cast<std::ptrdiff_t>(pitch), static_cast<std::ptrdiff_t>(count) - 1);
}

// Returns the byte at which the last row begins that does not begin after `byte`. Both count from the first texel.
std::ptrdiff_t row_at(const MemoryLocation& image, std::ptrdiff_t byte) {
    const std::ptrdiff_t slice =
        last_before(byte, image.slice_pitch, image.extent.depth) * static_cast<std::ptrdiff_t>(image.slice_pitch);
    return slice +
           last_before(byte - slice, image.pitch, image.extent.height) * static_cast<std::ptrdiff_t>(image.pitch);
}

// Returns true if a row of `a` shares bytes with a row of `b`. In each of them the rows are in ascending order and do
// not overlap, so only the last row of `b` that begins before the end of a row of `a` can share bytes with it.
bool rows_meet(const MemoryLocation& a, const MemoryLocation& b) {
    const auto length_of_a = static_cast<std::ptrdiff_t>(row_bytes(a.format, a.extent.width));
    const auto length_of_b = static_cast<std::ptrdiff_t>(row_bytes(b.format, b.extent.width));
    const std::ptrdiff_t end_of_b = row_at(b, std::numeric_limits<std::ptrdiff_t>::max()) + length_of_b;
    for (std::size_t z = 0; z < a.extent.depth; ++z) {
        for (std::size_t y = 0; y < a.extent.height; ++y) {
            const std::ptrdiff_t begin = a.address + z * a.slice_pitch + y * a.pitch - b.address;
            const std::ptrdiff_t end = begin + length_of_a;
            if (begin >= end_of_b) return false;
            if (end > 0 && row_at(b, end - 1) + length_of_b > begin) return true;
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

bool images_meet(const MemoryLocation& a, const MemoryLocation& b) {
    if (a.array != nullptr || b.array != nullptr) return share_texels(a, b);
    return rows_meet(a, b);
}

bool meets_source(const Texture& texture, const MemoryLocation& image) {
    const TextureState& state = *texture.state();
    if (image.kind == MemoryKind::array) return same_level(state, image);
    return state.memory.address != nullptr && rows_meet(image, state.memory);
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
