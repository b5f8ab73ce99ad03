#pragma once
// The worker of a batch: a process that applies a pipeline to one image after the other, so that a crash, a hang or a lost
// device costs one image. It reads requests from a socket, as JSON texts of one packet each, and answers each of them:
//
//   batch  -> worker   {"pipeline", "folder", "allow_outside", "device", "threads", "mark"}
//   worker -> batch    {"ready": true}, or a failure
//   batch  -> worker   {"input", "outputs"}
//   worker -> batch    {"done": paths of the files}, or a failure: {"failed": cause, "retry": whether another attempt can
//                      help, "lost": whether the worker must be replaced}
#include <string_view>

namespace texton::batch {

/// First argument of the program texton-commands that makes it a worker. Its socket is the control socket of a helper.
inline constexpr std::string_view kWorkerArgument = "--batch-worker";

/// Runs a worker until the other end of the socket is closed. Returns the exit status.
int run_worker(int socket);

}  // namespace texton::batch
