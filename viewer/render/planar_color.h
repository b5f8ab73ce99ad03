#pragma once
#include <memory>

#include "viewer/model/document.h"

namespace texton::viewer {

/// Returns the RGB image of a planar image, converted by to_rgb() with default options. Blocks. The result is computed
/// on the first call and cached while the planar document exists. Thread-safe. Throws the errors of to_rgb() and of
/// Array.
[[nodiscard]] std::shared_ptr<const Document> color_of(const std::shared_ptr<const Document>& planar);

}  // namespace texton::viewer
