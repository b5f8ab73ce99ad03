#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/container.h"
#include "arrays/files/convert.h"
#include "arrays/files/dds_header.h"
#include "arrays/files/formats.h"
#include "arrays/files/oiio.h"
#include "arrays/files/stored_texels.h"

// The headers of a DDS file are followed by the tightly packed texels. Layers and faces follow each other, each with
// all its levels. A volume stores level by level, each with all its slices. A planar image stores luma, then chroma.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kSave = "texton::save";

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
        const std::uint64_t row = (extent.width + side - 1) / side * stored_bytes(info.format, contents.order);
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
    fail_damaged_dds(
        path, fmt::format("it has {} bytes, which are too few for {} texels of {} in {} slices and {} levels",
                          file_bytes, to_string(info.extent), name(info.format), slice_count(info, 0), info.levels));
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
    opened.file = stored_file(path, identity, format, srgb, contents.order, std::move(levels));
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
    if (plane_count(contents.info.format) > 1) {
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
                  "Use .ktx2, or open the image with ImageOptions::format = rgba8_srgb.");
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
