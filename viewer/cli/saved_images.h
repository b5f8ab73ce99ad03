#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include <CLI/CLI.hpp>

#include <texton/image_file.h>
#include <texton/image_save.h>

#include "viewer/model/host_image.h"

namespace texton::cli {

/// Writes the images of a kernel to files and returns the paths of the files.
///
/// A single image is written to `out`. A mip chain is written to `out` if the file type stores levels (.dds, .ktx2,
/// .exr, .tif, .tiff, .tx). Otherwise each image is written to a numbered file: out_0.png, out_1.png. The slices of an image
/// become layers, or cube faces if `cubes` is true, the image is square and the number of slices is a multiple of 6.
std::vector<std::filesystem::path> save_images(const std::filesystem::path& out,
                                               std::span<const verify::HostImage> images, bool cubes, SavedAlpha alpha);
/// Adds the option that sets `drops` to a command.
void add_drop_alpha(CLI::App& command, bool& drops);
/// Returns how a result is saved. `files` are the images that it was computed from.
[[nodiscard]] SavedAlpha saved_alpha(bool drops, std::span<const ImageFile> files);

}  // namespace texton::cli
