#pragma once

namespace texton::reader {

/// Answers requests until the library closes the socket, then ends the process. `memory` is the descriptor of the
/// shared memory.
[[noreturn]] void serve(int socket, int memory);

}  // namespace texton::reader
