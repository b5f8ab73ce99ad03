#pragma once
// Approved results of a case. The first line of a reference file is JSON, and the rest of it is texels.
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// A reference file.
struct Reference {
    std::filesystem::path path;
    std::vector<HostImage> images;    ///< the images of the case
    std::vector<std::string> inputs;  ///< SHA-256 of each input of a kernel
    std::string device;               ///< name of the device that created it
    int driver = 0;                   ///< version of the CUDA driver
    std::string toolkit;              ///< Texton's version
};

/// Reads a reference. Throws Error{io}, with the path, if the file cannot be read, is not a reference, is truncated, or
/// if its texels do not match their SHA-256.
[[nodiscard]] Reference read_reference(const std::filesystem::path& path);
/// Writes a reference to its path, and creates the folder. The data is written to a temporary file, which is renamed
/// when it is complete. Throws Error{io}, with the path, if the file cannot be written.
void write_reference(const Reference& reference);

/// Returns the path of a reference: CASE.texref, or CASE@VARIANT.texref for a variant.
[[nodiscard]] std::filesystem::path reference_path(const std::filesystem::path& folder, const std::string& name_of_case,
                                                   const std::string& variant = {});
/// Reads all references of a case, sorted by path. Throws the errors of read_reference(), and Error{not_permitted} if
/// `within` is set and a reference is a symbolic link that leads out of this folder.
[[nodiscard]] std::vector<Reference> read_references(const std::filesystem::path& folder,
                                                     const std::string& name_of_case,
                                                     const std::optional<std::filesystem::path>& within = {});
/// Returns the paths of the references in the folder that belong to none of the cases, sorted by path.
[[nodiscard]] std::vector<std::filesystem::path> left_references(const std::filesystem::path& folder,
                                                                 std::span<const std::string> names_of_cases);
/// Removes a reference. Throws Error{io}, with the path, if that fails.
void remove_reference(const std::filesystem::path& path);

}  // namespace texton::verify
