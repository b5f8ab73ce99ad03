#pragma once
// Planar frames in files: raw frames and Y4M. Samples are not encoded.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "arrays/files/formats.h"
#include "arrays/files/stored_texels.h"
#include "core/new_file.h"

namespace texton::detail {

/// How the samples of a frame are stored. Samples of two bytes are little-endian.
struct SampleOrder {
    RawLayout layout = RawLayout::interleaved;
    int bits = 8;  ///< RawLayout::planes: bits of a sample. They are its lower bits, and the upper bits of a texel.
};
/// Returns the order that RawFrames describes.
[[nodiscard]] SampleOrder order_of(Format format, RawLayout layout) noexcept;

/// Returns true if an image can consist of frames of this size in a format: planar, even and not empty.
[[nodiscard]] bool is_possible_frame(Format format, Extent extent) noexcept;
/// Throws Error{out_of_bounds} if a file with `count` frames does not have this one.
void require_frame(const std::filesystem::path& path, std::size_t frame, std::uint64_t count);
/// Returns the frame whose samples start at byte `first`. The metadata describe the size and the channels.
[[nodiscard]] OpenedFrame frame_at(const std::filesystem::path& path, const FileIdentity& identity, Format format,
                                   Extent extent, SampleOrder order, std::uint64_t first);
/// Appends the samples of a planar image to a file.
void write_samples(NewFile& file, const ImageState& image, SampleOrder order, const OnImageProgress& progress);

/// Frames that the name of a file describes.
struct FramesInName {
    Format format = Format::nv12;
    RawLayout layout = RawLayout::interleaved;
    std::optional<Extent> extent{};  ///< unset if the name does not contain exactly one size
};
[[nodiscard]] FramesInName frames_in_name(const std::filesystem::path& path);
/// Returns true if the extension says that the file contains raw frames that open_image() describes by the name.
[[nodiscard]] bool has_raw_extension(const std::filesystem::path& path);

/// Returns true if the path has an extension, in upper or lower case. The extension is passed without the dot.
[[nodiscard]] bool has_extension(const std::filesystem::path& path, std::string_view extension);
/// Returns true if the extension is that of Y4M.
[[nodiscard]] bool has_y4m_extension(const std::filesystem::path& path);
/// Returns the planar format of an image that open_y4m_frame() opened, or nothing if its metadata are invalid.
[[nodiscard]] std::optional<Format> y4m_format(const ImageMetadata& metadata) noexcept;
/// Returns the header of a Y4M file that frames like this one follow. Throws Error{bad_argument} if an attribute
/// contains characters that a header cannot contain.
[[nodiscard]] std::string y4m_header(const char* object, const std::filesystem::path& path, const ImageState& image);
/// The line in front of each frame.
inline constexpr std::string_view kY4mFrame = "FRAME\n";
/// Names of attributes of the metadata, with the values of ChromaSiting and CodeRange.
inline constexpr const char* kChromaSiting = "chroma_siting";
inline constexpr const char* kCodeRange = "code_range";

}  // namespace texton::detail
