#pragma once
// What a case is to make, as it was approved: a file whose first line is JSON, and whose other bytes are texels.
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "viewer/model/host_image.h"

namespace texton::verify {

struct Reference {
    std::filesystem::path path;
    std::vector<HostPicture> pictures;
    std::vector<std::string> inputs;  ///< SHA-256 of what the kernel read
    std::string device;               ///< on which it was made
    int driver = 0;
    std::string toolkit;  ///< Texton's version
};

/// Error{io}, naming the file, if it is none, is cut off, or its texels have another SHA-256 than it says.
[[nodiscard]] Reference read_reference(const std::filesystem::path& path);
/// To the reference's path: aside, and renamed.
void write_reference(const Reference& reference);

/// CASE.texref, or CASE@VARIANT.texref for one of several approved.
[[nodiscard]] std::filesystem::path reference_path(const std::filesystem::path& folder, const std::string& name_of_case,
                                                   const std::string& variant = {});
/// All that there are of a case, by name.
[[nodiscard]] std::vector<Reference> read_references(const std::filesystem::path& folder,
                                                     const std::string& name_of_case);
/// Those of none of the cases, by name.
[[nodiscard]] std::vector<std::filesystem::path> left_references(const std::filesystem::path& folder,
                                                                 std::span<const std::string> names_of_cases);
/// Error{io} names the file.
void remove_reference(const std::filesystem::path& path);

}  // namespace texton::verify
