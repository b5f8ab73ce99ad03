#include "arrays/files/formats.h"

namespace texton::detail {

OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted) {
    if (!is_dds(path)) return open_with_oiio(path, wanted);
    OpenedImage opened = open_dds(path, wanted.color);
    opened.is_encoded = opened.has_parts = false;
    return opened;
}

}  // namespace texton::detail
