#include "viewer/model/compared_file.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include <texton/array.h>

#include "arrays/files/decoded_blocks.h"
#include "viewer/model/file_reading.h"
#include "viewer/model/host_image.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

bool is_planar(const ImageFile& file) { return info(file.info().format).layout == FormatLayout::planar; }

}  // namespace

Format with_srgb(Format format, bool srgb) {
    const std::string_view unorm = "_unorm", encoded = "_srgb";
    const std::string_view from = srgb ? unorm : encoded;
    std::string name(texton::name(format));
    if (!name.ends_with(from)) return format;
    name.replace(name.size() - from.size(), from.size(), srgb ? encoded : unorm);
    return format_named(name).value_or(format);
}

ComparedFile::ComparedFile(std::string path, const ImageOptions& options, const ComparedImages& images)
    : path_(std::move(path)), options_(options) {
    options_.upright = false;
    const ImageFile first = open_image(path_, options_, file_reading());
    if (is_planar(first)) {
        parts_.push_back(first);
        const bool all = images.all_frames && !images.only_first;
        first_frame_ = options_.raw ? options_.raw->frame : options_.frame;
        frames_ = all ? first.metadata().frames : 1;
        return;
    }
    add_part(first);
    const auto parts = static_cast<int>(first.metadata().parts);
    if (images.only_first) images_.resize(1);
    for (int part = 1; part < parts && images.all_parts && !images.only_first; ++part) add_part(open(part));
}

ImageFile ComparedFile::open(int part) const {
    ImageOptions options = options_;
    options.part = part;
    return open_image(path_, options, file_reading());
}

ImageFile ComparedFile::open_frame(std::size_t frame) const {
    ImageOptions options = options_;
    (options.raw ? options.raw->frame : options.frame) = frame;
    return open_image(path_, options, file_reading());
}

// Returns a part of the file with its blocks decoded.
ImageFile ComparedFile::decoded(std::size_t part) const {
    const ImageFile& file = parts_[part];
    const Format format = file.info().format;
    if (block_side(format) == 1) return file;
    ImageOptions options = options_;
    if (parts_.size() > 1) options.part = static_cast<int>(part);
    options.format = detail::decoded_format(format);
    return open_image(path_, options, file_reading());
}

ComparedFile::Index ComparedFile::at(std::size_t index) const {
    if (frames_ == 0) return images_[index];
    return {.frame = first_frame_ + index / 2, .plane = static_cast<int>(index % 2)};
}

void ComparedFile::add_part(const ImageFile& file) {
    const std::size_t part = parts_.size();
    const std::string name = part == 0 ? path_ : fmt::format("{}, part {}", path_, part);
    for (const std::string& sentence : file.conversions()) {
        const bool left_out = sentence.starts_with("Only ") && sentence.find(" channels ") != std::string::npos;
        if (sentence.starts_with("Levels from") || left_out)
            notes_.push_back(fmt::format("{}: {}", name, with_option_names(sentence)));
    }
    const ArrayInfo& info = file.info();
    for (Index index{.part = part}; index.level < info.levels; ++index.level) {
        for (std::size_t layer = 0; layer < (is_layered(info.kind) ? info.layers : 1); ++layer) {
            if (is_layered(info.kind)) index.layer = layer;
            for (int face = 0; face < (is_cube(info.kind) ? 6 : 1); ++face) {
                if (is_cube(info.kind)) index.face = face;
                images_.push_back(index);
            }
        }
    }
    parts_.push_back(file);
}

std::string ComparedFile::name(std::size_t index) const {
    if (size() == 1) return {};
    const Index image = at(index);
    std::string out;
    const auto add = [&out](const char* what, auto number) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, number);
    };
    if (frames_ > 1) add("frame", image.frame);
    if (image.plane) return out + (out.empty() ? "" : ", ") + (*image.plane == 0 ? "luma" : "chroma");
    if (parts_.size() > 1) add("part", image.part);
    if (image.layer) add("layer", *image.layer);
    if (image.face) add("face", *image.face);
    if (parts_[image.part].info().levels > 1) add("level", image.level);
    return out;
}

std::string ComparedFile::text() const {
    if (size() == 1) return "1 image";
    const ArrayInfo& info = parts_.front().info();
    std::string out = fmt::format("{} images", size());
    if (frames_ > 0) return out + fmt::format(", {} frame{}", frames_, frames_ == 1 ? "" : "s");
    if (parts_.size() > 1) out += fmt::format(", {} parts", parts_.size());
    if (parts_.size() == 1 && is_layered(info.kind)) out += fmt::format(", {} layers", info.layers);
    if (parts_.size() == 1 && is_cube(info.kind)) out += ", 6 faces";
    if (parts_.size() == 1 && info.levels > 1) out += fmt::format(", {} levels", info.levels);
    return out;
}

Format ComparedFile::format(std::size_t index) const {
    const Index image = at(index);
    const ImageFile& file = parts_[image.part];
    return image.plane ? file.plane(*image.plane).info().format : file.info().format;
}

std::size_t ComparedFile::max_texels() const {
    std::size_t texels = 0;
    for (const ImageFile& part : parts_) {
        const Extent& extent = part.info().extent;
        texels = std::max(texels, extent.width * extent.height * extent.depth);
    }
    return texels;
}

const std::string& ComparedFile::color_space(std::size_t index) const {
    return parts_[at(index).part].metadata().color_space;
}

Image ComparedFile::read(std::size_t index) const {
    const Index image = at(index);
    const ImageFile file = image.plane ? open_frame(image.frame).plane(*image.plane) : decoded(image.part);
    Image out{.format = with_srgb(file.info().format, false),
              .extent = level_extent(file.info(), image.level),
              .texels = {},
              .file_channels = static_cast<int>(file.metadata().read_channels.size())};
    if (is_layered(file.info().kind) || is_cube(file.info().kind)) out.extent.depth = 1;
    out.texels =
        verify::read_texels(file, {.level = image.level, .layer = image.layer, .face = image.face}, out.extent);
    return out;
}

}  // namespace texton::viewer
