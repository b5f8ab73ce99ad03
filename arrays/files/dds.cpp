#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/container.h"
#include "arrays/files/convert.h"
#include "arrays/files/dds_header.h"
#include "arrays/files/expanded_texels.h"
#include "arrays/files/formats.h"
#include "arrays/files/oiio.h"
#include "arrays/files/stored_texels.h"

// The headers of a DDS file are followed by a palette, if there is one, and by the tightly packed texels. Layers and
// faces follow each other, each with all its levels. A volume stores level by level, each with all its slices. A planar
// image stores luma, then chroma, or both interleaved.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kSave = "texton::save";

bool is_paired(DdsPacking packing) noexcept { return packing != DdsPacking::single && packing != DdsPacking::indices; }

// Returns the bytes of a row of texels or blocks.
std::uint64_t stored_row(const DdsContents& contents, std::size_t width) {
    if (is_paired(contents.packing)) return (std::uint64_t{width} + 1) / 2 * 4;
    if (contents.packing == DdsPacking::indices) return width;
    const std::size_t side = block_side(contents.info.format);
    return (width + side - 1) / side * stored_bytes(contents.info.format, contents.order);
}

// Returns the location of each level, or nothing if the file is too short. Everything is checked against the length of
// the file before memory is allocated.
std::optional<std::vector<StoredLevel>> locations(const DdsContents& contents, std::uint64_t file_bytes) {
    const ArrayInfo& info = contents.info;
    const std::size_t side = block_side(info.format);
    const bool volume = info.kind == ArrayKind::array_3d;
    const std::size_t slices = volume ? 1 : slice_count(info, 0);
    const std::uint64_t available =
        (std::max<std::uint64_t>(file_bytes, contents.header_bytes) - contents.header_bytes) / slices;
    std::vector<StoredLevel> levels;
    std::uint64_t used = 0;
    for (int level = 0; level < info.levels; ++level) {
        const Extent extent = level_extent(info, level);
        const std::uint64_t rows = (extent.height + side - 1) / side;
        const std::uint64_t row = stored_row(contents, extent.width);
        if (row > available / rows) return std::nullopt;
        const std::uint64_t slice = rows * row;
        if (slice > (available - used) / extent.depth) return std::nullopt;
        levels.push_back({extent, contents.header_bytes + used, slice});
        used += slice * extent.depth;
    }
    if (volume) return levels;
    for (StoredLevel& level : levels) {
        level.stride = used;
        level.extent.depth = slices;
    }
    return levels;
}

[[noreturn]] void too_short(const std::filesystem::path& path, const ArrayInfo& info, std::uint64_t file_bytes) {
    const std::size_t slices = slice_count(info, 0);
    std::string texels = fmt::format("{} texels of {}", to_string(info.extent), name(info.format));
    if (slices > 1 && info.kind != ArrayKind::array_3d) texels += fmt::format(" in {} slices", slices);
    if (info.levels > 1) texels += fmt::format(" with {} levels", info.levels);
    fail_damaged_dds(path, fmt::format("it has {} bytes, which are too few for {}", file_bytes, texels));
}

// Returns the location of each level. Some writers count the faces of cubemaps in place of the cubes: then the file
// holds a sixth of the layers.
std::vector<StoredLevel> levels_of(const std::filesystem::path& path, DdsContents& contents, std::uint64_t file_bytes) {
    if (auto levels = locations(contents, file_bytes)) return *std::move(levels);
    ArrayInfo& info = contents.info;
    if (info.kind == ArrayKind::cubemap_layered && info.layers % 6 == 0) {
        DdsContents cubes = contents;
        cubes.info.layers /= 6;
        if (cubes.info.layers == 1) cubes.info.kind = ArrayKind::cubemap;
        if (auto levels = locations(cubes, file_bytes)) {
            cubes.conversions.push_back(
                fmt::format("The header specifies {} cubes, but the file has {} faces.", info.layers, info.layers));
            contents = std::move(cubes);
            return *std::move(levels);
        }
    }
    too_short(path, info, file_bytes);
}

// Returns the texels of a layer of interleaved luma and chroma.
UnitLayout unit_of(DdsPacking packing, bool chroma) {
    const bool luma_first = packing == DdsPacking::yuy2;
    if (chroma) return luma_first ? UnitLayout{1, {{{1, 3}}}} : UnitLayout{1, {{{0, 2}}}};
    return luma_first ? UnitLayout{2, {{{0}, {2}}}} : UnitLayout{2, {{{1}, {3}}}};
}

UnitLayout unit_of_colors(DdsPacking packing) {
    constexpr std::int8_t kOpaque = UnitLayout::kOpaque;
    if (packing == DdsPacking::rgbg) return {2, {{{0, 1, 2, kOpaque}, {0, 3, 2, kOpaque}}}};
    return {2, {{{1, 0, 3, kOpaque}, {1, 2, 3, kOpaque}}}};
}

// Sets the planes of an image whose luma and chroma are interleaved.
void open_interleaved(const std::filesystem::path& path, const FileIdentity& identity, const DdsContents& contents,
                      OpenedImage& opened) {
    const ArrayInfo& info = contents.info;
    const auto levels = locations(contents, identity.bytes);
    if (!levels) too_short(path, info, identity.bytes);
    const Extent pairs{info.extent.width / 2, info.extent.height};
    if (!is_possible(Format::rgba8_unorm, pairs)) fail_too_large(kOpen, path, info.extent);
    StoredLevel level = levels->front();
    level.extent.width = pairs.width;
    const ImageSourcePtr units =
        stored_file(path, identity, Format::rgba8_unorm, false, StoredOrder::same, {std::move(level)});
    opened.file = expanded_units(units, unit_of(contents.packing, false), plane_info(info.format, 0).format, false,
                                 {info.extent});
    opened.chroma =
        expanded_units(units, unit_of(contents.packing, true), plane_info(info.format, 1).format, false, {pairs});
    opened.planar = info.format;
    opened.data = opened.displays = {opened.metadata.data};
}

// Returns the colors of a palette. Some writers leave all alphas 0, which would make all texels transparent.
Palette palette_of(const std::filesystem::path& path, DdsContents& contents) {
    const auto bytes = bytes_at(kOpen, path, contents.header_bytes - kDdsPaletteBytes, kDdsPaletteBytes);
    if (bytes.size() < kDdsPaletteBytes) fail_damaged_dds(path, "its palette is truncated");
    Palette palette;
    std::memcpy(palette.data(), bytes.data(), kDdsPaletteBytes);
    if (std::ranges::all_of(palette, [](const auto& color) { return color[3] == std::byte{0}; })) {
        for (auto& color : palette) color[3] = std::byte{255};
        contents.conversions.emplace_back("All colors of the palette have alpha 0, which is read as 1.");
    }
    return palette;
}

// Sets the planes of the image.
void open_planes(const std::filesystem::path& path, const FileIdentity& identity, const DdsContents& contents,
                 OpenedImage& opened) {
    const ArrayInfo& info = contents.info;
    const std::uint64_t available =
        std::max<std::uint64_t>(identity.bytes, contents.header_bytes) - contents.header_bytes;
    ImageSourcePtr* const planes[] = {&opened.file, &opened.chroma};
    std::uint64_t used = 0;
    for (int index = 0; index < 2; ++index) {
        const PlaneInfo plane = plane_info(info.format, index);
        const Extent extent{info.extent.width / plane.divide_width, info.extent.height / plane.divide_height};
        const std::uint64_t row = extent.width * texton::info(plane.format).bytes;
        if (row > (available - used) / extent.height) too_short(path, info, identity.bytes);
        const std::uint64_t bytes = row * extent.height;
        if (bytes >= kMaxImageBytes) fail_too_large(kOpen, path, info.extent);
        *planes[index] = stored_file(path, identity, plane.format, false, StoredOrder::same,
                                     {{extent, contents.header_bytes + used, bytes}});
        used += bytes;
    }
    opened.planar = info.format;
    opened.data = opened.displays = {opened.metadata.data};
}

// Sets the texels of an image that is not planar.
void open_texels(const std::filesystem::path& path, const FileIdentity& identity, ImageColor color,
                 DdsContents& contents, OpenedImage& opened) {
    std::vector<StoredLevel> levels = levels_of(path, contents, identity.bytes);
    if (!is_possible(contents.info.format, levels.front().extent)) fail_too_large(kOpen, path, contents.info.extent);
    const Format stored = contents.info.format;
    if (info(stored).kind == FormatKind::srgb) opened.metadata.color_space = "sRGB";
    const Format format = color == ImageColor::by_metadata ? stored : with_srgb(stored, color == ImageColor::srgb);
    opened.kind = contents.info.kind;
    for (const StoredLevel& level : levels) opened.data.push_back(frame_of(kOpen, level.extent));
    opened.displays = opened.data;
    const bool srgb = info(format).kind == FormatKind::srgb || color == ImageColor::srgb;
    if (contents.packing == DdsPacking::single) {
        opened.file = stored_file(path, identity, format, srgb, contents.order, std::move(levels));
    } else if (contents.packing == DdsPacking::indices) {
        const Palette palette = palette_of(path, contents);
        opened.file =
            palette_colors(stored_file(path, identity, Format::r8_unorm, false, StoredOrder::same, std::move(levels)),
                           palette, format, srgb);
    } else {
        std::vector<Extent> extents;
        for (StoredLevel& level : levels) {
            extents.push_back(level.extent);
            level.extent.width = (level.extent.width + 1) / 2;
        }
        opened.file = expanded_units(
            stored_file(path, identity, Format::rgba8_unorm, false, StoredOrder::same, std::move(levels)),
            unit_of_colors(contents.packing), format, srgb, std::move(extents));
    }
}

void write_texels(const ImageState& image, ImageBands& bands, NewFile& writer) {
    const ArrayInfo& info = image.info;
    const bool volume = info.kind == ArrayKind::array_3d;
    const std::size_t items = volume ? 1 : slice_count(info, 0);
    for (std::size_t item = 0; item < items; ++item) {
        for (int level = 0; level < info.levels; ++level) {
            Region region = whole(image.file->level(level));
            if (!volume) region = {{0, 0, item}, {region.extent.width, region.extent.height, 1}};
            bands.write(*image.file, level, region, writer);
        }
    }
}

}  // namespace

OpenedImage open_dds(const std::filesystem::path& path, ImageColor color) {
    const FileIdentity identity = identity_of(path);
    DdsContents contents = dds_contents(path, bytes_at(kOpen, path, 0, kDdsHeaderBytes));
    OpenedImage opened;
    opened.metadata.file_kind = "dds";
    opened.metadata.data = opened.metadata.display = frame_of(kOpen, contents.info.extent);
    if (contents.packing == DdsPacking::yuy2 || contents.packing == DdsPacking::uyvy) {
        open_interleaved(path, identity, contents, opened);
    } else if (plane_count(contents.info.format) > 1) {
        open_planes(path, identity, contents, opened);
    } else {
        open_texels(path, identity, color, contents, opened);
    }
    opened.metadata.channels = contents.channels;
    if (!contents.channels.empty() && contents.channels.back() == "A") opened.metadata.alpha = contents.alpha;
    opened.conversions = std::move(contents.conversions);
    for (std::string& sentence : conversions_of(contents.order, contents.info.format)) {
        opened.conversions.push_back(std::move(sentence));
    }
    return opened;
}

void save_dds(const std::filesystem::path& path, const ImageState& image, const SaveOptions& options) {
    const ArrayInfo& info = image.info;
    if (!dds_holds(info.format)) {
        fail_file(kSave, path, "is of a kind that cannot hold " + std::string(name(info.format)),
                  fmt::format("Use .ktx2, or open the image with ImageOptions::format = {}.",
                              name(*nearest_savable(kSave, path, info.format))));
    }
    require_countable(path, info);
    NewFile writer(kSave, path);
    writer.write(dds_headers(info, image.metadata.alpha));
    if (plane_count(info.format) > 1) {
        ImageBands bands(image, packed_bytes(info.format, info.extent), options.progress);
        for (const ImageFile& plane : image.planes) {
            const ImageSource& texels = *plane.state()->file;
            bands.write(texels, 0, whole(texels.level(0)), writer);
        }
    } else {
        ImageBands bands(image, packed_bytes(info), options.progress);
        write_texels(image, bands, writer);
    }
    writer.complete(options.waits_for_disk);
}

}  // namespace texton::detail
