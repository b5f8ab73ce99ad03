#pragma once
// Headers of DDS files: what they say about the texels.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <texton/image_file.h>

#include "arrays/files/stored_order.h"

namespace texton::detail {

/// How texels are stored in the file.
enum class DdsPacking : std::uint8_t {
    single,   ///< one by one, as DdsContents::order
    rgbg,     ///< two texels in four bytes, which share red and blue: R G B G
    grgb,     ///< the same in the order G R G B
    yuy2,     ///< two texels in four bytes, which share chroma: Y Cb Y Cr
    uyvy,     ///< the same in the order Cb Y Cr Y
    indices,  ///< bytes that are indices into a palette, which follows the header
};

/// What the headers of a DDS file specify.
struct DdsContents {
    ArrayInfo info;                           ///< planar formats are allowed
    StoredOrder order = StoredOrder::same;    ///< how texels are stored
    DdsPacking packing = DdsPacking::single;  ///< single: as `order`
    std::vector<std::string> channels;        ///< names of the channels in the file
    ImageAlpha alpha = ImageAlpha::straight;  ///< kind of alpha, if the file has an alpha channel
    std::size_t header_bytes = 0;             ///< texels follow these bytes, which include a palette
    std::vector<std::string> conversions;     ///< what is not read as the headers say, in full sentences
};

/// Maximum number of bytes of the headers.
inline constexpr std::size_t kDdsHeaderBytes = 148;
/// Number of bytes of a palette: 256 colors of 4 bytes.
inline constexpr std::size_t kDdsPaletteBytes = 1024;

/// Returns what the headers at the beginning of a file specify. `bytes` are the first kDdsHeaderBytes of the file, or
/// the whole file if it is shorter. Known errors of other writers are accepted. Throws Error{io} if the headers are
/// damaged, and Error{unsupported} for an unknown format.
[[nodiscard]] DdsContents dds_contents(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Returns true if a DDS file can hold texels of the format.
[[nodiscard]] bool dds_holds(Format format) noexcept;
/// Returns the headers of a file. The format must be one that a DDS file can hold. Sides and layers must be less than
/// 2^31.
[[nodiscard]] std::vector<std::byte> dds_headers(const ArrayInfo& info, ImageAlpha alpha);

/// Throws Error{io}: the file is damaged.
[[noreturn]] void fail_damaged_dds(const std::filesystem::path& path, const std::string& why);

}  // namespace texton::detail
