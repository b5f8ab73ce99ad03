#pragma once
// Parts of the commands verify and approve.
#include <cstddef>

namespace texton::cli {

/// Asks whether references shall be written and removed, and returns the answer.
[[nodiscard]] bool confirmed(std::size_t written, std::size_t removed);

}  // namespace texton::cli
