#include "tests/support/arrays.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace texton::test {
namespace {

constexpr std::array kKinds{ArrayKind::array_1d,       ArrayKind::array_2d,   ArrayKind::array_3d,
                            ArrayKind::layered_1d,     ArrayKind::layered_2d, ArrayKind::cubemap,
                            ArrayKind::cubemap_layered};

constexpr std::array kSizes{Format::r8_uint,    Format::rg8_snorm,  Format::rgba8_unorm,
                            Format::rgba8_srgb, Format::rg32_float, Format::rgba32_float,
                            Format::bc1_unorm,  Format::bc7_srgb,   Format::rgb10a2_unorm};

// Width and height of a block in texels and its size in bytes, from the definition of the formats.
struct Unit {
    std::size_t side;
    std::size_t bytes;
};

Unit unit_of(Format format) {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::block) return {4, row.bytes};
    if (row.layout == FormatLayout::packed)
        return {1, std::accumulate(row.cuda.bits.begin(), row.cuda.bits.end(), std::size_t{0}) / 8};
    return {1, std::size_t{row.channels} * row.bits / 8};
}

std::size_t units(std::size_t texels, std::size_t side) { return texels / side + (texels % side != 0); }

int whole_chain(Extent extent) {
    return static_cast<int>(std::bit_width(std::max({extent.width, extent.height, extent.depth})));
}

ArrayInfo example(ArrayKind kind, Format format, Extent extent, std::size_t layers, int levels) {
    if (is_flat(kind)) extent.height = 1;
    if (is_cube(kind)) extent.height = extent.width;
    if (kind != ArrayKind::array_3d) extent.depth = 1;
    return {.format = format,
            .extent = extent,
            .kind = kind,
            .layers = is_layered(kind) ? layers : 1,
            .levels = levels > 0 ? std::min(levels, whole_chain(extent)) : whole_chain(extent)};
}

// Extent of a region along one dimension.
struct Span {
    std::size_t first;
    std::size_t count;
};

Span random_span(Random& random, std::size_t length, std::size_t side) {
    const std::size_t blocks = units(length, side);
    const std::size_t first = random.below(blocks);
    const std::size_t count = random.between(1, blocks - first);
    return {first * side, std::min(count * side, length - first * side)};
}

std::size_t random_offset(Random& random, std::size_t length, std::size_t size, std::size_t side) {
    // A region that does not end with a whole block must end at the edge.
    if (size % side != 0) return length - size;
    return random.between(0, (length - size) / side) * side;
}

}  // namespace

std::span<const ArrayKind> all_kinds() { return kKinds; }

std::span<const Format> array_formats() {
    static const std::vector<Format> all = [] {
        std::vector<Format> formats;
        for (const FormatInfo& row : texton::formats()) {
            if (row.layout != FormatLayout::planar) formats.push_back(row.format);
        }
        return formats;
    }();
    return all;
}

std::span<const Format> formats_of_every_size() { return kSizes; }

bool is_block_compressed(Format format) { return info(format).layout == FormatLayout::block; }

bool has_arrays(ArrayKind kind, Format format) { return !(is_flat(kind) && is_block_compressed(format)); }

std::string describe(const ArrayInfo& info) {
    std::string text{name(info.kind)};
    text += ' ';
    text += name(info.format);
    text += ' ' + to_string(info.extent);
    if (is_layered(info.kind)) text += ", " + std::to_string(info.layers) + " layers";
    if (info.levels != 1) text += ", " + std::to_string(info.levels) + " levels";
    return text;
}

ArrayInfo small_info(ArrayKind kind, Format format) {
    return example(kind, format, is_cube(kind) ? Extent{11} : Extent{13, 7, 5}, 3, 0);
}

ArrayInfo flat_info(ArrayKind kind, Format format) {
    ArrayInfo info = small_info(kind, format);
    info.levels = 1;
    return info;
}

std::vector<ArrayInfo> example_infos(ArrayKind kind, Format format) {
    std::vector<ArrayInfo> infos;
    const auto add = [&](Extent extent, std::size_t layers, int levels) {
        const ArrayInfo info = example(kind, format, extent, layers, levels);
        if (std::find(infos.begin(), infos.end(), info) == infos.end()) infos.push_back(info);
    };
    add({1, 1, 1}, 1, 1);
    add({1, 1, 1}, 2, 1);
    add({2, 3, 2}, 1, 0);
    add({1, 19, 3}, 2, 0);
    add({17, 1, 2}, 2, 0);
    add({8, 8, 8}, 2, 0);
    add({16, 4, 4}, 5, 2);
    add({33, 29, 3}, 2, 3);
    add({13, 7, 5}, 3, 1);
    return infos;
}

Extent level_box(const ArrayInfo& info, int level) {
    const auto half = [&](std::size_t side) { return std::max<std::size_t>(side >> level, 1); };
    const std::size_t faces = is_cube(info.kind) ? 6 : 1;
    const bool volume = info.kind == ArrayKind::array_3d;
    return {half(info.extent.width), half(info.extent.height), volume ? half(info.extent.depth) : info.layers * faces};
}

std::size_t box_bytes(Format format, Extent extent) {
    const Unit unit = unit_of(format);
    return units(extent.width, unit.side) * units(extent.height, unit.side) * extent.depth * unit.bytes;
}

Region random_region(Random& random, Format format, Extent extent) {
    const std::size_t side = unit_of(format).side;
    const Span x = random_span(random, extent.width, side);
    const Span y = random_span(random, extent.height, side);
    const Span z = random_span(random, extent.depth, 1);
    return {{x.first, y.first, z.first}, {x.count, y.count, z.count}};
}

Region random_region(Random& random, Format format, Extent extent, Extent size) {
    const std::size_t side = unit_of(format).side;
    return {
        {random_offset(random, extent.width, size.width, side), random_offset(random, extent.height, size.height, side),
         random_offset(random, extent.depth, size.depth, 1)},
        size};
}

Bytes random_texels(Random& random, Format format, std::size_t bytes) {
    Bytes texels(bytes);
    for (std::byte& byte : texels) byte = static_cast<std::byte>(random.bits() >> 32);
    const FormatInfo& row = info(format);
    if (row.kind != FormatKind::floating || row.layout != FormatLayout::plain) return texels;
    // Exponents from the middle of the range, so that no value is infinite, NaN or denormal.
    const std::size_t channel = row.bits / 8;
    for (std::size_t at = 0; at + channel <= bytes; at += channel) {
        if (channel == 2) {
            const auto value = static_cast<std::uint16_t>((random.bits() & 0x83FF) | (8 + random.below(14)) << 10);
            std::memcpy(texels.data() + at, &value, sizeof value);
        } else {
            const auto value =
                static_cast<std::uint32_t>((random.bits() & 0x807FFFFF) | (117 + random.below(20)) << 23);
            std::memcpy(texels.data() + at, &value, sizeof value);
        }
    }
    return texels;
}

ReferenceArray::ReferenceArray(const ArrayInfo& info, unsigned seed) : info_(info) {
    Random random(seed);
    for (int level = 0; level < info.levels; ++level) {
        levels_.push_back(random_texels(random, info.format, box_bytes(info.format, extent(level))));
    }
}

// Calls visit(byte in the level, byte in the packed region, bytes) for each texel or block of the region.
template <class Visit>
void ReferenceArray::each_texel(int level, const Region& region, Visit visit) const {
    const Unit unit = unit_of(info_.format);
    const Extent whole = extent(level);
    const std::size_t row = units(whole.width, unit.side);
    const std::size_t rows = units(whole.height, unit.side);
    std::size_t packed = 0;
    for (std::size_t z = 0; z < region.extent.depth; ++z) {
        for (std::size_t y = 0; y < units(region.extent.height, unit.side); ++y) {
            for (std::size_t x = 0; x < units(region.extent.width, unit.side); ++x) {
                const std::size_t column = region.offset.x / unit.side + x;
                const std::size_t line = region.offset.y / unit.side + y;
                const std::size_t at = ((region.offset.z + z) * rows + line) * row + column;
                visit(at * unit.bytes, packed, unit.bytes);
                packed += unit.bytes;
            }
        }
    }
}

Bytes ReferenceArray::read(int level, const Region& region) const {
    Bytes texels(box_bytes(info_.format, region.extent));
    const Bytes& from = this->level(level);
    each_texel(level, region, [&](std::size_t at, std::size_t packed, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) texels.at(packed + i) = from.at(at + i);
    });
    return texels;
}

void ReferenceArray::write(int level, const Region& region, std::span<const std::byte> texels) {
    Bytes& to = levels_.at(static_cast<std::size_t>(level));
    each_texel(level, region, [&](std::size_t at, std::size_t packed, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) to.at(at + i) = texels[packed + i];
    });
}

void ReferenceArray::fill(int level, const Region& region, std::span<const std::byte> texel) {
    Bytes& to = levels_.at(static_cast<std::size_t>(level));
    each_texel(level, region, [&](std::size_t at, std::size_t, std::size_t bytes) {
        for (std::size_t i = 0; i < bytes; ++i) to.at(at + i) = texel[i % texel.size()];
    });
}

void upload(const Array& array, const ReferenceArray& reference) {
    for (int level = 0; level < reference.info().levels; ++level) {
        upload(array.view({.level = level}), reference.level(level));
    }
}

testing::AssertionResult holds(const Array& array, const ReferenceArray& reference) {
    for (int level = 0; level < reference.info().levels; ++level) {
        const testing::AssertionResult same =
            same_bytes(download(array.view({.level = level})), reference.level(level));
        if (!same) return testing::AssertionFailure() << "level " << level << ": " << same.message();
    }
    return testing::AssertionSuccess();
}

}  // namespace texton::test
