#pragma once
// What all that reads and writes picture files shares.
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

/// Throws Error{code}: "PATH WHY. REMEDY".
[[noreturn]] void fail_file(const char* object, const std::filesystem::path& path, const std::string& why,
                            std::string remedy, ErrorCode code = ErrorCode::io, std::vector<ErrorNumber> numbers = {});

/// OpenImageIO's own words in one line, without the mark at the end: Error adds a full stop.
[[nodiscard]] std::string one_line(std::string text);

/// Error{io} if the path does not exist or is a folder.
void require_file(const char* object, const std::filesystem::path& path);
/// Opens a file whose alpha is to be read as stored. Error{io} if that cannot be.
[[nodiscard]] std::unique_ptr<OIIO::ImageInput> open_input(const char* object, const std::filesystem::path& path);
/// The one-channel format in which a file's type is read. Error{io} if there is none, or the samples are deep.
[[nodiscard]] Format channel_format(const char* object, const std::filesystem::path& path, const OIIO::ImageSpec& spec);

/// Error{io} unless what was just read of it is all there. `good` is what OpenImageIO says, which may say yes of a TIFF
/// that ends.
void require_read(const char* object, const std::filesystem::path& path, OIIO::ImageInput& input, bool good);

/// The type of one channel of a plain format.
[[nodiscard]] OIIO::TypeDesc channel_type(Format format);
/// Makes the last channel of texels of four channels one: the largest value of unorm, snorm and srgb, 1 of the others.
void set_alpha_to_one(Format format, std::span<std::byte> texels);

/// A file beside `path` that becomes `path` when it is complete, or vanishes.
class FileAside {
public:
    FileAside(const char* object, const std::filesystem::path& path);
    FileAside(const FileAside&) = delete;
    FileAside& operator=(const FileAside&) = delete;
    ~FileAside();
    std::string name() const { return aside_.string(); }
    void complete();

private:
    const char* object_;
    std::filesystem::path path_;
    std::filesystem::path aside_;
    bool done_ = false;
};

/// OpenImageIO's writer of the kind of file that the ending says, to a file aside. Some kinds of file do not look at
/// whether their bytes arrived: here all are written through a stream that remembers.
class ImageFileOutput {
public:
    /// Error{io} if the ending names no kind of file.
    ImageFileOutput(const char* object, const std::filesystem::path& path);
    ~ImageFileOutput();
    ImageFileOutput(const ImageFileOutput&) = delete;
    ImageFileOutput& operator=(const ImageFileOutput&) = delete;

    OIIO::ImageOutput* operator->() const noexcept { return output_.get(); }
    /// One part, or all at once to announce them. Error{io}.
    void open(std::span<const OIIO::ImageSpec> specs, OIIO::ImageOutput::OpenMode mode = OIIO::ImageOutput::Create);
    /// Error{io} unless that was written.
    void require_written(bool good);
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
