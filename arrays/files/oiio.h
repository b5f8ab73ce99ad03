#pragma once
// Functions that all readers and writers of image files share.
#include <OpenImageIO/imageio.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <texton/error.h>
#include <texton/format.h>

#include "arrays/files/texel_writer.h"
#include "arrays/files/tiff_exif.h"
#include "core/file_error.h"
#include "core/new_file.h"

namespace texton::detail {

/// Returns error messages of OpenImageIO, one a line, as one line without the final punctuation, because Error adds a
/// full stop. Only the first messages are kept.
[[nodiscard]] std::string one_line(std::string text);

/// Throws Error{io} if the path does not exist, is not a regular file, is empty or cannot be read.
void require_file(const char* object, const std::filesystem::path& path);
/// Opens a file. Colors are read as stored, not multiplied by alpha. Throws Error{io} if the file cannot be opened.
[[nodiscard]] std::unique_ptr<OIIO::ImageInput> open_input(const char* object, const std::filesystem::path& path);
/// Returns the one-channel format for the type of a file. Throws Error{io} if there is none, if the samples are deep or
/// if a dimension is 0.
[[nodiscard]] Format channel_format(const char* object, const std::filesystem::path& path, const OIIO::ImageSpec& spec);

/// Throws Error{io} if the last read failed. `good` is the result of OpenImageIO, which can be true although a TIFF is
/// truncated; therefore the error state of `input` is checked, too.
void require_read(const char* object, const std::filesystem::path& path, OIIO::ImageInput& input, bool good);

/// Returns a remedy for a kind of file that cannot hold a format: kinds that can.
[[nodiscard]] std::string other_kinds(Format format);

/// Returns the number of rows that a file stores together: of tiles, or of a strip unless it is larger than the parts
/// in which images are read and written. OpenImageIO compresses and decompresses several strips at the same time if the
/// rows that are requested begin and end with strips.
[[nodiscard]] int rows_together(const OIIO::ImageSpec& spec);

/// Returns OpenImageIO's type of one channel of a plain format.
[[nodiscard]] OIIO::TypeDesc channel_type(Format format);
/// Returns the one-channel format of texels that OpenImageIO reads as this type, if there is one.
[[nodiscard]] std::optional<Format> format_of(const OIIO::TypeDesc& type);

/// Writes a temporary file with OpenImageIO, which complete() renames. The extension of the path selects the kind of
/// file.
///
/// Some writers of OpenImageIO do not check for write errors, and that of JPEG ends the process. Therefore the bytes
/// pass through a stream that records the first error. Writers that open the file by name have no stream: what they
/// wrote is decoded once.
class ImageFileOutput {
public:
    /// Throws Error{io} if OpenImageIO does not know the extension.
    ImageFileOutput(const char* object, const std::filesystem::path& path);
    ~ImageFileOutput();
    ImageFileOutput(const ImageFileOutput&) = delete;
    ImageFileOutput& operator=(const ImageFileOutput&) = delete;

    OIIO::ImageOutput* operator->() const noexcept { return output_.get(); }
    /// Opens one part for writing, or all parts at once for kinds of file that need them in advance. Throws Error{io}.
    void open(std::span<const OIIO::ImageSpec> specs, OIIO::ImageOutput::OpenMode mode = OIIO::ImageOutput::Create);
    /// Throws Error{io} if `good`, the result of the last write, is false.
    void require_written(bool good);
    /// Must be called before the first open() if texel_writer() will be called after each one.
    void expect_texel_writer() noexcept { wants_texel_writer_ = true; }
    /// After open(): if the texels of a PNG or TIFF can be written without OpenImageIO, ends the work of OpenImageIO
    /// and returns their writer, which is valid until the next open() or complete(). Otherwise, and without
    /// expect_texel_writer(), returns null.
    TexelWriter* texel_writer();
    /// Closes the file and gives it its final name, as NewFile::complete() does. Throws Error{io}. Errors of some writers
    /// are lost. Their files are read before, and given to `check`, which throws if it misses something.
    void complete(bool waits = true, const std::function<void(const std::filesystem::path& file)>& check = nullptr);

private:
    class Stream;
    [[noreturn]] void fail(const char* what, const std::string& remedy);
    [[noreturn]] void fail_to_open();
    void open_png(const OIIO::ImageSpec& spec);
    void end_stream();
    TexelWriter* tiff_writer();
    void finish_texels();
    void require_header() const;
    void require_readable() const;

    const char* object_;
    const std::filesystem::path path_;
    std::unique_ptr<OIIO::ImageOutput> output_;
    NewFile file_;
    std::unique_ptr<Stream> stream_;
    std::unique_ptr<TexelWriter> texel_writer_;
    std::vector<std::vector<ExifField>> exif_;  // of each image of a TIFF
    int parts_ = 0;                             // parts and levels that were opened
    OIIO::ImageSpec first_;                     // of the first one
    bool wants_texel_writer_ = false;
    bool has_rows_ = false;  // some rows were written
};

}  // namespace texton::detail
