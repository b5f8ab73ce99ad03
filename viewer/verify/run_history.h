#pragma once
// The history of suites: a file to which each run appends a line of JSON for each case.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// What a history keeps of a case in one run.
struct HistoryEntry {
    std::string time;  ///< when the run ended: "2026-01-31T12:00:00Z"
    Outcome outcome = Outcome::failed;
    std::string device;
    int driver = 0;             ///< version of the CUDA driver; 0 for the CPU
    std::string label;          ///< given by the user, for example a commit; may be empty
    double seconds = 0;         ///< duration of the case
    std::size_t differing = 0;  ///< number of texels that differ
    std::uint32_t max_ulp = 0;  ///< largest ulp distance
    /// The largest root mean squared error of the images, divided by the range of a channel. Infinite if a NaN or an
    /// infinity is compared with another value.
    double rmse = 0;
};

/// Entries of the cases of a suite by name, oldest first.
using CaseHistories = std::map<std::string, std::vector<HistoryEntry>>;

/// Maximum number of entries of a case that read_history() returns.
inline constexpr std::size_t kMaxHistory = 200;

/// Creates the file of a history if it does not exist, so that a path that cannot be used is known before the cases run.
/// Throws Error{bad_argument} if the path is a folder, not a regular file, or a file that is not a history, and Error{io}
/// if the file cannot be written or read.
void prepare_history(const std::filesystem::path& path);

/// Appends a line for each case. Several processes may append at once: the file is locked during the write. If the last
/// line is incomplete, because a process was killed while it wrote, the new lines begin after it. `label` may be empty.
/// Throws Error{io} if the file cannot be written.
void append_history(const std::filesystem::path& path, const Suite& suite, const Device& device,
                    const std::string& label, const std::vector<const Case*>& cases,
                    const std::vector<Result>& results);

/// Reads the last entries of each case of a suite. Lines that are damaged are ignored, and so are those before the last
/// 256 MiB of the file. Throws Error{io} if the file cannot be read.
[[nodiscard]] CaseHistories read_history(const std::filesystem::path& path, const Suite& suite);

}  // namespace texton::verify
