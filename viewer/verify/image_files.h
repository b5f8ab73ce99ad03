#pragma once
// Image files of a case: the patterns that name them, and their images.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/model/host_image.h"
#include "viewer/verify/criteria.h"

namespace texton::verify {

/// Files of a case that are compared in the same way.
struct ImagePattern {
    std::string files;  ///< a relative path, in which *, ? and [...] match names as in a shell
    std::string name;   ///< name of the image in the reference; empty: the path of each file
    Criteria criteria;
};

/// A file that matches a pattern.
struct FoundFile {
    std::filesystem::path path;
    std::string name;          ///< name of its image, or the first part of the names of its images
    const Criteria* criteria;  ///< of the pattern
};

/// Returns true if the name of a file comes before another one. Numbers in names are compared by their value, so that
/// frame_2 comes before frame_10.
[[nodiscard]] bool comes_before(std::string_view a, std::string_view b) noexcept;

/// Returns the files of a folder that match the patterns, in the order of the patterns and of comes_before(). The first
/// pattern that matches a file applies. Folders and files whose names begin with a dot do not match, except if the
/// pattern spells it.
///
/// `unmatched` receives the first pattern that no file matches, or nullptr. Throws Error{bad_argument} if a pattern
/// with a name matches several files, and Error{not_permitted} if `within` is set and a file is outside of it, also
/// through a symbolic link.
[[nodiscard]] std::vector<FoundFile> find_files(const std::filesystem::path& folder,
                                                const std::optional<std::filesystem::path>& within,
                                                const std::vector<ImagePattern>& patterns,
                                                const ImagePattern*& unmatched);

/// Reads all images of a file as they are stored: parts, frames, layers, faces and levels. Files with more than four
/// channels give an image for each four of them. `name` is the name of the image or, if there are several, the first
/// part of their names: "out.dds, face 1, level 2". Blocks of compressed formats are decoded.
///
/// Throws the errors of open_image() and ImageFile::read(). Throws Error{unsupported} if a part of the file cannot be
/// read.
[[nodiscard]] std::vector<HostImage> read_images(const std::filesystem::path& path, const std::string& name);

}  // namespace texton::verify
