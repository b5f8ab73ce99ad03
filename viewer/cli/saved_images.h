#pragma once
#include <filesystem>
#include <span>
#include <vector>

#include "viewer/model/host_image.h"

namespace texton::cli {

/// Writes what a kernel made, and returns the files. A chain of levels becomes one file if its kind holds levels; other
/// pictures than one get numbers: out_0.png, out_1.png. Slices are layers, or faces if they are `cubes` and square.
std::vector<std::filesystem::path> save_pictures(const std::filesystem::path& out,
                                                 std::span<const verify::HostPicture> pictures, bool cubes);

}  // namespace texton::cli
