#pragma once
// Color lookup tables in files, as inputs of kernels.
#include <filesystem>

#include <texton/array.h>

#include "viewer/model/kernel_run.h"

namespace texton::verify {

/// Returns true if the extension of the path is .cube, in any case: a lookup table as text (texton/cube_file.h), not an
/// image.
[[nodiscard]] bool is_table_file(const std::filesystem::path& path);

/// Reads a .cube file and returns the array for an input of the run's kernel.
///
/// If the kernel has the parameters `domain_min` and `domain_max` and the run does not set them, they are set to the
/// domain of the file. Throws Error{bad_argument}, with the path, if the input does not accept a table with this number
/// of dimensions. Also throws the errors of read_cube_file().
[[nodiscard]] Array read_table(const Device& device, const std::filesystem::path& path, KernelRun& run,
                               std::size_t input);

}  // namespace texton::verify
