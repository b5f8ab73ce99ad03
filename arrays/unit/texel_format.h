// texel_format.h: describes a Format for the model of the texture unit.
#pragma once
#include <texton/format.h>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Returns the description of a format that the model uses.
[[nodiscard]] TexelFormat texel_format(Format format) noexcept;

}  // namespace texton::detail
