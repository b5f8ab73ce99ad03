#include <texton/image.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <texton/error.h>

#include "arrays/files/formats.h"
#include "arrays/files/oiio.h"
#include "arrays/files/stored_texels.h"

namespace texton {
namespace {

using detail::fail_file;

constexpr const char* kRead = "texton::read_image";
constexpr const char* kWrite = "texton::write_image";

// Returns true if the packed texels of a box follow each other among those of its level.
bool is_one_run(const Region& box, const Extent& level) noexcept {
    return box.extent.width == level.width && (box.extent.depth == 1 || box.extent.height == level.height);
}

// Reads all boxes of the first level. The texels grow with what was read, because the header of a damaged file can
// specify any size. A box that is not too large for this is read to its place.
std::vector<std::byte> texels_of(const detail::ImageSource& file) {
    const Format format = file.format();
    const Extent extent = file.level(0);
    const std::size_t row = row_bytes(format, extent.width);
    std::vector<std::byte> texels;
    std::unique_ptr<std::byte[]> part;
    std::size_t part_bytes = 0;
    for (const Region& box : file.boxes(0, detail::kBandBytes)) {
        const auto& [offset, size] = box;
        const std::size_t bytes = packed_bytes(format, size);
        const std::size_t end = ((offset.z + size.depth - 1) * extent.height + offset.y + size.height) * row;
        const auto grow = [&] { texels.resize(std::max(texels.size(), end)); };
        if (!texels.empty()) texels.reserve(packed_bytes(format, extent));
        if (bytes <= detail::kBandBytes && is_one_run(box, extent)) {
            grow();
            file.read(0, box, texels.data() + end - bytes);
            continue;
        }
        if (bytes > part_bytes) {
            part = nullptr;  // before the larger part is allocated
            part = std::make_unique_for_overwrite<std::byte[]>(bytes);
            part_bytes = bytes;
        }
        file.read(0, box, part.get());
        if (texels.empty()) texels.reserve(packed_bytes(format, extent));
        grow();
        detail::copy_box(format, texels.data(), extent, offset, part.get(), size, {}, size);
    }
    return texels;
}

void write_whole(const std::filesystem::path& path, Format format, Extent extent, std::span<const std::byte> texels) {
    const FormatInfo& row = info(format);
    if (row.oiio.empty()) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kWrite,
                     .problem = std::string(row.name) + " cannot be stored in image files",
                     .remedy = "Convert the texels to a plain format first."});
    }
    if (!detail::is_possible(extent) || texels.size() != packed_bytes(format, extent)) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kWrite,
                     .problem = std::to_string(texels.size()) + " bytes do not match " + to_string(extent) +
                                " texels of " + std::string(row.name),
                     .remedy = "Pass tightly packed rows and dimensions of at least 1.",
                     .numbers = {{"bytes", texels.size()}, {"width", extent.width}, {"height", extent.height}}});
    }

    detail::ImageFileOutput output(kWrite, path);
    OIIO::ImageSpec spec(static_cast<int>(extent.width), static_cast<int>(extent.height), row.channels,
                         detail::channel_type(format));
    spec.depth = static_cast<int>(extent.depth);
    spec.full_depth = spec.depth;
    spec.attribute("oiio:UnassociatedAlpha", 1);
    if (row.kind == FormatKind::srgb) spec.attribute("oiio:ColorSpace", "sRGB");
    if (spec.depth > 1 && !output->supports("volumes")) {
        fail_file(kWrite, path, "is of a kind that cannot hold volumes", "Write each slice to its own file.");
    }
    // OpenImageIO drops the channels silently if the kind of file does not support them.
    if (row.channels != 1 && !output->supports("alpha") && !output->supports("nchannels")) {
        fail_file(kWrite, path, "is of a kind that cannot hold " + std::string(row.name), detail::other_kinds(format));
    }
    if (spec.depth == 1) output.expect_texel_writer();
    output.open({&spec, 1});
    if (output->spec().format != spec.format || output->spec().nchannels != spec.nchannels) {
        fail_file(kWrite, path, "is of a kind that cannot hold " + std::string(row.name), detail::other_kinds(format));
    }
    if (detail::TexelWriter* const writer = output.texel_writer(); writer != nullptr) {
        writer->write(0, extent.height, texels.data());
    } else {
        output.require_written(output->write_image(spec.format, texels.data()));
    }
    output.complete();
}

}  // namespace

Image read_image(const std::filesystem::path& path, const ReadOptions& options) {
    return detail::guarded(kRead, path, [&] {
        try {
            const detail::OpenedImage opened =
                detail::file_opener(options)->open_first_image(path, {.color = ImageColor::linear});
            Image image;
            image.format = opened.file->format();
            image.extent = opened.file->level(0);
            image.file_channels = static_cast<int>(opened.metadata.channels.size());
            image.texels = texels_of(*opened.file);
            return image;
        } catch (const Error& error) {
            throw detail::renamed(error, kRead);
        }
    });
}

void write_image(const std::filesystem::path& path, Format format, Extent extent, std::span<const std::byte> texels) {
    detail::guarded(kWrite, path, [&] { write_whole(path, format, extent, texels); });
}

}  // namespace texton
