#pragma once
#include <optional>
#include <vector>

#include "viewer/model/session.h"
#include "viewer/verify/kernel_footprint.h"

namespace texton::viewer {

/// The texels of the current picture that lead to a pixel which the session's kernel makes of it; none where
/// verify::footprints() cannot tell. The kernel is run many times: this takes a while. Throws what reading the
/// picture's files throws.
[[nodiscard]] std::optional<std::vector<verify::Tap>> kernel_taps(const Session& session, const Offset& pixel);

}  // namespace texton::viewer
