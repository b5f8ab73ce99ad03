#include "arrays/files/oiio.h"

#include <OpenImageIO/filesystem.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include "arrays/files/dds_header.h"
#include "arrays/files/png_writer.h"
#include "arrays/files/signature.h"
#include "arrays/files/stored_texels.h"
#include "arrays/files/tiff_chunk_writer.h"
#include "arrays/files/tiff_directory.h"

namespace texton::detail {
namespace {

// Returns a remedy for a kind of file that cannot hold channels of a type.
std::string kinds_for(OIIO::TypeDesc type) {
    if (type == OIIO::TypeHalf) return "Use .exr.";
    return type == OIIO::TypeFloat || type == OIIO::TypeUInt32 ? "Use .tif or .exr." : "Use .tif.";
}

// Throws std::bad_alloc if a message of OpenImageIO says that a decoder lacked memory.
std::string reason(std::string message) {
    if (message.find("std::bad_alloc") != std::string::npos) throw std::bad_alloc();
    return one_line(std::move(message));
}

// Opens a file with the reader of this name.
std::unique_ptr<OIIO::ImageInput> opened_by(const std::string& reader, const char* object,
                                            const std::filesystem::path& path, const OIIO::ImageSpec& config) {
    auto input = OIIO::ImageInput::create(reader);
    if (input == nullptr) {
        (void)OIIO::geterror();
        fail_file(object, path, fmt::format("is a file of the kind {}, for which OpenImageIO has no reader", reader),
                  "Convert it to another kind, for example PNG, TIFF or OpenEXR.");
    }
    OIIO::ImageSpec spec;
    if (input->open(path.string(), spec, config)) return input;
    fail_file(object, path,
              fmt::format("cannot be read as an image of the kind {}: {}", reader, reason(input->geterror())),
              "The file may be damaged.");
}

}  // namespace

std::string one_line(std::string text) {
    constexpr std::ptrdiff_t kMaxMessages = 3;  // some decoders report each row of a damaged image
    const std::ptrdiff_t lines = std::count(text.begin(), text.end(), '\n') + (text.ends_with('\n') ? 0 : 1);
    if (lines > kMaxMessages) {
        std::size_t end = 0;
        for (std::ptrdiff_t i = 0; i < kMaxMessages; ++i) end = text.find('\n', end) + 1;
        text.resize(end);
        text += "and " + std::to_string(lines - kMaxMessages) + " more messages";
    }
    std::replace(text.begin(), text.end(), '\n', ' ');
    text.erase(text.find_last_not_of(" .?!") + 1);
    return text.empty() ? "no reason given" : text;
}

void require_file(const char* object, const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::none)
        fail_file(object, path, "cannot be read: " + error.message(), "Check the path and the permissions.");
    if (!std::filesystem::exists(status)) fail_file(object, path, "does not exist", "Check the path.");
    if (std::filesystem::is_directory(status)) fail_file(object, path, "is a folder", "Name a file in it.");
    if (!std::filesystem::is_regular_file(status))  // a pipe would block, and cannot be read twice
        fail_file(object, path, "is not a regular file", "Copy its contents to a file first.");
    if (std::filesystem::file_size(path, error) == 0)
        fail_file(object, path, "is empty", "The program that wrote the file may have failed.");
    if (::access(path.c_str(), R_OK) != 0)
        fail_file(object, path, "cannot be read: permission denied", "Check the permissions of the file.");
}

std::unique_ptr<OIIO::ImageInput> open_input(const char* object, const std::filesystem::path& path) {
    const std::vector<std::byte> first = bytes_at(object, path, 0, kSignatureBytes);
    OIIO::ImageSpec config;
    config.attribute("oiio:UnassociatedAlpha", 1);
    // By default, OpenImageIO refuses images of more than 32 GiB, or more than the memory of the machine. Texton has limits
    // of its own, and reads parts of large images.
    OIIO::attribute("limits:imagesize_MB", 0);
    const std::string reader = reader_name(path, first);
    auto input = reader.empty() ? OIIO::ImageInput::open(path.string(), &config)  // tries all readers
                                : opened_by(reader, object, path, config);
    if (!input) {
        (void)reason(OIIO::geterror());
        fail_file(object, path, "is of no kind that OpenImageIO reads",
                  "Name an image file. If the file is one, its beginning may be damaged.");
    }
    // OpenImageIO 2.4 reads only one of the slices.
    if (input->format_name() == std::string_view("tiff") && first_tiff_directory(path).slices > 1) {
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
    fail_file(object, path, "cannot be read completely: " + reason(input.geterror()), "The file may be damaged.");
}

std::string other_kinds(Format format) {
    if (info(format).layout == FormatLayout::plain) return kinds_for(channel_type(format));
    return dds_holds(format) ? "Use .dds." : "Use .ktx2.";
}

int rows_together(const OIIO::ImageSpec& spec) {
    if (spec.tile_width != 0) return std::max(spec.tile_height, 1);
    constexpr int kRowsOfWriter = 32;  // of a strip of a new TIFF; a multiple of those of OpenEXR
    const int of_strip = spec.get_int_attribute("tiff:RowsPerStrip", kRowsOfWriter);
    const int rows = std::clamp(of_strip, 1, std::max(spec.height, kRowsOfWriter));
    return static_cast<std::uint64_t>(rows) * spec.scanline_bytes() <= kBandBytes ? rows : 1;
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

OIIO::TypeDesc channel_type(Format format) { return OIIO::TypeDesc(OIIO::string_view(std::string(info(format).oiio))); }

// What writers of OpenImageIO 2.4 accept, but write wrongly.
struct Unwritable {
    std::string_view kind;
    int channels = 0;                               // 0: any number
    OIIO::TypeDesc type = OIIO::TypeDesc::UNKNOWN;  // UNKNOWN: any type

    bool matches(std::string_view writer, const OIIO::ImageSpec& spec) const {
        return writer == kind && (channels == 0 || channels == spec.nchannels) &&
               (type == OIIO::TypeDesc::UNKNOWN || type == spec.format);
    }
};
const Unwritable kUnwritable[] = {
    {"dpx", 2},                          // ends the process
    {"ico", 1},                          // the file makes its reader write beyond its memory
    {"ico", 2},                          // loses the second channel
    {"ico", 3},                          // as with 1
    {"ico", 0, OIIO::TypeDesc::UINT16},  // writes other texels if a side is 256
    {"fits", 0, OIIO::TypeDesc::HALF},   // writes too few bytes
    {"rla"},                             // writes other bytes at the end of runs
};

// The proxy of a writer: bytes go to the new file through a buffer, and the first error is kept. Its type is not
// "file", because the writer of JPEG hands files to libjpeg, which ends the process if a write fails.
class ImageFileOutput::Stream : public OIIO::Filesystem::IOProxy {
public:
    explicit Stream(NewFile& file) : IOProxy(file.name().string(), Write), file_(file) {}

    const char* proxytype() const override { return "texton"; }
    void close() override { m_mode = Closed; }
    int64_t tell() override { return m_pos; }
    bool seek(int64_t offset) override {
        if (offset < 0) return false;
        m_pos = offset;
        return true;
    }
    size_t write(const void* from, size_t bytes) override {
        const size_t put = pwrite(from, bytes, m_pos);
        m_pos += static_cast<int64_t>(put);
        return put;
    }
    size_t pwrite(const void* from, size_t bytes, int64_t offset) override {
        const std::lock_guard lock(mutex_);
        const auto at = static_cast<std::uint64_t>(offset);
        const auto* first = static_cast<const std::byte*>(from);
        if (at != buffer_at_ + buffer_.size() || buffer_.size() + bytes > kBufferBytes) put_buffer();
        if (bytes > kBufferBytes) {
            keep(file_.write_at(at, {first, bytes}));
        } else {
            if (buffer_.empty()) buffer_at_ = at;
            buffer_.insert(buffer_.end(), first, first + bytes);
        }
        return error_ == 0 ? bytes : 0;
    }
    size_t read(void* to, size_t bytes) override {
        const size_t got = pread(to, bytes, m_pos);
        m_pos += static_cast<int64_t>(got);
        return got;
    }
    size_t pread(void* to, size_t bytes, int64_t offset) override {
        const std::lock_guard lock(mutex_);
        put_buffer();
        // libtiff would follow the numbers of bytes that were not written, without an end.
        if (error_ != 0) return 0;
        return file_.read_at(static_cast<std::uint64_t>(offset), {static_cast<std::byte*>(to), bytes});
    }
    size_t size() const override {
        const std::lock_guard lock(mutex_);
        put_buffer();
        const std::optional<std::uint64_t> bytes = file_.size();
        if (!bytes) keep(errno);
        return bytes.value_or(0);
    }
    void flush() const override {
        const std::lock_guard lock(mutex_);
        put_buffer();
    }

    /// Returns the first error number of the system, or 0.
    int first_error() const {
        flush();
        return error_;
    }

private:
    static constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

    void keep(int error) const noexcept {
        if (error_ == 0) error_ = error;
    }
    void put_buffer() const {
        if (!buffer_.empty()) keep(file_.write_at(buffer_at_, buffer_));
        buffer_.clear();
    }

    NewFile& file_;
    mutable std::mutex mutex_;
    mutable std::vector<std::byte> buffer_;
    std::uint64_t buffer_at_ = 0;
    mutable int error_ = 0;
};

ImageFileOutput::ImageFileOutput(const char* object, const std::filesystem::path& path)
    : object_(object),
      path_(path),
      output_([&] {
          auto output = OIIO::ImageOutput::create(path.string());
          if (output != nullptr) return output;
          (void)OIIO::geterror();
          fail_file(object, path, "has an extension that OpenImageIO cannot write",
                    "Use .png, .tif, .exr or another supported extension.");
      }()),
      file_(object, path) {}

namespace {

// libpng prints a message if a file ends before its first compressed bytes, also a file that is given up. Writes rows of
// noise, which has more bytes than the buffers of the compression, or all rows.
void write_noise(OIIO::ImageOutput& png) {
    constexpr std::size_t kBytes = std::size_t{64} << 10;
    const OIIO::ImageSpec& spec = png.spec();
    const std::size_t row = spec.scanline_bytes();
    const auto texels = std::unique_ptr<std::uint8_t[]>(new (std::nothrow) std::uint8_t[row]);
    if (texels == nullptr) return;
    std::uint32_t state = 1;
    for (std::size_t y = 0; y < static_cast<std::size_t>(spec.height) && y * row <= kBytes; ++y) {
        std::generate_n(texels.get(), row, [&] {
            state = state * 1664525 + 1013904223;
            return static_cast<std::uint8_t>(state >> 24);
        });
        png.write_scanline(spec.y + static_cast<int>(y), spec.z, spec.format, texels.get());
    }
}

}  // namespace

ImageFileOutput::~ImageFileOutput() {
    if (output_ != nullptr && parts_ > 0 && !has_rows_ && output_->format_name() == std::string_view("png"))
        write_noise(*output_);
    output_.reset();
}

void ImageFileOutput::fail(const char* what, const std::string& remedy) {
    if (stream_ != nullptr && stream_->first_error() != 0) file_.fail(stream_->first_error());
    fail_file(object_, path_, what + (": " + one_line(output_->geterror())), remedy);
}

namespace {

// Returns true if PngWriter compresses a PNG as OpenImageIO would: options are the usual ones, and colors are not divided
// by alpha. Larger numbers of rows are refused by libpng.
bool is_usual_png(const OIIO::ImageSpec& spec) {
    constexpr int kMaxRows = 1'000'000;
    constexpr const char* kOptions[] = {"compression", "CompressionQuality", "png:compressionLevel", "png:filter"};
    const bool is_divided = spec.alpha_channel >= 0 && spec.get_int_attribute("oiio:UnassociatedAlpha") == 0;
    return (spec.format == OIIO::TypeDesc::UINT8 || spec.format == OIIO::TypeDesc::UINT16) && spec.nchannels <= 4 &&
           spec.depth == 1 && spec.height <= kMaxRows && !is_divided &&
           std::ranges::none_of(kOptions, [&](const char* name) { return spec.find_attribute(name) != nullptr; });
}

// The writers of TIFF and OpenEXR store the time of writing if no time is given. With an unknown time, for which Exif
// has blanks, the files of equal images are equal.
void set_unknown_time(OIIO::ImageSpec& spec) {
    constexpr const char* kTime = "DateTime";
    if (spec.find_attribute(kTime) == nullptr) spec.attribute(kTime, "    :  :     :  :  ");
}

}  // namespace

void ImageFileOutput::open(std::span<const OIIO::ImageSpec> given, OIIO::ImageOutput::OpenMode mode) {
    const std::string_view kind = output_->format_name();
    std::vector<OIIO::ImageSpec> specs(given.begin(), given.end());
    if (kind == "tiff" || kind == "openexr") std::ranges::for_each(specs, set_unknown_time);
    const OIIO::ImageSpec& first = specs.front();
    if (std::ranges::any_of(kUnwritable, [&](const Unwritable& row) { return row.matches(kind, first); })) {
        fail_file(object_, path_,
                  fmt::format("is of a kind that OpenImageIO cannot write with {} channels of type {}", first.nchannels,
                              first.format.c_str()),
                  kinds_for(first.format));
    }
    if (wants_texel_writer_ && kind == "png" && is_usual_png(first)) return open_png(first);
    finish_texels();
    const bool appends = parts_ > 0 && kind == "tiff";
    if (appends) end_stream();  // the TIFF writer loses earlier parts if it appends a part to a stream
    if (stream_ == nullptr && output_->supports("ioproxy") && !appends) {
        stream_ = std::make_unique<Stream>(file_);
        output_->set_ioproxy(stream_.get());
    }
    const std::string name = file_.name().string();
    const bool good = [&] {
        if (specs.size() != 1) return output_->open(name, static_cast<int>(specs.size()), specs.data());
        OIIO::ImageSpec spec = first;
        if (kind == "tiff") {
            spec.attribute("tiff:write_exif", 0);  // see tiff_exif.h
            exif_.push_back(exif_fields(spec));
        }
        return output_->open(name, spec, mode);
    }();
    if (good) {
        if (parts_++ == 0) first_ = output_->spec();
        return;
    }
    if (stream_ != nullptr)
        output_->set_ioproxy(nullptr);  // the JPEG writer crashes if it closes a file that it did not open
    fail_to_open();
}

void ImageFileOutput::fail_to_open() {
    fail("cannot be written by OpenImageIO",
         "Check that the kind of file supports the format, the options and the attributes of the image.");
}

void ImageFileOutput::require_written(bool good) {
    has_rows_ = true;
    if (!good) fail("cannot be written", "The disk may be full.");
}

// Writes a PNG of one row to memory, of which the file gets everything but the texels.
void ImageFileOutput::open_png(const OIIO::ImageSpec& spec) {
    has_rows_ = true;
    OIIO::Filesystem::IOVecOutput memory;
    output_->set_ioproxy(&memory);
    OIIO::ImageSpec row = spec;
    row.height = 1;
    const std::vector<std::byte> texels(row.scanline_bytes());
    const bool good = output_->open(file_.name().string(), row) &&
                      output_->write_scanline(row.y, row.z, row.format, texels.data()) && output_->close();
    output_->set_ioproxy(nullptr);
    if (!good) fail_to_open();
    ++parts_;
    const std::span<const unsigned char> frame = memory.buffer();
    texel_writer_ = std::make_unique<PngWriter>(
        file_, std::as_bytes(frame),
        PngTexels{.extent = {static_cast<std::size_t>(spec.width), static_cast<std::size_t>(spec.height)},
                  .channels = static_cast<std::size_t>(spec.nchannels),
                  .channel_bytes = spec.format.size()});
}

TexelWriter* ImageFileOutput::texel_writer() {
    if (wants_texel_writer_ && output_->format_name() == std::string_view("tiff")) return tiff_writer();
    return texel_writer_.get();
}

// Closes the file for OpenImageIO, which opens it again by its name.
void ImageFileOutput::end_stream() {
    require_written(output_->close());
    if (stream_ == nullptr) return;
    if (stream_->first_error() != 0) file_.fail(stream_->first_error());
    output_->set_ioproxy(nullptr);
    stream_.reset();
}

TexelWriter* ImageFileOutput::tiff_writer() {
    const OIIO::ImageSpec spec = output_->spec();
    const std::string compression = spec.get_string_attribute("compression");
    const bool is_float = spec.format == OIIO::TypeDesc::FLOAT;
    const bool is_expected =
        (compression.empty() || compression == "zip") && spec.find_attribute("CompressionQuality") == nullptr &&
        spec.find_attribute("tiff:zipquality") == nullptr &&
        (is_float || spec.format == OIIO::TypeDesc::UINT8 || spec.format == OIIO::TypeDesc::UINT16);
    if (!is_expected) return nullptr;
    end_stream();
    const auto side = [](int length) { return static_cast<std::size_t>(std::max(length, 1)); };
    TiffNumbers numbers(file_.name());
    int directories = 0;
    while (directories < parts_ && numbers.next_directory()) ++directories;
    if (directories == parts_ && numbers.is_last()) {
        const auto chunks = TiffChunks::of(numbers, {.extent = {side(spec.width), side(spec.height)},
                                                     .channels = static_cast<unsigned>(spec.nchannels),
                                                     .channel_bytes = static_cast<unsigned>(spec.format.size()),
                                                     .is_float = is_float});
        if (chunks && TiffChunkWriter::can_write(*chunks)) {
            texel_writer_ = std::make_unique<TiffChunkWriter>(file_, *chunks);
            return texel_writer_.get();
        }
    }
    // The parts of a file have the same options, so what holds for the first one holds for all.
    wants_texel_writer_ = false;
    if (parts_ > 1 || !output_->open(file_.name().string(), spec))
        fail("cannot be written by OpenImageIO", "The disk may be full.");
    return nullptr;
}

void ImageFileOutput::finish_texels() {
    if (texel_writer_ == nullptr) return;
    texel_writer_->finish();
    texel_writer_.reset();
}

// Some writers of OpenImageIO report no error for images that they cannot write: that of JPEG 2000 with sides of less
// than 32 texels, and that of FITS with several channels of a single row.
void ImageFileOutput::require_header() const {
    try {
        const auto input = open_input(object_, file_.name());
        const OIIO::ImageSpec& spec = input->spec();
        if (spec.width == first_.width && spec.height == first_.height) return;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::io) throw;
    }
    fail_file(object_, path_,
              fmt::format("is of a kind that OpenImageIO cannot write with {} x {} texels of {} channels", first_.width,
                          first_.height, first_.nchannels),
              kinds_for(first_.format));
}

// Reads all rows of all parts, and the headers of all levels.
void ImageFileOutput::require_readable() const {
    const auto input = open_input(object_, file_.name());
    // Levels are parts of their own for the writer, and levels of one part for the reader of some kinds of file.
    if (!input->seek_subimage(parts_ - 1, 0) && !input->seek_subimage(0, parts_ - 1)) {
        fail_file(object_, path_, "was not written completely: a part or a level is missing", "The disk may be full.");
    }
    for (int part = 0; input->seek_subimage(part, 0); ++part) {
        const OIIO::ImageSpec spec = input->spec();
        const std::size_t row = spec.scanline_bytes(true);
        const std::size_t checked = std::clamp<std::size_t>(kBandBytes / std::max<std::size_t>(row, 1), 1,
                                                            static_cast<std::size_t>(spec.height));
        const int together = rows_together(spec);
        const int rows = std::max(static_cast<int>(checked) / together, 1) * together;
        const auto texels = std::make_unique_for_overwrite<std::byte[]>(row * static_cast<std::size_t>(rows));
        for (int y = 0; y < spec.height; y += rows) {
            const int top = spec.y + y, bottom = spec.y + std::min(spec.height, y + rows);
            const bool good =
                spec.tile_width != 0
                    ? input->read_tiles(part, 0, spec.x, spec.x + spec.width, top, bottom, spec.z, spec.z + 1, 0,
                                        spec.nchannels, OIIO::TypeDesc::UNKNOWN, texels.get())
                    : input->read_scanlines(part, 0, top, bottom, spec.z, 0, spec.nchannels, OIIO::TypeDesc::UNKNOWN,
                                            texels.get());
            if (good && !input->has_error()) continue;
            fail_file(object_, path_, "was not written completely: " + one_line(input->geterror()),
                      "The disk may be full.");
        }
    }
    (void)input->geterror();
}

namespace {

// Some headers contain the name of the file, but its writer knows only the name of the temporary file.
void write_name(NewFile& file, std::string_view kind, const std::string& name) {
    struct Field {
        std::string_view kind;
        std::uint64_t offset;
        std::size_t bytes;
    };
    constexpr Field kFields[] = {{"dpx", 36, 100}, {"sgi", 24, 80}};
    for (const Field& field : kFields) {
        if (field.kind != kind) continue;
        std::string contents = name.substr(0, field.bytes - 1);
        contents.resize(field.bytes);
        if (const int error = file.write_at(field.offset, std::as_bytes(std::span(contents)))) file.fail(error);
    }
}

}  // namespace

void ImageFileOutput::complete(bool waits, const std::function<void(const std::filesystem::path&)>& check) {
    const bool has_own_texels = texel_writer_ != nullptr;  // whose errors are known
    finish_texels();
    if (!has_own_texels) require_written(output_->close());
    const std::string kind = output_->format_name();
    output_.reset();  // OpenEXR writes the table of tiles on destruction
    if (stream_ != nullptr && stream_->first_error() != 0) file_.fail(stream_->first_error());
    if (stream_ == nullptr && file_.has_hole()) file_.fail(ENOSPC);
    write_name(file_, kind, path_.filename().string());
    add_exif(file_, exif_);
    if (stream_ == nullptr) {  // errors of the system may be lost
        if (!has_own_texels) require_readable();
        if (check) check(file_.name());
    }
    if (!has_own_texels) require_header();
    file_.complete(waits);
}

}  // namespace texton::detail
