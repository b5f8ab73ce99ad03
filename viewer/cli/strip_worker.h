#pragma once
// The worker of `texton run` with several devices or ranks: a process that computes rows of the image on one device, so
// that a crash or a lost device costs only the rows that it has not finished. It computes them from its own inputs, and
// writes them to a file of rows (viewer/tiles/row_file.h). It reads requests from a socket, as JSON texts of one packet
// each:
//
//   command -> worker   {"command": words of the command line, "device", "memory": bytes for each kernel, "threads": of
//                       parallel loops, "file": path of the rows, "synchronizes": whether rows are stored by the disk
//                       before they are finished, "alive_milliseconds": time between two signs of life}
//   worker -> command   {"alive": true} from then on, also while rows are computed
//   worker -> command   {"ready": description of the image}, or a failure
//   command -> worker   {"rows": [first, end]}, up to two before the first one is finished
//   worker -> command   {"rows": [first, end], "milliseconds"} for each part that is finished, in order
//
// A failure, {"failed": text or parts of an Error}, is the last answer. The worker then waits for its end.
#include <cstddef>
#include <exception>
#include <string>

#include <texton/error.h>

#include "kernels/launch/image_rows.h"
#include "viewer/model/json_object.h"

namespace texton::cli {

/// CUDA kernels compute rows from a multiple of this row on.
inline constexpr std::size_t kCudaRowUnit = detail::kRowAlignment;

/// Runs a worker until the other end of the socket is closed: one of `texton run`, or of `texton stats` if the first
/// packet contains "statistics" (statistics_worker.h). Returns the exit status.
int run_strip_worker(int socket);

/// Returns an answer with the key "failed" for an error.
[[nodiscard]] verify::Json failure_json(const std::exception& error);
/// Returns the error of an answer that has the key "failed".
[[nodiscard]] Error error_in(const verify::Json& answer);
/// Returns true for errors of a device, which the devices of other workers need not have.
[[nodiscard]] bool is_of_device(const Error& error) noexcept;
/// Returns the text of a packet.
[[nodiscard]] std::string packet_text(const verify::Json& packet);

}  // namespace texton::cli
