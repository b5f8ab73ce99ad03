#pragma once
#include <memory>

#include "viewer/model/document.h"

namespace texton::viewer {

/// A planar picture in colour, as to_rgb() makes it by default. Made when it is first asked for and kept as long as the picture;
/// blocks. Any thread.
[[nodiscard]] std::shared_ptr<const Document> colour_of(const std::shared_ptr<const Document>& planar);

}  // namespace texton::viewer
