#pragma once
#include <filesystem>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Writes an HTML report: index.html lists all cases. Each case that did not pass has a folder with a page and image
/// files.
///
/// The page embeds its images, so it can be read without the other files. It shows the expected and the actual image
/// with a movable divider, their amplified difference, the ulp map, and the worst texels with the input texels that
/// contribute to them. write_results() adds results.json, from which `texton approve` approves the results. The folder also contains the images as .png files, and as .dds files with the exact texels.
///
/// Throws Error{io}, with the path, if a file cannot be written.
void write_report(const std::filesystem::path& folder, const Suite& suite, const Device& device,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results);

}  // namespace texton::verify
