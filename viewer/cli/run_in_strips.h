#pragma once
// `texton run --memory`: kernels whose images and inputs need not fit into memory.
#include <string>
#include <vector>

#include <texton/device.h>

#include "viewer/cli/run_steps.h"

namespace texton::cli {

/// Returns true if the name of a device stands for all devices of a kind, each of which computes parts of the image.
[[nodiscard]] bool names_all_devices(const std::string& device);
/// Returns the names of the devices that compute the image. Throws Error{unsupported} if all devices of a kind were
/// named, and there is none.
[[nodiscard]] std::vector<std::string> devices_for(const RunOptions& options);
/// Returns the device that the options name. Throws Error{bad_argument} if images cannot be computed in parts on it.
[[nodiscard]] Device strips_device(const RunOptions& options);

/// Runs the steps and prints the result as `texton run` does. Each image is computed in strips, on the CPU device, from
/// parts of the images before it. All devices of a kind, and the workers of all ranks (viewer/batch/ranks.h), compute
/// different rows of the image, in processes of their own.
///
/// Throws Error{bad_argument} if the size of the memory is invalid, a step before the last one writes a file, a file is
/// a video or numbered files, or a device other than a CPU was requested. Throws the errors of ChainInStrips,
/// RowsOfWorkers and save().
void run_in_strips(const RunOptions& options, const RunSteps& steps);

}  // namespace texton::cli
