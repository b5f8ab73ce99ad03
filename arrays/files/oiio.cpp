#include "arrays/files/oiio.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace texton::detail {
namespace {

// Returns the code value of 1 in a channel of the format.
std::uint32_t one(Format format) {
    const FormatInfo& row = info(format);
    if (row.kind == FormatKind::unorm || row.kind == FormatKind::srgb) return row.bits == 8 ? 0xffu : 0xffffu;
    if (row.kind == FormatKind::snorm) return row.bits == 8 ? 0x7fu : 0x7fffu;
    if (row.kind == FormatKind::floating) return row.bits == 16 ? 0x3c00u : 0x3f800000u;
    return 1;
}

std::optional<Format> format_of(const OIIO::TypeDesc& type) {
    switch (type.basetype) {
        case OIIO::TypeDesc::UINT8: return Format::r8_unorm;
        case OIIO::TypeDesc::INT8: return Format::r8_sint;
        case OIIO::TypeDesc::UINT16: return Format::r16_unorm;
        case OIIO::TypeDesc::INT16: return Format::r16_sint;
        case OIIO::TypeDesc::UINT32: return Format::r32_uint;
        case OIIO::TypeDesc::INT32: return Format::r32_sint;
        case OIIO::TypeDesc::HALF: return Format::r16_float;
        case OIIO::TypeDesc::FLOAT: return Format::r32_float;
        default: return std::nullopt;  // including double, which OpenImageIO 2.4 reads from TIFF files as zeros
    }
}

// Reads integers of a TIFF file in its byte order.
class TiffNumbers {
public:
    explicit TiffNumbers(const std::filesystem::path& path) : file_(path, std::ios::binary) {
        big_endian_ = number(0, 2) == 0x4d4d;
    }
    std::uint64_t number(std::uint64_t at, unsigned bytes) {
        std::array<unsigned char, 8> read{};
        file_.seekg(static_cast<std::streamoff>(at)).read(reinterpret_cast<char*>(read.data()), bytes);
        std::uint64_t value = 0;
        for (unsigned i = 0; i < bytes; ++i) value = value << 8 | read[big_endian_ ? i : bytes - 1 - i];
        return value;
    }
    bool good() const { return file_.good(); }

private:
    std::ifstream file_;
    bool big_endian_ = false;
};

// Returns true if the first image of a TIFF has several slices (tag ImageDepth). OpenImageIO 2.4 reads only one of
// them.
bool is_tiff_of_slices(const std::filesystem::path& path) {
    constexpr std::uint64_t kImageDepth = 32997;
    constexpr unsigned kShort = 3;
    TiffNumbers file(path);
    const bool large = file.number(2, 2) == 43;  // BigTIFF
    const std::uint64_t directory = large ? file.number(8, 8) : file.number(4, 4);
    const std::uint64_t count = std::min<std::uint64_t>(file.number(directory, large ? 8 : 2), 0xffff);
    std::uint64_t entry = directory + (large ? 8 : 2);
    for (std::uint64_t i = 0; i < count && file.good(); ++i, entry += large ? 20 : 12) {
        if (file.number(entry, 2) != kImageDepth) continue;
        return file.number(entry + (large ? 12 : 8), file.number(entry + 2, 2) == kShort ? 2 : 4) > 1;
    }
    return false;
}

}  // namespace

void fail_file(const char* object, const std::filesystem::path& path, const std::string& why, std::string remedy,
               ErrorCode code, std::vector<ErrorNumber> numbers) {
    throw Error({.code = code,
                 .object = object,
                 .problem = path.string() + " " + why,
                 .remedy = std::move(remedy),
                 .numbers = std::move(numbers)});
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    text.erase(text.find_last_not_of(" .?!") + 1);
    return text.empty() ? "no reason given" : text;
}

void require_file(const char* object, const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) fail_file(object, path, "does not exist", "Check the path.");
    if (std::filesystem::is_directory(status)) fail_file(object, path, "is a folder", "Name a file in it.");
    if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, error) == 0)
        fail_file(object, path, "is empty", "The program that wrote the file may have failed.");
    if (::access(path.c_str(), R_OK) != 0)
        fail_file(object, path, "cannot be read: permission denied", "Check the permissions of the file.");
}

std::unique_ptr<OIIO::ImageInput> open_input(const char* object, const std::filesystem::path& path) {
    require_file(object, path);
    OIIO::ImageSpec config;
    config.attribute("oiio:UnassociatedAlpha", 1);
    auto input = OIIO::ImageInput::open(path.string(), &config);
    if (!input) {
        fail_file(object, path, "cannot be read as an image: " + one_line(OIIO::geterror()),
                  "The file may be truncated, or its kind is not supported.");
    }
    if (input->format_name() == std::string_view("tiff") && is_tiff_of_slices(path)) {
        fail_file(object, path, "is a TIFF whose images have several slices, of which OpenImageIO reads only the first",
                  "Store each slice as a separate image, or the volume as DDS.");
    }
    return input;
}

Format channel_format(const char* object, const std::filesystem::path& path, const OIIO::ImageSpec& spec) {
    const std::optional<Format> format = format_of(spec.format);
    if (spec.deep || !format) {
        fail_file(object, path,
                  spec.deep ? "contains deep samples" : "contains channels of type " + std::string(spec.format.c_str()),
                  "Convert it to a flat image with integer or float channels of at most 32 bits.");
    }
    if (spec.width < 1 || spec.height < 1 || spec.nchannels < 1) {
        fail_file(object, path, "has no texels", "The file may be damaged.");
    }
    return *format;
}

void require_read(const char* object, const std::filesystem::path& path, OIIO::ImageInput& input, bool good) {
    if (good && !input.has_error()) return;
    fail_file(object, path, "cannot be read completely: " + one_line(input.geterror()), "The file may be truncated.");
}

OIIO::TypeDesc channel_type(Format format) { return OIIO::TypeDesc(OIIO::string_view(std::string(info(format).oiio))); }

void set_alpha_to_one(Format format, std::span<std::byte> texels) {
    const std::size_t texel = info(format).bytes;
    const std::size_t channel = texel / 4;
    const std::uint32_t value = one(format);  // little-endian, as on all platforms of CUDA
    for (std::size_t at = texel - channel; at < texels.size(); at += texel) {
        std::memcpy(texels.data() + at, &value, channel);
    }
}

FileAside::FileAside(const char* object, const std::filesystem::path& path)
    : object_(object), path_(path), aside_(path) {
    static std::atomic<unsigned> count{0};
    std::string name = ".";
    name += path.stem().string() + "." + std::to_string(::getpid()) + "-" + std::to_string(count++);
    name += path.extension().string();
    aside_.replace_filename(name);
}

FileAside::~FileAside() {
    std::error_code ignored;
    if (!done_) std::filesystem::remove(aside_, ignored);
}

void FileAside::complete() {
    std::error_code error;
    std::filesystem::rename(aside_, path_, error);
    if (error) fail_file(object_, path_, "cannot be replaced: " + error.message(), "Write to another path.");
    done_ = true;
}

ImageFileOutput::ImageFileOutput(const char* object, const std::filesystem::path& path)
    : object_(object), path_(path), aside_(object, path), output_(OIIO::ImageOutput::create(aside_.name())) {
    if (output_ == nullptr) {
        (void)OIIO::geterror();
        fail_file(object, path, "has an extension that OpenImageIO cannot write",
                  "Use .png, .tif, .exr or another supported extension.");
    }
}

ImageFileOutput::~ImageFileOutput() { output_.reset(); }

void ImageFileOutput::open(std::span<const OIIO::ImageSpec> specs, OIIO::ImageOutput::OpenMode mode) {
    // The TIFF writer checks for write errors itself. It loses earlier parts if it appends a part to a stream.
    if (file_ == nullptr && output_->supports("ioproxy") && output_->format_name() != std::string("tiff")) {
        file_.reset(std::fopen(aside_.name().c_str(), "w+b"));
        if (file_ == nullptr) {
            fail_file(object_, path_, "cannot be opened: " + std::generic_category().message(errno),
                      "Check that the folder is writable.");
        }
        stream_ = std::make_unique<OIIO::Filesystem::IOFile>(file_.get(), OIIO::Filesystem::IOProxy::Write);
        output_->set_ioproxy(stream_.get());
    }
    const bool good = specs.size() == 1 ? output_->open(aside_.name(), specs.front(), mode)
                                        : output_->open(aside_.name(), static_cast<int>(specs.size()), specs.data());
    if (good) return;
    if (stream_ != nullptr)
        output_->set_ioproxy(nullptr);  // the JPEG writer crashes if it closes a file that it did not open
    fail_file(object_, path_, "cannot be opened: " + one_line(output_->geterror()),
              "Check that the folder is writable and that the kind of file supports the image.");
}

void ImageFileOutput::require_written(bool good) {
    if (good) return;
    fail_file(object_, path_, "cannot be written: " + one_line(output_->geterror()), "The disk may be full.");
}

void ImageFileOutput::complete() {
    require_written(output_->close());
    output_.reset();  // OpenEXR writes the table of tiles on destruction
    if (file_ != nullptr) {
        const bool lost = std::ferror(file_.get()) != 0;
        const bool flushed = std::fflush(file_.get()) == 0;
        if (lost || !flushed || std::fclose(file_.release()) != 0) {
            fail_file(object_, path_, "cannot be written: " + std::generic_category().message(errno),
                      "The disk may be full.");
        }
    }
    aside_.complete();
}

}  // namespace texton::detail
