#pragma once
// The report of checks of images. Several processes can write to its folder: each check has a page of its own, and
// index.html lists the pages that exist.
#include <filesystem>
#include <string>

#include "viewer/verify/run_suite.h"

namespace texton::verify {

/// Returns the folder of the page of a check: FOLDER/TEST@NAME.
[[nodiscard]] std::filesystem::path check_page(const std::filesystem::path& folder, const std::string& test,
                                               const std::string& name_of_check);

/// Writes the page of a check and lists it in index.html of the folder above. `results` has one element. Throws
/// Error{io}, with the path, if a file cannot be written.
void write_check_page(const std::filesystem::path& page, const Suite& suite, const Device& device, const Case& of,
                      const std::vector<Result>& results);
/// Removes the page of a check, if it exists, and its line in index.html. Throws Error{io}, with the path, if that fails.
void remove_check_page(const std::filesystem::path& page);

}  // namespace texton::verify
