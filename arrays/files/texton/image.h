#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include <texton/extent.h>
#include <texton/format.h>
#include <texton/read_options.h>

namespace texton {

/// An image in host memory. The texels are tightly packed, and the top row comes first.
struct Image {
    Format format = Format::rgba8_unorm;  ///< format of `texels`
    Extent extent{0, 0, 0};               ///< width, height and depth in texels
    std::vector<std::byte> texels;        ///< packed_bytes(format, extent) bytes
    int file_channels = 0;                ///< number of channels in the file; `format` can have more or fewer
};

/// Reads the first image of a file at full size. The format has the type that the file stores: 8-bit and 16-bit
/// unsigned integers become unorm, 8-bit and 16-bit signed integers become sint, 32-bit integers become uint or sint,
/// and half and float become float. Several threads may call this function at once.
///
/// Three channels are widened to four. The added alpha is 1, which in a unorm format is the maximum code value. If the
/// file has more than four channels, the first four are read. Colors are not multiplied or divided by alpha.
///
/// Memory grows with the texels that were read, not with the size that a damaged file claims.
///
/// Throws Error{io}, which names the file, if the file is missing, truncated, empty or damaged, if it has 1 TiB or
/// more, if its channels have 64 bits, if its samples are deep, or if the kind of file is not supported. Throws
/// Error{out_of_memory}, which names the file, if it is too large for memory. With ReadOptions::isolated, failures and
/// limits of the separate process are further errors: see ReadOptions.
[[nodiscard]] Image read_image(const std::filesystem::path& path, const ReadOptions& options = {});

/// Writes tightly packed texels to a file. The extension of the path selects the kind of file. The file is replaced as
/// by save(): if writing fails, an existing file is unchanged. Several threads may call this function at once.
///
/// Values are never converted. Throws Error{io} if the kind of file cannot hold the format (for example float in PNG or
/// alpha in JPEG) or if the file cannot be written. Throws Error{bad_argument} if `texels` does not have
/// packed_bytes(format, extent) bytes, if a dimension is 0, or if the format is block-compressed, planar or packed.
void write_image(const std::filesystem::path& path, Format format, Extent extent, std::span<const std::byte> texels);

}  // namespace texton
