#pragma once
// Tests whether images share memory. If they do not, a kernel may read one and write the other in any order.
#include <texton/texture.h>
#include <texton/view.h>

namespace texton::detail {

/// Returns true if it is certain that both share no bytes. Compares only the first and the last address of each, not
/// their rows, and returns false if memory may have several addresses.
[[nodiscard]] bool lies_apart(const Texture& texture, const MemoryLocation& image);
[[nodiscard]] bool lies_apart(const MemoryLocation& a, const MemoryLocation& b);

}  // namespace texton::detail
