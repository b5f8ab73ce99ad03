#pragma once
// The worker of a batch: a process that applies a pipeline to images, so that a crash, a hang or a lost device costs one
// image. A worker of a device with threads of its own, such as a GPU, has several images at the same time: while one is
// computed, others are decoded and encoded. It reads requests from a socket, as JSON texts of one packet each, and answers
// each of them:
//
//   batch  -> worker   {"pipeline", "folder", "allow_outside", "device", "threads": of parallel loops, "images": computed
//                      at the same time, "turns": of these, decoded or encoded at the same time, "mark"}
//   worker -> batch    {"ready": true}, or a failure
//   batch  -> worker   {"id": number, "input", "outputs"}, up to "images" before an answer
//   worker -> batch    {"id", "done": paths of the files}, or a failure: {"id", "failed": cause, "retry": whether another
//                      attempt can help, "lost": whether the worker must be replaced}, or {"id", "no_device": cause}

#include <string>

namespace texton::batch {

/// Returns true if the device with this name can be a GPU: a name of a CUDA device, or an empty name, which means the best
/// device, if there can be a CUDA device. Does not initialize CUDA.
[[nodiscard]] bool may_be_cuda(const std::string& device);
/// Ends the process when the other end of the socket is closed, also while it computes. Its temporary files are
/// removed.
void end_with(int socket);
/// Runs a worker until the other end of the socket is closed. Returns the exit status.
int run_worker(int socket);

}  // namespace texton::batch
