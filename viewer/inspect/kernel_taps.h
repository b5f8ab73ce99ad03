#pragma once
#include <optional>
#include <vector>

#include "viewer/model/session.h"
#include "viewer/verify/kernel_footprint.h"

namespace texton::viewer {

/// Returns the texels of the current image that contribute to a pixel of the session's kernel. Returns nullopt if the
/// session has no kernel or no image, or if verify::footprints() cannot determine the texels.
///
/// Runs the kernel many times, so it is slow. Throws the errors of reading the image's files.
[[nodiscard]] std::optional<std::vector<verify::Tap>> kernel_taps(const Session& session, const Offset& pixel);

}  // namespace texton::viewer
