// texel_format.h: a Format as the texture-unit model takes it.
#pragma once
#include <texton/format.h>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

[[nodiscard]] TexelFormat texel_format(Format format) noexcept;

}  // namespace texton::detail
