#pragma once
// Whether a kernel may read one and write the other in any order.
#include <texton/texture.h>
#include <texton/view.h>

namespace texton::detail {

/// True if they surely share no bytes; found out from where each begins and ends, not row by row.
[[nodiscard]] bool lies_apart(const Texture& texture, const View& picture);
[[nodiscard]] bool lies_apart(const View& a, const View& b);

}  // namespace texton::detail
