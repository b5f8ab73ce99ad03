#pragma once
#include <filesystem>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// A page that links all cases, index.html, and for each that did not pass a folder with a page that needs no other file:
/// expected and actual under a slider, their difference, amplified, the ulp map, and the worst texels with the texels that
/// led to them. Beside it the same pictures as files, and as .dds with every bit. Error{io}, naming the file.
void write_report(const std::filesystem::path& folder, const Suite& suite, const Device& device,
                  const std::vector<const Case*>& cases, const std::vector<Result>& results);

}  // namespace texton::verify
