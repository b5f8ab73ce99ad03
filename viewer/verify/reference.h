#pragma once
// Approved results of a case.
//
// A reference is one file, CASE.texref, whose first line is JSON and whose other bytes are texels, or a file of JSON,
// CASE.texref.json, which names files with the texels: image files beside it, or files of a store. Variants of a case
// are named CASE@VARIANT. tests/regress/README.md describes the files.
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "viewer/model/device_fields.h"
#include "viewer/model/host_image.h"

namespace texton::verify {

/// A reference of a case.
struct Reference {
    std::filesystem::path path;
    std::vector<HostImage> images;     ///< the images of the case
    std::vector<std::string> inputs;   ///< SHA-256 of each input of a kernel
    std::string device;                ///< name of the device that created it
    int driver = 0;                    ///< CUDA version of the driver
    std::string toolkit;               ///< Texton's version
    std::string compute_capability{};  ///< "9.0"; empty in old references
    std::string driver_release{};      ///< version of the NVIDIA driver; empty if there was none
    std::string cpu{};                 ///< model of the machine's processor; empty in old references
};

/// Where the files are that a reference names.
struct ReferencePlaces {
    std::optional<std::filesystem::path> store{};   ///< folder of texels by content hash
    std::optional<std::filesystem::path> within{};  ///< folder that no symbolic link may leave; unset: any
};

/// Reads a reference. Throws Error{io}, with the path, if a file cannot be read, is not a reference, is truncated, or if
/// texels do not match their SHA-256, and if the texels are in a store and none is given. Throws Error{not_permitted} if
/// a file is outside of the folder `within`.
[[nodiscard]] Reference read_reference(const std::filesystem::path& path, const ReferencePlaces& places = {});
/// Writes a reference to its path as one file, and creates the folder. The data is written to a temporary file, which is
/// renamed when it is complete. Throws Error{io}, with the path, if the file cannot be written.
void write_reference(const Reference& reference);

/// Returns the path of a reference: CASE.texref, or CASE@VARIANT.texref for a variant.
[[nodiscard]] std::filesystem::path reference_path(const std::filesystem::path& folder, const std::string& name_of_case,
                                                   const std::string& variant = {});

/// The references in a folder, which is listed once. Thread-safe.
class ReferenceFolder {
public:
    /// A folder that does not exist has no references.
    explicit ReferenceFolder(const std::filesystem::path& folder);

    /// Reads all references of a case, sorted by path. Throws the errors of read_reference().
    std::vector<Reference> read(const std::string& name_of_case, const ReferencePlaces& places = {}) const;
    /// Returns the paths of the references that belong to none of the cases, sorted by path.
    std::vector<std::filesystem::path> left(std::span<const std::string> names_of_cases) const;

private:
    std::map<std::string, std::vector<std::filesystem::path>> paths_;  // by the first part of the file names
};

/// Returns the paths of the references in the folder that belong to none of the cases, sorted by path.
[[nodiscard]] std::vector<std::filesystem::path> left_references(const std::filesystem::path& folder,
                                                                 std::span<const std::string> names_of_cases);

/// Returns the names of the fields of a reference that equal those of a device: of "device", "compute_capability",
/// "driver_release", "driver_version" and "cpu". Fields that are empty or 0 are not equal.
[[nodiscard]] std::vector<std::string> equal_fields(const Reference& reference, const viewer::DeviceFields& device);

}  // namespace texton::verify
