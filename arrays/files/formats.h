#pragma once
// Readers and writers of each kind of file. A reader returns a stack of slices and the metadata.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <texton/read_options.h>

#include "arrays/files/source.h"

namespace texton::detail {

/// One image of a file.
struct OpenedImage {
    ImageSourcePtr file;                   ///< the texels; luma of a planar image
    ImageSourcePtr chroma;                 ///< chroma of a planar image
    std::optional<Format> planar;          ///< format of a planar image; unset: the image is not planar
    ImageMetadata metadata;                ///< the metadata
    std::vector<std::string> conversions;  ///< as ImageFile::conversions()
    std::optional<ArrayKind> kind;         ///< kind of array that the file specifies; unset: a single image
    std::optional<CubeLayout> cube;        ///< cube layout that the metadata specifies
    std::vector<ImageFrame> data;          ///< data window of each level
    std::vector<ImageFrame> displays;      ///< display window of each level
};

/// Returns the number of images in a file that OpenImageIO reads. Throws Error{io}.
[[nodiscard]] int image_count(const std::filesystem::path& path);
/// Opens one image of such a file. ImageMetadata::parts of the result is 1. Throws Error{io}.
[[nodiscard]] OpenedImage open_with_oiio(const std::filesystem::path& path, int part, ImageColor color);

/// Returns true if the file begins with the DDS signature. Throws Error{io} if it cannot be read.
[[nodiscard]] bool is_dds(const std::filesystem::path& path);
/// Opens a DDS file. Throws Error{io} if it is damaged, and Error{unsupported} for an unknown format.
[[nodiscard]] OpenedImage open_dds(const std::filesystem::path& path, ImageColor color);

/// One frame of a file of raw planar frames.
struct OpenedFrame {
    ImageSourcePtr luma, chroma;  ///< the planes
    ImageMetadata metadata;       ///< the metadata
};
/// Opens a frame. Throws Error{bad_argument} if the description is invalid, Error{io} if the size of the file does not
/// match it, and Error{out_of_bounds} if the frame does not exist.
[[nodiscard]] OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw);

/// Opens files in this process. Derived classes can open them elsewhere.
class FileOpener {
public:
    FileOpener() = default;
    virtual ~FileOpener() = default;
    FileOpener(const FileOpener&) = delete;
    FileOpener& operator=(const FileOpener&) = delete;

    virtual bool is_dds(const std::filesystem::path& path) { return detail::is_dds(path); }
    virtual int image_count(const std::filesystem::path& path) { return detail::image_count(path); }
    virtual OpenedImage open_with_oiio(const std::filesystem::path& path, int part, ImageColor color) {
        return detail::open_with_oiio(path, part, color);
    }
    virtual OpenedImage open_dds(const std::filesystem::path& path, ImageColor color) {
        return detail::open_dds(path, color);
    }
    virtual OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) {
        return detail::open_raw_frame(path, raw);
    }
};
/// Returns the object that opens files as the options request.
[[nodiscard]] std::unique_ptr<FileOpener> file_opener(const ReadOptions& options);
/// Returns the extension of a path in lower case, with the dot. It selects the kind of a file that is written.
[[nodiscard]] std::string file_ending(const std::filesystem::path& path);
/// Does the work of savable_format(), whose errors have `object`.
[[nodiscard]] std::optional<Format> nearest_savable(const char* object, const std::filesystem::path& path,
                                                    Format format);
/// Writes a DDS file. Throws Error{io} and Canceled.
void save_dds(const std::filesystem::path& path, const ImageState& image, const OnImageProgress& progress);
/// Writes one raw planar frame. Throws Error{io} and Canceled.
void save_raw_frame(const std::filesystem::path& path, const ImageState& image, const OnImageProgress& progress);

}  // namespace texton::detail
