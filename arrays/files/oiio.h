#pragma once
// Functions that all readers and writers of image files share.
#include <OpenImageIO/filesystem.h>
#include <OpenImageIO/imageio.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <texton/error.h>
#include <texton/format.h>

namespace texton::detail {

/// Throws Error{code}. The problem is "PATH WHY".
[[noreturn]] void fail_file(const char* object, const std::filesystem::path& path, const std::string& why,
                            std::string remedy, ErrorCode code = ErrorCode::io, std::vector<ErrorNumber> numbers = {});

/// Returns an error message of OpenImageIO as one line without the final punctuation, because Error adds a full stop.
[[nodiscard]] std::string one_line(std::string text);

/// Throws Error{io} if the path does not exist, is a folder, is empty or cannot be read.
void require_file(const char* object, const std::filesystem::path& path);
/// Opens a file. Colors are read as stored, not multiplied by alpha. Throws Error{io} if the file cannot be opened.
[[nodiscard]] std::unique_ptr<OIIO::ImageInput> open_input(const char* object, const std::filesystem::path& path);
/// Returns the one-channel format for the type of a file. Throws Error{io} if there is none, if the samples are deep or
/// if a dimension is 0.
[[nodiscard]] Format channel_format(const char* object, const std::filesystem::path& path, const OIIO::ImageSpec& spec);

/// Throws Error{io} if the last read failed. `good` is the result of OpenImageIO, which can be true although a TIFF is
/// truncated; therefore the error state of `input` is checked, too.
void require_read(const char* object, const std::filesystem::path& path, OIIO::ImageInput& input, bool good);

/// Returns OpenImageIO's type of one channel of a plain format.
[[nodiscard]] OIIO::TypeDesc channel_type(Format format);
/// Sets the last of four channels to one: the maximum code value of unorm, snorm and srgb, and 1 for other formats.
void set_alpha_to_one(Format format, std::span<std::byte> texels);

/// A temporary file in the folder of `path`. complete() renames it to `path`. Without complete() the destructor removes
/// it.
class FileAside {
public:
    FileAside(const char* object, const std::filesystem::path& path);
    FileAside(const FileAside&) = delete;
    FileAside& operator=(const FileAside&) = delete;
    ~FileAside();
    /// Returns the path of the temporary file.
    std::string name() const { return aside_.string(); }
    /// Renames the file. Throws Error{io}.
    void complete();

private:
    const char* object_;
    std::filesystem::path path_;
    std::filesystem::path aside_;
    bool done_ = false;
};

/// Writes a temporary file with OpenImageIO, which complete() renames. The extension of the path selects the kind of
/// file. Some writers of OpenImageIO do not check for write errors. Therefore the bytes pass through a stream whose
/// error state complete() checks.
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
    /// Closes the file and gives it its final name. Throws Error{io}.
    void complete();

private:
    struct CloseFile {
        void operator()(std::FILE* file) const noexcept { std::fclose(file); }
    };

    const char* object_;
    const std::filesystem::path path_;
    FileAside aside_;
    std::unique_ptr<std::FILE, CloseFile> file_;
    std::unique_ptr<OIIO::Filesystem::IOFile> stream_;
    std::unique_ptr<OIIO::ImageOutput> output_;
};

}  // namespace texton::detail
