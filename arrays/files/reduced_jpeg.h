#pragma once
// JPEG files that are decoded at a part of their size. Builds without libjpeg have no_jpeg.cpp in place of
// reduced_jpeg.cpp.
#include <filesystem>
#include <optional>
#include <vector>

#include "arrays/files/formats.h"

namespace texton::detail {

/// Returns true if the build has libjpeg.
[[nodiscard]] bool has_libjpeg() noexcept;
/// Throws Error{unsupported} in a build without libjpeg.
void require_libjpeg(const char* object);

/// An image that may have fewer texels than its file.
struct ReducedImage {
    ImageFile image;
    /// Region of `image` that the image of the file covers: x, y, width and height in texels. Unset: all of it. It ends
    /// inside a texel if the size of the file is no multiple of the divisor.
    std::optional<std::vector<double>> region{};
};

/// Opens a file for a caller who will resample the whole image to the size `target`.
///
/// A JPEG file is decoded at 1/8, 1/4 or 1/2 of its size, rounded up: the smallest that has at least twice the width and
/// the height of `target`, so that the resampling filter still sees more texels than it writes. The orientation of the
/// file is applied. Files that are not at least four times as large as `target` and kinds of JPEG other than gray and
/// color images of 8 bits in a single scan (CMYK, progressive), are opened as open_image() opens them, and so is every
/// other kind of file.
///
/// Throws the errors of open_image() and require_libjpeg().
[[nodiscard]] ReducedImage open_reduced(const std::filesystem::path& path, ImageOptions options, Extent target);

/// Replaces the texels of a JPEG file that was opened by those of 1/8, 1/4 or 1/2 of its size, as open_reduced() does, and
/// returns the divisor, or 1. `target` is the size of the upright image. Throws Error{io} if the file cannot be read.
unsigned reduce_jpeg(const std::filesystem::path& path, Extent target, OpenedImage& opened);

}  // namespace texton::detail
