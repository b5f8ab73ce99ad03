#pragma once
// Exif directories of TIFF files. The writer of OpenImageIO reads the file back to store one, which it cannot do
// through a stream, and refers to it from the first image alone.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <OpenImageIO/imageio.h>

#include "core/new_file.h"

namespace texton::detail {

/// A field of an Exif directory, as it is stored in a file of this machine's byte order.
struct ExifField {
    unsigned tag = 0;
    unsigned type = 0;        ///< as TIFF numbers the types
    std::uint64_t count = 0;  ///< of values
    std::vector<std::byte> values;
};

/// Returns the attributes of Exif, and the color space if it is sRGB. Empty if there are none.
[[nodiscard]] std::vector<ExifField> exif_fields(const OIIO::ImageSpec& spec);

/// Adds an Exif directory to each image of a complete TIFF file whose fields are not empty, in the order of the images.
/// Directories of images that refer to it are moved to the end of the file. Throws Error{io}.
void add_exif(NewFile& file, std::span<const std::vector<ExifField>> images);

}  // namespace texton::detail
