#include "viewer/cli/compared_file.h"

#include <algorithm>

#include <fmt/format.h>

#include <texton/array.h>
#include <texton/copy.h>

#include "viewer/model/file_reading.h"
#include "viewer/render/stored_texels.h"

namespace texton::cli {
namespace {

constexpr std::size_t kComparedChannels = 4;

ImageOptions options_of(int part) { return {.color = ImageColor::linear, .upright = false, .part = part}; }

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

ComparedFile::ComparedFile(std::string path, bool only_first) : path_(std::move(path)) {
    const ImageFile first = open_image(path_, options_of(0), viewer::file_reading());
    add_part(0, first);
    const auto parts = static_cast<int>(first.metadata().parts);
    // read_image() decodes the blocks of DDS, and refuses those of KTX2.
    const bool has_blocks = block_side(first.info().format) > 1 && first.metadata().file_kind != "dds";
    is_plain_ = parts <= 1 && size() == 1 && !has_blocks;
    if (only_first) images_.resize(1);
    for (int part = 1; part < parts && !only_first; ++part)
        add_part(part, open_image(path_, options_of(part), viewer::file_reading()));
}

void ComparedFile::add_part(int part, const ImageFile& file) {
    const std::string name = part == 0 ? path_ : fmt::format("{}, part {}", path_, part);
    if (const std::size_t channels = file.metadata().channels.size(); channels > kComparedChannels)
        notes_.push_back(fmt::format("{}: only {} of {} channels are compared.", name, kComparedChannels, channels));
    for (const std::string& sentence : file.conversions())
        if (sentence.starts_with("Levels from")) notes_.push_back(fmt::format("{}: {}", name, sentence));
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
    const Index& image = images_[index];
    std::string out;
    const auto add = [&out](const char* what, auto number) {
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, number);
    };
    if (parts_.size() > 1) add("part", image.part);
    if (image.layer) add("layer", *image.layer);
    if (image.face) add("face", *image.face);
    if (parts_[static_cast<std::size_t>(image.part)].info().levels > 1) add("level", image.level);
    return out;
}

std::string ComparedFile::text() const {
    if (size() == 1) return "1 image";
    const ArrayInfo& info = parts_.front().info();
    std::string out = fmt::format("{} images", size());
    if (parts_.size() > 1) out += fmt::format(", {} parts", parts_.size());
    if (parts_.size() == 1 && is_layered(info.kind)) out += fmt::format(", {} layers", info.layers);
    if (parts_.size() == 1 && is_cube(info.kind)) out += ", 6 faces";
    if (parts_.size() == 1 && info.levels > 1) out += fmt::format(", {} levels", info.levels);
    return out;
}

Image ComparedFile::read(std::size_t index) const {
    if (is_plain_) return read_image(path_, viewer::file_reading());
    const Index& image = images_[index];
    const ImageFile& file = parts_[static_cast<std::size_t>(image.part)];
    Image out{.format = file.info().format,
              .extent = level_extent(file.info(), image.level),
              .texels = {},
              .file_channels = static_cast<int>(file.metadata().channels.size())};
    if (is_layered(file.info().kind) || is_cube(file.info().kind)) out.extent.depth = 1;
    out.texels.resize(packed_bytes(out.format, out.extent));
    file.read({.level = image.level, .layer = image.layer, .face = image.face}, out.texels);
    return block_side(out.format) > 1 ? decoded(out) : out;
}

}  // namespace texton::cli
