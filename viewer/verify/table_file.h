#pragma once
// Tables of colours in files, as inputs of kernels.
#include <filesystem>

#include <texton/array.h>

#include "viewer/model/kernel_run.h"

namespace texton::verify {

/// By its ending, .cube: a table as text (texton/cube_file.h), and no picture.
[[nodiscard]] bool is_table_file(const std::filesystem::path& path);

/// The table for an input of the run's kernel. Where the run does not say which domain the table has, it has the file's
/// from now on. Error{bad_argument} names the file if the input takes no table of so many dimensions; errors of
/// read_cube_file().
[[nodiscard]] Array read_table(const Device& device, const std::filesystem::path& path, KernelRun& run,
                               std::size_t input);

}  // namespace texton::verify
