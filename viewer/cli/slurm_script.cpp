#include "viewer/cli/slurm_script.h"

#include <iterator>

#include <fmt/format.h>

#include "core/new_file.h"

namespace texton::cli {
namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& word) {
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
    return out + "'";
}

// Returns the words without those that write the script.
std::vector<std::string> without_slurm(const std::vector<std::string>& words) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "--slurm" || words[i] == "--tasks") {
            ++i;
        } else if (!words[i].starts_with("--slurm=") && !words[i].starts_with("--tasks=")) {
            kept.push_back(words[i]);
        }
    }
    return kept;
}

bool computes_on_cpu(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i].starts_with("--device=cpu")) return true;
        if (words[i] == "--device" && i + 1 < words.size() && words[i + 1].starts_with("cpu")) return true;
    }
    return false;
}

}  // namespace

void write_slurm_script(const fs::path& path, int tasks, const std::vector<std::string>& words) {
    std::vector<std::string> kept = without_slurm(words);
    // A program on PATH is that of the node.
    if (kept.front().find('/') != std::string::npos) kept.front() = fs::absolute(kept.front()).lexically_normal();
    std::string command;
    for (const std::string& word : kept) command += quoted(word) + ' ';
    const std::string text = fmt::format(
        R"(#!/bin/bash
# Computes a batch as a job array: sbatch {name}
# Each task computes a shard. The journal makes a task that is queued again continue where it ended. Options of sbatch,
# for example --time, --partition and --cpus-per-task, can be added here or given to sbatch.
#SBATCH --job-name=texton-batch
#SBATCH --array=0-{last}
#SBATCH --nodes=1
#SBATCH --ntasks=1
{gpus}#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@60

cd {folder} || exit 2
{command}--shard "$SLURM_ARRAY_TASK_ID/{tasks}" &
batch=$!
trap 'kill -TERM "$batch" 2>/dev/null' TERM
# A signal interrupts `wait`, but what the batch has begun is completed.
while wait "$batch"; status=$?; kill -0 "$batch" 2>/dev/null; do :; done
# Slurm sends SIGTERM a minute before the time limit: then the task is queued again. Slurm sends it also to a task that is
# canceled, which is not running any more.
task=${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID
if ((status == 143)) && [[ $(squeue --noheader --jobs="$task" --format=%T) == RUNNING ]]; then
    scontrol requeue "$task" && exit 0
fi
exit "$status"
)",
        fmt::arg("name", path.filename().string()), fmt::arg("last", tasks - 1), fmt::arg("tasks", tasks),
        fmt::arg("gpus", computes_on_cpu(words) ? "" : "#SBATCH --gres=gpu:1\n"),
        fmt::arg("folder", quoted(fs::current_path().string())), fmt::arg("command", command));
    detail::write_file("texton batch", path, text);
    fs::permissions(path, fs::perms::owner_exec, fs::perm_options::add);
}

}  // namespace texton::cli
