#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include <texton/image_file.h>
#include <texton/image_save.h>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// Returns the description of the array that an image of a kernel is saved as. Its slices become layers, or cube faces
/// if `cubes` is true, the image is square and the number of slices is a multiple of 6.
[[nodiscard]] ArrayInfo array_info_of(Format format, const Extent& image, std::size_t levels, bool cubes);

/// Returns true if files of this type store levels: .dds, .ktx2, .exr, .tif, .tiff and .tx.
[[nodiscard]] bool holds_levels(const std::filesystem::path& path);

/// Writes the images of a kernel to files and returns the paths of the files.
///
/// A single image is written to `out`. A mip chain is written to `out` if holds_levels(out). Otherwise each image is
/// written to a numbered file: out_0.png, out_1.png. The slices of an image become layers, or cube faces if `cubes` is
/// true, the image is square and the number of slices is a multiple of 6. Throws the errors of save().
std::vector<std::filesystem::path> save_images(const std::filesystem::path& out, std::span<const HostImage> images,
                                               bool cubes, const SaveOptions& options);
/// Returns how a result is saved. `files` are the images that it was computed from.
[[nodiscard]] SavedAlpha saved_alpha(bool drops, std::span<const ImageFile> files);

}  // namespace texton::verify
