#pragma once
#include <memory>

#include "viewer/model/document.h"

namespace texton::viewer {

/// A plane of the document on a device: its own array, or a copy, which all who ask for it share as long as one of them
/// keeps it. May take as long as a copy between devices does. Any thread. Throws what Array and copy() throw.
[[nodiscard]] std::shared_ptr<const Array> on_device(const std::shared_ptr<const Document>& document, int plane,
                                                     const Device& device);

}  // namespace texton::viewer
