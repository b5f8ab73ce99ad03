#pragma once
#include <filesystem>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Writes the results as JUnit XML, which CI systems read. Throws Error{io} if the file cannot be written.
void write_junit(const std::filesystem::path& path, const Suite& suite, const std::vector<const Case*>& cases,
                 const std::vector<Result>& results);

/// Returns text for XML and HTML: markup characters and line ends become entities, and control characters become '?'.
[[nodiscard]] std::string escaped(std::string_view text);

/// Writes a file: first to PATH.PID, which is renamed when it is complete. If writing fails, an existing file is
/// unchanged.
///
/// Throws Error{io}, with the path, if the file cannot be written.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace texton::verify
