#pragma once
// The kinds of file: what each is as a stack of slices, and what it says of itself.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "arrays/files/source.h"

namespace texton::detail {

/// One picture of a file.
struct OpenedPicture {
    PictureFilePtr file;
    PictureMetadata metadata;
    std::vector<std::string> conversions;
    std::optional<ArrayKind> kind;       ///< what the file itself is for; unset: a picture
    std::optional<CubeLayout> cube;      ///< by the file's own words
    std::vector<PictureFrame> data;      ///< of each level
    std::vector<PictureFrame> displays;  ///< of each level
};

/// The number of pictures in a file that OpenImageIO reads.
[[nodiscard]] int picture_count(const std::filesystem::path& path);
/// One of them: PictureMetadata::parts is 1.
[[nodiscard]] OpenedPicture open_with_oiio(const std::filesystem::path& path, int part, PictureColor color);

[[nodiscard]] bool is_dds(const std::filesystem::path& path);
[[nodiscard]] OpenedPicture open_dds(const std::filesystem::path& path, PictureColor color);

/// The planes of one frame.
struct OpenedFrame {
    PictureFilePtr luma, chroma;
    PictureMetadata metadata;
};
[[nodiscard]] OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw);

/// What a file of that kind (its name's ending) would be written by.
void save_dds(const std::filesystem::path& path, const PictureState& picture, const OnPictureProgress& progress);
void save_raw_frame(const std::filesystem::path& path, const PictureState& picture, const OnPictureProgress& progress);

}  // namespace texton::detail
