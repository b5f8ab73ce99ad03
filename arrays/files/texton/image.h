#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include <texton/extent.h>
#include <texton/format.h>

namespace texton {

/// A picture in host memory, tightly packed, top row first.
struct Image {
    Format format = Format::rgba8_unorm;
    Extent extent{0, 0, 0};
    std::vector<std::byte> texels;
    int file_channels = 0;  ///< how many the file has: 3 where `format` has 4, because they were widened
};

/// Reads a picture (the first of its file, at full size) in the type that the file stores: 8- and 16-bit unsigned
/// become unorm, half and float become float, 8- and 16-bit signed and all 32-bit integers become sint or uint. 64-bit
/// types are refused.
///
/// Three channels are widened to four with alpha 1 (the largest value of unorm, 1 of the others). Of more than four the
/// first four are read. Alpha is as the file stores it, not multiplied in. Throws Error{io}, naming the file, if it is
/// missing, truncated, empty, too large for memory, or of a kind that cannot be read.
[[nodiscard]] Image read_image(const std::filesystem::path& path);

/// Writes tightly packed texels to a file of the kind that its name's ending says. Written aside and renamed when
/// complete, so that a failure leaves what was there before.
///
/// Values are never converted: Error{io} if that kind of file cannot hold the format (a PNG no floats, a JPEG no alpha)
/// or the file cannot be written. Error{bad_argument} if `texels` is not packed_bytes(format, extent) long, a side is
/// 0, or the format is block-compressed, planar or packed.
void write_image(const std::filesystem::path& path, Format format, Extent extent, std::span<const std::byte> texels);

}  // namespace texton
