#pragma once
#include <memory>

#include "viewer/model/document.h"

namespace texton::viewer {

/// Returns a plane of the document on a device: the document's own array, or a copy. The copy is cached as long as a
/// caller keeps it, so callers share it. Blocks while the copy is made, also if another thread makes a copy.
/// Thread-safe. Throws the errors of Array and copy().
[[nodiscard]] std::shared_ptr<const Array> on_device(const std::shared_ptr<const Document>& document, int plane,
                                                     const Device& device);

}  // namespace texton::viewer
