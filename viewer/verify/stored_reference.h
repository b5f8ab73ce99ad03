#pragma once
// The files of a reference: a header in JSON, and the bytes of its images.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "viewer/model/json_object.h"
#include "viewer/verify/file_update.h"
#include "viewer/verify/reference.h"

namespace texton::verify {

/// The files of a reference before they have names.
struct StoredReference {
    /// Bytes of an image: packed texels, or an image file.
    struct Part {
        std::string ending;  ///< ".png", ".exr" or ".dds"; empty: packed texels
        std::vector<std::byte> bytes;
        std::filesystem::path file{};  ///< the image file that was read; empty if it was not read
    };
    Json header;              ///< without the names of files
    std::vector<Part> parts;  ///< of each image

    bool has_images() const { return !parts.empty() && !parts.front().ending.empty(); }
};

/// Returns the files of a reference. Image files are used if `as_images` is set and image files hold every bit of all of
/// its images: PNG for unorm and sRGB of 8 and 16 bits, EXR for floats, DDS for several slices. This is tested by
/// reading them again. Otherwise the parts are packed texels. Throws Error{io} if a temporary file cannot be written.
[[nodiscard]] StoredReference stored_reference(const Reference& reference, bool as_images);

/// Adds the files of a reference to an update. `path` is a result of reference_path(); the file is named
/// CASE.texref.json instead if it names other files.
///
/// Files of the store are written at once, since they replace nothing. Files of an earlier form of the reference are
/// removed. Throws Error{io}, with the path, if a file cannot be written, and Error{not_permitted} if a symbolic link
/// leads out of the folder `within`.
void add_files(FileUpdate& update, const StoredReference& stored, const std::filesystem::path& path,
               const ReferencePlaces& places = {});

/// Reads the files of a reference without decoding its image files. Texels are not checked. Throws the errors of
/// read_reference().
[[nodiscard]] StoredReference read_stored_reference(const std::filesystem::path& path,
                                                    const ReferencePlaces& places = {});
/// Returns the images and the origin of a reference that was read. `path` is that of the reference. Throws the errors of
/// read_reference().
[[nodiscard]] Reference decoded(StoredReference stored, const std::filesystem::path& path);

/// Returns all files of a reference outside of a store: the file at the path, and image files that it names.
[[nodiscard]] std::vector<std::filesystem::path> files_of_reference(const std::filesystem::path& path);

}  // namespace texton::verify
