#pragma once
// What the readers and writers of DDS and KTX2 share.
#include <filesystem>
#include <string>
#include <vector>

#include "arrays/files/formats.h"
#include "arrays/files/stored_texels.h"

namespace texton::detail {

/// What the headers of a container specify.
struct ContainerContents {
    ArrayInfo info;
    StoredOrder order = StoredOrder::same;
    ImageAlpha alpha = ImageAlpha::straight;  ///< of texels with four channels
    std::string color_space{};
};

/// Returns the description of an image without its texels. `levels` are the locations of the levels.
[[nodiscard]] OpenedImage described(std::string file_kind, const ContainerContents& contents,
                                    const std::vector<StoredLevel>& levels);

/// Throws Error{io} if the size of an image does not fit in the headers of a container.
void require_countable(const std::filesystem::path& path, const ArrayInfo& info);

}  // namespace texton::detail
