#pragma once

namespace texton::reader {

/// Starts processes that read files, until the library closes the control socket, descriptor 3, or ends. Returns the exit
/// status of the process, which must end with _exit(): the destructors of 250 libraries take long.
[[nodiscard]] int run_helper();

}  // namespace texton::reader
