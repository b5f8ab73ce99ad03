#pragma once
// Whether a kernel may read one image and write the other in any order.
#include <texton/texture.h>
#include <texton/view.h>

namespace texton::detail {

/// True if they surely share no bytes; found out from where each begins and ends, not row by row.
[[nodiscard]] bool lies_apart(const Texture& texture, const Place& picture);
[[nodiscard]] bool lies_apart(const Place& a, const Place& b);

}  // namespace texton::detail
