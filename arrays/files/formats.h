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
    ImageSourcePtr file;                   ///< the texels
    ImageMetadata metadata;                ///< the metadata
    std::vector<std::string> conversions;  ///< as ImageFile::conversions()
    std::optional<ArrayKind> kind;         ///< kind of array that the file specifies; unset: a single image
    std::optional<CubeLayout> cube;        ///< cube layout that the metadata specifies
    std::vector<ImageFrame> data;          ///< data window of each level
    std::vector<ImageFrame> displays;      ///< display window of each level
    bool is_encoded = true;                ///< false: the file stores the texels as they are
    bool has_parts = true;                 ///< false: FilePart::part does not apply to the kind of file
};

/// What to open of a file.
struct FilePart {
    int part = 0;                                ///< index of the image, for kinds of file that have several
    ImageColor color = ImageColor::by_metadata;  ///< as ImageOptions::color
    bool counted = false;  ///< true: ImageMetadata::parts of the result is the number of images; false: it is 1
    bool operator==(const FilePart&) const = default;
};

/// Opens one image of a file that OpenImageIO reads. Throws Error{io}.
[[nodiscard]] OpenedImage open_with_oiio(const std::filesystem::path& path, const FilePart& wanted);

/// Returns true if the file begins with the DDS signature. Throws Error{io} if it cannot be read.
[[nodiscard]] bool is_dds(const std::filesystem::path& path);
/// Opens a DDS file. Throws Error{io} if it is damaged, and Error{unsupported} for an unknown format.
[[nodiscard]] OpenedImage open_dds(const std::filesystem::path& path, ImageColor color);

/// Opens one image of a file of any kind but raw frames. Throws their errors.
[[nodiscard]] OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted);

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

    /// The caller will call open_file() for these files in this order.
    virtual void expect(std::vector<std::filesystem::path> paths, const FilePart& wanted) {
        (void)paths;
        (void)wanted;
    }
    virtual OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted) {
        return detail::open_file(path, wanted);
    }
    /// The caller will read all texels of the first level next.
    virtual OpenedImage open_with_oiio(const std::filesystem::path& path, const FilePart& wanted) {
        return detail::open_with_oiio(path, wanted);
    }
    virtual OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) {
        return detail::open_raw_frame(path, raw);
    }
};
/// Returns the object that opens files as the options request.
[[nodiscard]] std::unique_ptr<FileOpener> file_opener(const ReadOptions& options);
/// Writes a DDS file. Throws Error{io} and Canceled.
void save_dds(const std::filesystem::path& path, const ImageState& image, const OnImageProgress& progress);
/// Writes one raw planar frame. Throws Error{io} and Canceled.
void save_raw_frame(const std::filesystem::path& path, const ImageState& image, const OnImageProgress& progress);

}  // namespace texton::detail
