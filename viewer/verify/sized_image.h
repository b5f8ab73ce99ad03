#pragma once
// Image files that belong to an image and have its size: masks and maps of tolerances.
#include <filesystem>
#include <string>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// Returns the first image of a file that has the width and height of `image`, and its depth or one slice.
///
/// Throws Error{bad_argument}, with the position in the suite and the key, if the file has no such image. Throws the
/// errors of read_images().
[[nodiscard]] HostImage read_sized_image(const std::filesystem::path& path, const HostImage& image,
                                         const std::string& where, const std::string& key);

}  // namespace texton::verify
