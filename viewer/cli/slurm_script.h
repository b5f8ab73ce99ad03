#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace texton::cli {

/// Writes a script for sbatch: a job array whose tasks run the command `words`, without --slurm and --tasks, each with a
/// shard of its own. A task that Slurm ends before its time limit, or whose node fails, is queued again and continues.
/// Throws Error{io}.
void write_slurm_script(const std::filesystem::path& path, int tasks, const std::vector<std::string>& words);

}  // namespace texton::cli
