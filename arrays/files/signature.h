#pragma once
// The kind of a file, told from its first bytes.
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace texton::detail {

/// Number of bytes at the beginning of a file that contain its signature.
inline constexpr std::size_t kSignatureBytes = 132;

/// Returns OpenImageIO's name of the reader for a file that begins with `first`, which has kSignatureBytes or, if the
/// file is shorter, all of them. Kinds of file without a signature are told from the extension, and so are files of
/// cameras that begin like TIFF files. Returns an empty text if the kind is unknown.
[[nodiscard]] std::string reader_name(const std::filesystem::path& path, std::span<const std::byte> first);

}  // namespace texton::detail
