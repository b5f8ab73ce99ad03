#pragma once
#include <filesystem>
#include <vector>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// The results as XML, as CI systems read JUnit's. Error{io} if the file cannot be written.
void write_junit(const std::filesystem::path& path, const Suite& suite, const std::vector<const Case*>& cases,
                 const std::vector<Result>& results);

/// Text with the letters that mean something in XML and HTML written as entities; what XML has not at all is '?'.
[[nodiscard]] std::string escaped(std::string_view text);

/// Writes a file aside and renames it. Error{io}, naming it.
void write_text(const std::filesystem::path& path, const std::string& text);

}  // namespace texton::verify
