#pragma once
// Readers and writers of each kind of file. A reader returns a stack of slices and the metadata.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <texton/image_save.h>
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
    bool is_encoded = true;                ///< false: the file stores the texels as they are
    bool has_parts = true;                 ///< false: FilePart::part does not apply to the kind of file
};

/// What to open of a file.
struct FilePart {
    int part = 0;                                ///< index of the image, for kinds of file that have several
    ImageColor color = ImageColor::by_metadata;  ///< as ImageOptions::color
    bool counted = false;  ///< true: ImageMetadata::parts of the result is the number of images; false: it is 1
    std::vector<std::string> channels{};  ///< as ImageOptions::channels
    bool operator==(const FilePart&) const = default;
};

/// Opens one image of a file that OpenImageIO reads. Throws Error{io}.
[[nodiscard]] OpenedImage open_with_oiio(const std::filesystem::path& path, const FilePart& wanted);

/// Kinds of file that Texton reads itself. They hold arrays of every kind.
enum class Container : std::uint8_t {
    none,  ///< another kind of file
    dds,
    ktx2
};
/// Returns the container whose signature the file begins with. Throws Error{io} if it cannot be read.
[[nodiscard]] Container container_of(const std::filesystem::path& path);
/// Opens a DDS file. Throws Error{io} if it is damaged, and Error{unsupported} for an unknown format.
[[nodiscard]] OpenedImage open_dds(const std::filesystem::path& path, ImageColor color);
/// Opens a KTX2 file. Throws Error{io} if it is damaged, and Error{unsupported} for an unknown format or compression.
[[nodiscard]] OpenedImage open_ktx2(const std::filesystem::path& path, ImageColor color);

/// Opens one image of a file of any kind but raw frames. Throws their errors.
[[nodiscard]] OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted);
/// Opens the first image of a file for read_image(): with OpenImageIO, which also decodes DDS, or of a KTX2 file.
/// Throws their errors, and Error{io} for blocks of KTX2.
[[nodiscard]] OpenedImage open_first_image(const std::filesystem::path& path, const FilePart& wanted);

/// One frame of a video file.
struct OpenedFrame {
    Format format = Format::nv12;          ///< the planar format
    ImageSourcePtr luma, chroma;           ///< the planes
    ImageMetadata metadata;                ///< the metadata
    std::vector<std::string> conversions;  ///< as ImageFile::conversions()
};
/// Opens a frame. Throws Error{bad_argument} if the description is invalid, Error{io} if the size of the file does not
/// match it, and Error{out_of_bounds} if the frame does not exist.
[[nodiscard]] OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw);

/// Opens a frame of a Y4M file. Throws Error{io} if the file is damaged, Error{unsupported} for other formats than
/// those of Format, and Error{out_of_bounds} if the frame does not exist.
[[nodiscard]] OpenedFrame open_y4m_frame(const std::filesystem::path& path, std::size_t frame);

/// Opens files in this process. Derived classes can open them elsewhere.
class FileOpener {
public:
    FileOpener() = default;
    virtual ~FileOpener() = default;
    FileOpener(const FileOpener&) = delete;
    FileOpener& operator=(const FileOpener&) = delete;

    /// The caller will call open_file() for these files in this order. `are_read`: it will read the texels of all.
    virtual void expect(std::vector<std::filesystem::path> paths, const FilePart& wanted, bool are_read) {
        (void)paths;
        (void)wanted;
        (void)are_read;
    }
    virtual OpenedImage open_file(const std::filesystem::path& path, const FilePart& wanted) {
        return detail::open_file(path, wanted);
    }
    /// The caller will read all texels of the first level next.
    virtual OpenedImage open_first_image(const std::filesystem::path& path, const FilePart& wanted) {
        return detail::open_first_image(path, wanted);
    }
    virtual OpenedFrame open_raw_frame(const std::filesystem::path& path, const RawFrames& raw) {
        return detail::open_raw_frame(path, raw);
    }
    virtual OpenedFrame open_y4m_frame(const std::filesystem::path& path, std::size_t frame) {
        return detail::open_y4m_frame(path, frame);
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
void save_dds(const std::filesystem::path& path, const ImageState& image, const SaveOptions& options);
/// Writes a KTX2 file. Throws Error{io}, Error{bad_argument} for an unknown compression, and Canceled.
void save_ktx2(const std::filesystem::path& path, const ImageState& image, const SaveOptions& options);
/// Returns true for attributes that the writer of a file sets or that describe how another file was stored.
[[nodiscard]] bool belongs_to_file(const std::string& name);

}  // namespace texton::detail
