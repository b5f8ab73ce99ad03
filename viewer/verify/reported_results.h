#pragma once
// Results of a run in the folder of a report: results.json, and the exact images that an update would approve. Another
// machine can approve them.
#include <filesystem>
#include <string>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// A result of a report that can become a reference.
struct ReportedResult {
    std::string name;     ///< name of the case
    std::string outcome;  ///< as name() returns it
    std::size_t differing = 0;
    std::filesystem::path path;  ///< of the reference that it becomes, in the folder of the report
};

/// Results of a report that an update would approve.
struct ReportedResults {
    std::string suite_file;      ///< path of the suite on the machine that ran it
    std::string device;          ///< name of the device that ran it
    bool has_all_cases = false;  ///< all cases of the suite were run, so references of other cases are unused
    std::vector<ReportedResult> results;
};

/// Writes results.json, and for each result that an update would approve the reference that it becomes:
/// CASE/result.texref, or CASE/result.texref.json with image files. Throws Error{io}, with the path, if a file cannot be
/// written.
void write_results(const std::filesystem::path& folder, const Suite& suite, const Device& device,
                   const std::vector<const Case*>& cases, const std::vector<Result>& results);

/// Reads the file results.json in the folder of a report. Throws Error{io}, with the path, if it cannot be read or is
/// damaged.
[[nodiscard]] ReportedResults read_results(const std::filesystem::path& folder);
/// Reads a file of this form.
[[nodiscard]] ReportedResults read_results_file(const std::filesystem::path& path);

/// Writes the results as references of the suite, and removes references. All files are read, checked and written
/// completely before the first one replaces another. The bytes are those that an update writes on the machine that made
/// the report. Throws Error{io}, with the path, if a file of the report is damaged or a file cannot be written.
void approve_results(const Suite& suite, const std::vector<ReportedResult>& results, const std::string& variant,
                     const std::vector<std::filesystem::path>& unused);

}  // namespace texton::verify
