#pragma once
// Starts the program texton-reader, and workers of batches. Needs the C library only, so that the launcher of the command
// texton can start a worker, which loads its libraries while the launcher's process loads those of the command.
#include <sys/types.h>

namespace texton::detail {

/// Name of the environment variable that describes a worker of a batch that was started before the program that will use
/// it: the number of the process that uses it, the number of the worker's process, the descriptor of the control socket
/// and the path of the worker's program, separated by colons.
inline constexpr const char* kStartedWorker = "TEXTON_STARTED_WORKER";

/// Argument that makes the program texton-commands a worker of a batch. Its socket is the control socket of a helper.
inline constexpr const char* kWorkerArgument = "--batch-worker";

/// A helper that was started before this program.
struct StartedHelper {
    pid_t process = -1;
    int control = -1;  ///< descriptor, which must be closed
};

/// Returns the helper that an environment variable describes, or no process if there is none, if another process is to use
/// it, or if it is another program. Call this only once.
[[nodiscard]] StartedHelper started_helper(const char* variable, const char* program) noexcept;

/// Starts the program with default signals and no descriptors of this process but standard error and the socket
/// `control`, which must not be below 10. It is in a process group of its own, so that Ctrl+C in a terminal does not end
/// it while this program handles the signal. `argument` is its only argument, or null. Returns 0, or the number of the
/// error.
[[nodiscard]] int spawn_helper(const char* program, int control, pid_t& process,
                               const char* argument = nullptr) noexcept;

}  // namespace texton::detail
