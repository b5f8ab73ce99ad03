#include "viewer/cli/compared_file.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/array.h>
#include <texton/copy.h>

#include "viewer/model/file_reading.h"
#include "viewer/model/host_image.h"
#include "viewer/render/stored_texels.h"
#include "viewer/text/error_text.h"

namespace texton::cli {
namespace {

bool is_planar(const ImageFile& file) { return info(file.info().format).layout == FormatLayout::planar; }

Image decoded(const Image& blocks) {
    Array array(Device::cpu(), {.format = blocks.format, .extent = blocks.extent});
    copy(array.view(), host_view(blocks.texels.data(), blocks.format, blocks.extent));
    std::vector<viewer::Color> values(blocks.extent.width * blocks.extent.height);
    viewer::StoredTexels(viewer::Document::of(std::move(array), {}), {})
        .read({0, 0, blocks.extent.width, blocks.extent.height}, values);
    Image out{.format = Format::rgba32_float, .extent = blocks.extent, .texels = {}, .file_channels = 4};
    const auto bytes = std::as_bytes(std::span(values));
    out.texels.assign(bytes.begin(), bytes.end());
    return out;
}

}  // namespace

ComparedFile::ComparedFile(std::string path, const ImageOptionText& selection, bool only_first)
    : path_(std::move(path)), options_(selection.options()) {
    options_.color = ImageColor::linear;
    options_.upright = false;
    const ImageFile first = open_image(path_, options_, viewer::file_reading());
    if (is_planar(first)) {
        parts_.push_back(first);
        const bool all = !selection.selects_frame() && !only_first;
        first_frame_ = options_.raw ? options_.raw->frame : options_.frame;
        frames_ = all ? first.metadata().frames : 1;
        return;
    }
    add_part(first);
    const auto parts = static_cast<int>(first.metadata().parts);
    // read_image() decodes the blocks of DDS, and refuses those of KTX2.
    const bool has_blocks = block_side(first.info().format) > 1 && first.metadata().file_kind != "dds";
    is_plain_ = parts <= 1 && size() == 1 && !has_blocks && options_.channels.empty();
    if (only_first) images_.resize(1);
    for (int part = 1; part < parts && !only_first && !selection.selects_part(); ++part) add_part(open(part));
}

ImageFile ComparedFile::open(int part) const {
    ImageOptions options = options_;
    options.part = part;
    return open_image(path_, options, viewer::file_reading());
}

ImageFile ComparedFile::open_frame(std::size_t frame) const {
    ImageOptions options = options_;
    (options.raw ? options.raw->frame : options.frame) = frame;
    return open_image(path_, options, viewer::file_reading());
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
            notes_.push_back(fmt::format("{}: {}", name, viewer::with_option_names(sentence)));
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

Image ComparedFile::read(std::size_t index) const {
    if (is_plain_) return read_image(path_, viewer::file_reading());
    const Index image = at(index);
    const ImageFile file = image.plane ? open_frame(image.frame).plane(*image.plane) : parts_[image.part];
    Image out{.format = file.info().format,
              .extent = level_extent(file.info(), image.level),
              .texels = {},
              .file_channels = static_cast<int>(file.metadata().read_channels.size())};
    if (is_layered(file.info().kind) || is_cube(file.info().kind)) out.extent.depth = 1;
    out.texels =
        verify::read_texels(file, {.level = image.level, .layer = image.layer, .face = image.face}, out.extent);
    return block_side(out.format) > 1 ? decoded(out) : out;
}

}  // namespace texton::cli
