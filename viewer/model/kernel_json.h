#pragma once
// Kernels with their parameters as JSON: members of the cases of suites and of the steps of pipelines.
#include "viewer/model/json_object.h"
#include "viewer/model/kernel_run.h"

namespace texton::verify {

/// Reads the members "kernel", "parameters", "size" and "format". Throws Error{bad_argument}, with the location, if the
/// kernel does not exist, a parameter is not valid for it, or a member has the wrong type.
[[nodiscard]] KernelRun read_kernel_run(JsonObject& object);
/// Writes the members that read_kernel_run() reads.
void write_kernel_run(Json& object, const KernelRun& run);

/// Returns the extent of a member [width], [width, height] or [width, height, depth]. A missing height is 1, and a
/// missing depth is `depth`. Throws Error{bad_argument}.
[[nodiscard]] Extent read_extent(JsonObject& object, const std::string& key, std::size_t depth);
/// Returns the format that a member names, or nothing if there is no such member. Throws Error{bad_argument}.
[[nodiscard]] std::optional<Format> read_format(JsonObject& object, const std::string& key);

}  // namespace texton::verify
