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

/// What the headers of a DDS file specify.
struct DdsContents {
    ArrayInfo info;                           ///< planar formats are allowed
    StoredOrder order = StoredOrder::same;    ///< how texels are stored
    std::vector<std::string> channels;        ///< names of the channels in the file
    ImageAlpha alpha = ImageAlpha::straight;  ///< kind of alpha, if the file has an alpha channel
    std::size_t header_bytes = 0;             ///< texels follow these bytes
    std::vector<std::string> conversions;     ///< what is not read as the headers say, in full sentences
};

/// Maximum number of bytes of the headers.
inline constexpr std::size_t kDdsHeaderBytes = 148;

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
