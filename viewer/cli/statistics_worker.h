#pragma once
// The worker of `texton stats` with several devices or ranks: it counts the texels of parts of an image on one device.
// It is a process of run_strip_worker(), and reads and writes packets in the same way:
//
//   command -> worker   {"command": words of the command line, "statistics": true, "device", "threads",
//                       "alive_milliseconds"}
//   worker -> command   {"alive": true} from then on
//   worker -> command   {"ready": true}, or a failure
//   command -> worker   {"task": number, "file", "plane", "identity", "rows": of a part, "memory": in bytes,
//                       "parts": [first, end]}, and {"range": bits of its two floats} or
//                       {"lower", "upper": [4 numbers]} (KeyHalf)
//   worker -> command   {"task", "statistics": digits of a TotalStatistics}, or any number of
//                       {"task", "channel", "first": index of the first count, "counts": numbers}
//   worker -> command   {"task", "done": true}
//
// A failure, {"failed": text or parts of an Error}, with the "task" if it concerns only that one, replaces these
// answers.
#include <string>

#include <texton/total_statistics.h>

#include "viewer/model/json_object.h"

namespace texton::cli {

/// Counts parts until the other end of the socket is closed. `request` is the first packet.
void serve_statistics(int socket, const verify::Json& request);

/// Returns the identity of a file, as it is in a request.
[[nodiscard]] verify::Json identity_json(const std::string& path);
/// Returns the statistics of an answer. Throws Error{io} if they are not those of this version of Texton.
[[nodiscard]] TotalStatistics statistics_in(const std::string& digits);

}  // namespace texton::cli
