#pragma once
#include <memory>

#include <texton/planar.h>

#include "viewer/model/document.h"

namespace texton::viewer {

/// Returns the options of to_rgb() for a planar image: the format, and the siting of chroma and the code range that its
/// file states. What the file does not state has the default of PlanarOptions.
[[nodiscard]] PlanarOptions planar_options(const Document& planar);

/// Returns the RGB image of a planar image, converted by to_rgb() with planar_options(). Blocks. The result is computed
/// on the first call and cached while the planar document exists. Thread-safe. Throws the errors of to_rgb() and of
/// Array.
[[nodiscard]] std::shared_ptr<const Document> color_of(const std::shared_ptr<const Document>& planar);

}  // namespace texton::viewer
