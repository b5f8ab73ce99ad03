#include <utility>

#include <fmt/format.h>

#include "arrays/files/formats.h"
#include "arrays/files/layout.h"
#include "arrays/files/oiio.h"

namespace texton::detail {

OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted) {
    const Container container = container_of(path);
    if (container == Container::none) return open_with_oiio(path, wanted);
    OpenedImage opened = container == Container::dds ? open_dds(path, wanted.color) : open_ktx2(path, wanted.color);
    opened.is_encoded = opened.has_parts = false;
    return opened;
}

OpenedImage open_first_image(const std::filesystem::path& path, const FilePart& wanted) {
    const Container container = container_of(path);
    if (container == Container::none) return open_with_oiio(path, wanted);
    OpenedImage opened = open_file(path, wanted);
    const bool has_blocks = block_side(opened.file->format()) > 1;
    if (has_blocks && container == Container::ktx2) {
        fail_file("texton::read_image", path, fmt::format("contains blocks of {}", name(opened.file->format())),
                  "Read them with open_image().");
    }
    if (has_blocks || opened.planar) return open_with_oiio(path, wanted);  // which decodes the blocks of DDS
    if (opened.kind != ArrayKind::array_3d) opened.file = slice_of(std::move(opened.file), 0);
    return opened;
}

}  // namespace texton::detail
