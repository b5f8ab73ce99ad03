#pragma once
#include <cstdint>
#include <filesystem>

namespace texton::detail {

/// The first directory of a TIFF file, which describes its first image.
struct TiffDirectory {
    std::uint64_t slices = 1;  ///< tag ImageDepth
    bool is_last = false;      ///< the file has no other directory
};
/// Reads it. Returns the defaults for values that cannot be read.
[[nodiscard]] TiffDirectory first_tiff_directory(const std::filesystem::path& path);

}  // namespace texton::detail
