#pragma once
// What the fuzz targets of DDS and KTX2 share.
#include <filesystem>
#include <vector>

#include <texton/image_file.h>
#include <texton/image_save.h>

#include "tests/fuzz/fuzz.h"

namespace texton::fuzz {

constexpr std::size_t kLargestImage = std::size_t{4} << 20;  ///< bytes of texels that are read

inline std::vector<std::vector<std::byte>> levels_of(const ImageFile& image) {
    std::vector<std::vector<std::byte>> levels;
    if (plane_count(image.info().format) > 1) {
        for (int plane = 0; plane < 2; ++plane) levels.push_back(levels_of(image.plane(plane)).front());
        return levels;
    }
    for (int level = 0; level < image.info().levels; ++level) {
        Extent extent = level_extent(image.info(), level);
        extent.depth = slice_count(image.info(), level);
        levels.emplace_back(packed_bytes(image.info().format, extent));
        image.read({.level = level}, levels.back());
        (void)image.access(level);
    }
    return levels;
}

/// Reads an image, writes it and reads it again. `writable` is true if the kind of file can hold the image.
inline void check_round_trip(const ImageFile& image, const ScratchFile& again, bool writable,
                             const SaveOptions& options = {}) {
    if (packed_bytes(image.info()) > kLargestImage) return;
    const auto levels = accepted([&] { return levels_of(image); });
    if (!levels) return;
    const bool written = accepted([&] { return save(again.path(), image, options), true; }).value_or(false);
    require(written == writable, "an image is written if its kind of file can hold it");
    if (!written) return;
    const ImageFile read = open_image(again.path());
    require(read.info() == image.info(), "a written image has the same description");
    require(levels_of(read) == *levels, "a written image has the same texels");
}

/// Opens a file with options, and reads it.
inline void check_conversion(const std::filesystem::path& path, const ImageOptions& options) {
    const auto image = accepted([&] { return open_image(path, options); });
    if (image && packed_bytes(image->info()) <= kLargestImage) (void)accepted([&] { return levels_of(*image); });
}

}  // namespace texton::fuzz
