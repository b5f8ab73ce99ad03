#pragma once
// Starts the program texton-reader. Needs the C library only, so that the launcher of the command texton can start it,
// too: it loads its libraries while the launcher's process loads those of the command.
#include <sys/types.h>

namespace texton::detail {

/// Name of the environment variable that describes a helper that was started before the program that will use it: the
/// number of the process that uses it, the number of the helper's process, the descriptor of the control socket and the
/// path of the helper, separated by colons.
inline constexpr const char* kStartedHelper = "TEXTON_STARTED_READER";

/// Starts the program with default signals and no descriptors of this process but standard error and the socket
/// `control`, which must not be below 10. It is in a process group of its own, so that Ctrl+C in a terminal does not end
/// it while this program handles the signal. `argument` is its only argument, or null. Returns 0, or the number of the
/// error.
[[nodiscard]] int spawn_helper(const char* program, int control, pid_t& process,
                               const char* argument = nullptr) noexcept;

}  // namespace texton::detail
