#pragma once
#include <filesystem>
#include <vector>

#include "viewer/verify/run_history.h"
#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Options of write_report().
struct ReportOptions {
    /// The report is one HTML file without other files. It has images until they need 256 MiB; then it only has the
    /// numbers of the cases.
    bool single_file = false;
    /// Earlier results of the cases, and this one. The report plots them; with more than 200 cases, only for the cases
    /// that have a page, and the outcomes of the last 30 runs for all.
    CaseHistories history{};
};

/// Writes an HTML report. `path` is a folder: index.html lists the failures, most severe first and in groups of like
/// ones, and all cases. Each failure, and each case whose runs vary, has a folder with a page and image files. With
/// ReportOptions::single_file, `path` is the HTML file.
///
/// Pages contain their style, script and images, and load nothing from elsewhere. The page of a case shows the expected
/// and the actual image, their amplified difference, and maps of the ulp distance and of FLIP, with linked zoom and pan,
/// a movable divider and blinking; and the worst texels with the input texels that contribute to them. Its folder also
/// contains the images as .png files, and as .dds files with the exact texels.
/// write_results() adds results.json, from which `texton approve` approves the results.
///
/// Throws Error{io}, with the path, if a file cannot be written, and Error{bad_argument} if `path` is a file, or a folder
/// for a single file.
void write_report(const std::filesystem::path& path, const Suite& suite, const Device& device,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results,
                  const ReportOptions& options = {});

/// Creates the folder of a report, so that a path that cannot be used is known before the cases run. Throws
/// Error{bad_argument} if `path` is a file, or a folder for a single file, and Error{io} if the folder cannot be created.
void prepare_report(const std::filesystem::path& path, const ReportOptions& options);

}  // namespace texton::verify
