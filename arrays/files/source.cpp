#include "arrays/files/source.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "core/file_error.h"

namespace texton::detail {
namespace {

std::size_t common_length(std::size_t a, std::size_t a_length, std::size_t b, std::size_t b_length, std::size_t& from) {
    from = std::max(a, b);
    const std::size_t end = std::min(a + a_length, b + b_length);
    return end > from ? end - from : 0;
}

// Returns the largest multiple of `granule` whose bytes do not exceed `maximum`: at least `granule` and at most `side`.
// `bytes` is the size of one granule.
std::size_t grown(std::size_t granule, std::size_t side, std::size_t bytes, std::size_t maximum) {
    return std::min(side, granule * std::max<std::size_t>(1, maximum / std::max<std::size_t>(1, bytes)));
}

}  // namespace

Region common_part(const Region& a, const Region& b) noexcept {
    Region part;
    part.extent.width = common_length(a.offset.x, a.extent.width, b.offset.x, b.extent.width, part.offset.x);
    part.extent.height = common_length(a.offset.y, a.extent.height, b.offset.y, b.extent.height, part.offset.y);
    part.extent.depth = common_length(a.offset.z, a.extent.depth, b.offset.z, b.extent.depth, part.offset.z);
    return part;
}

bool is_empty(const Region& region) noexcept {
    return region.extent.width == 0 || region.extent.height == 0 || region.extent.depth == 0;
}

bool is_possible(Extent extent) noexcept {
    const auto fits = [](std::size_t side) { return side >= 1 && side <= kMaxSide; };
    return fits(extent.width) && fits(extent.height) && fits(extent.depth);
}

bool is_possible(Format format, Extent extent) noexcept {
    const std::size_t side = block_side(format);
    const auto blocks = [side](std::size_t texels) { return texels / side + (texels % side != 0); };
    // Divided instead of multiplied, because the product can exceed 64 bits.
    return (kMaxImageBytes - 1) / info(format).bytes / blocks(extent.width) / blocks(extent.height) >= extent.depth;
}

void fail_too_large(const char* object, const std::filesystem::path& path, Extent extent) {
    fail_file(object, path, fmt::format("has a size of {} texels, which exceeds the limit of 1 TiB", to_string(extent)),
              "The file may be damaged.");
}

ImageFrame frame_of(const char* object, Extent extent) {
    if (extent.width <= kMaxSide && extent.height <= kMaxSide)
        return {0, 0, static_cast<int>(extent.width), static_cast<int>(extent.height)};
    throw Error({.code = ErrorCode::overflow,
                 .object = object,
                 .problem = fmt::format("an image of {} texels was requested, but a side has at most {} texels",
                                        to_string(extent), kMaxSide),
                 .remedy = "Divide it into several images.",
                 .numbers = {{"width", extent.width}, {"height", extent.height}}});
}

void read_named(const std::string& name, const ImageSource& file, int level, const Region& box, std::byte* packed) {
    try {
        file.read(level, box, packed);
    } catch (const std::bad_alloc&) {
        throw Error({.code = ErrorCode::out_of_memory,
                     .object = "texton::ImageFile",
                     .problem = fmt::format("{}: out of memory while decoding {} texels", name, to_string(box)),
                     .remedy = "Free memory. The file may also be damaged.",
                     .numbers = {{"width", box.extent.width}, {"height", box.extent.height}}});
    }
}

std::vector<Region> cut(Format format, const Region& region, Extent granule, std::size_t max_bytes) {
    const Extent& all = region.extent;
    Extent box{std::min(granule.width, all.width), std::min(granule.height, all.height),
               std::min(granule.depth, all.depth)};
    const auto bytes = [&] { return packed_bytes(format, box); };
    box.width = grown(box.width, all.width, bytes(), max_bytes);
    if (box.width == all.width) box.height = grown(box.height, all.height, bytes(), max_bytes);
    if (box.width == all.width && box.height == all.height) {
        box.depth = grown(box.depth, all.depth, bytes(), max_bytes);
    }
    std::vector<Region> boxes;
    for (std::size_t z = 0; z < all.depth; z += box.depth) {
        for (std::size_t y = 0; y < all.height; y += box.height) {
            for (std::size_t x = 0; x < all.width; x += box.width) {
                boxes.push_back({{region.offset.x + x, region.offset.y + y, region.offset.z + z},
                                 {std::min(box.width, all.width - x), std::min(box.height, all.height - y),
                                  std::min(box.depth, all.depth - z)}});
            }
        }
    }
    return boxes;
}

void copy_box(Format format, std::byte* to, Extent to_extent, Offset to_offset, const std::byte* from,
              Extent from_extent, Offset from_offset, Extent box) {
    const std::size_t side = block_side(format);
    const std::size_t texel = info(format).bytes;
    const std::size_t row = row_bytes(format, box.width);
    const auto location = [&](Extent extent, Offset offset, std::size_t y, std::size_t z) {
        const std::size_t rows = row_count(format, extent.height);
        return ((offset.z + z) * rows + offset.y / side + y) * row_bytes(format, extent.width) +
               offset.x / side * texel;
    };
    for (std::size_t z = 0; z < box.depth; ++z) {
        for (std::size_t y = 0; y < row_count(format, box.height); ++y) {
            std::memcpy(to + location(to_extent, to_offset, y, z), from + location(from_extent, from_offset, y, z),
                        row);
        }
    }
}

int fitting_levels(std::span<const Extent> levels, bool volume) noexcept {
    const auto half = [](std::size_t side) { return std::max<std::size_t>(1, side / 2); };
    std::size_t count = 1;
    for (; count < levels.size(); ++count) {
        const Extent& last = levels[count - 1];
        if (last.width == 1 && last.height == 1 && (!volume || last.depth == 1)) break;
        const Extent fits{half(last.width), half(last.height), volume ? half(last.depth) : last.depth};
        if (levels[count] != fits) break;
    }
    return static_cast<int>(count);
}

}  // namespace texton::detail
