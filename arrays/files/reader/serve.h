#pragma once

#include <cstddef>

namespace texton::reader {

inline constexpr std::size_t kStackBytes = std::size_t{2} << 20;  // of each thread that decodes

/// Answers requests until the library closes the socket, then ends the process. `memory` is the descriptor of the
/// shared memory.
[[noreturn]] void serve(int socket, int memory);

}  // namespace texton::reader
