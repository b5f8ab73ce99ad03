#include "arrays/files/formats.h"

namespace texton::detail {

OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted) {
    const Container container = container_of(path);
    if (container == Container::none) return open_with_oiio(path, wanted);
    OpenedImage opened = container == Container::dds ? open_dds(path, wanted.color) : open_ktx2(path, wanted.color);
    opened.is_encoded = opened.has_parts = false;
    return opened;
}

}  // namespace texton::detail
