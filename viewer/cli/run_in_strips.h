#pragma once
// `texton run --memory`: kernels whose images and inputs need not fit into memory.
#include "viewer/cli/run_steps.h"

namespace texton::cli {

/// Runs the steps and prints the result as `texton run` does. Each image is computed in strips, on the CPU device, from
/// parts of the images before it.
///
/// Throws Error{bad_argument} if the size of the memory is invalid, a step before the last one writes a file, a file is
/// a video or numbered files, or a device other than a CPU was requested. Throws the errors of tiles::KernelInStrips
/// and of save().
void run_in_strips(const RunOptions& options, const RunSteps& steps);

}  // namespace texton::cli
