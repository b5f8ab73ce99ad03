#include <texton/image.h>

#include <OpenImageIO/imageio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>

#include <texton/error.h>

namespace texton {
namespace {

constexpr const char* kRead = "texton::read_image";
constexpr const char* kWrite = "texton::write_image";

[[noreturn]] void fail(const char* object, const std::filesystem::path& path, const std::string& why,
                       std::string remedy) {
    throw Error(
        {.code = ErrorCode::io, .object = object, .problem = path.string() + " " + why, .remedy = std::move(remedy)});
}

// OpenImageIO's own words in one line, without the mark at the end: Error adds a full stop.
std::string words(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    text.erase(text.find_last_not_of(" .?!") + 1);
    return text.empty() ? "no reason was given" : text;
}

// The one-channel format in which a file's type is read.
std::optional<Format> channel_format(const OIIO::TypeDesc& type) {
    switch (type.basetype) {
        case OIIO::TypeDesc::UINT8: return Format::r8_unorm;
        case OIIO::TypeDesc::INT8: return Format::r8_sint;
        case OIIO::TypeDesc::UINT16: return Format::r16_unorm;
        case OIIO::TypeDesc::INT16: return Format::r16_sint;
        case OIIO::TypeDesc::UINT32: return Format::r32_uint;
        case OIIO::TypeDesc::INT32: return Format::r32_sint;
        case OIIO::TypeDesc::HALF: return Format::r16_float;
        case OIIO::TypeDesc::FLOAT: return Format::r32_float;
        default: return std::nullopt;  // among them double, which OpenImageIO 2.4 reads from a TIFF as zeros
    }
}

OIIO::TypeDesc type_of(Format format) { return OIIO::TypeDesc(OIIO::string_view(std::string(info(format).oiio))); }

// One, as a channel of `format` stores it.
std::uint32_t one(Format format) {
    const FormatInfo& row = info(format);
    if (row.kind == FormatKind::unorm) return row.bits == 8 ? 0xffu : 0xffffu;
    if (row.kind == FormatKind::floating) return row.bits == 16 ? 0x3c00u : 0x3f800000u;
    return 1;
}

void fill_alpha(Image& image) {
    const std::size_t texel = info(image.format).bytes;
    const std::size_t channel = texel / 4;
    const std::uint32_t value = one(image.format);  // little-endian, as every platform of CUDA
    for (std::size_t at = texel - channel; at < image.texels.size(); at += texel) {
        std::memcpy(image.texels.data() + at, &value, channel);
    }
}

OIIO::ImageSpec stored_alpha() {
    OIIO::ImageSpec config;
    config.attribute("oiio:UnassociatedAlpha", 1);
    return config;
}

// A file beside `path` that becomes `path` when it is complete, or vanishes.
class Aside {
public:
    explicit Aside(const std::filesystem::path& path) : path_(path), aside_(path) {
        static std::atomic<unsigned> count{0};
        std::string name = ".";
        name += path.stem().string() + "." + std::to_string(::getpid()) + "-" + std::to_string(count++);
        name += path.extension().string();
        aside_.replace_filename(name);
    }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
    ~Aside() {
        std::error_code ignored;
        if (!done_) std::filesystem::remove(aside_, ignored);
    }
    std::string name() const { return aside_.string(); }
    void complete() {
        std::error_code error;
        std::filesystem::rename(aside_, path_, error);
        if (error) fail(kWrite, path_, "cannot be replaced: " + error.message(), "Write to another path.");
        done_ = true;
    }

private:
    std::filesystem::path path_;
    std::filesystem::path aside_;
    bool done_ = false;
};

}  // namespace

Image read_image(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) fail(kRead, path, "does not exist", "Check the path.");
    if (std::filesystem::is_directory(status)) fail(kRead, path, "is a folder", "Name a file in it.");

    const OIIO::ImageSpec config = stored_alpha();
    const auto input = OIIO::ImageInput::open(path.string(), &config);
    if (!input) {
        fail(kRead, path, "is no picture that can be read: " + words(OIIO::geterror()),
             "See whether the file is complete.");
    }
    const OIIO::ImageSpec& spec = input->spec();
    const std::optional<Format> channel = channel_format(spec.format);
    if (spec.deep || !channel) {
        fail(kRead, path,
             spec.deep ? "holds deep samples" : "holds channels of type " + std::string(spec.format.c_str()),
             "Convert it to a flat picture of a plain numeric type.");
    }
    if (spec.width < 1 || spec.height < 1 || spec.nchannels < 1)
        fail(kRead, path, "has no texels", "See whether the file is complete.");

    Image image;
    image.file_channels = spec.nchannels;
    const int channels = std::min(spec.nchannels, 4);
    image.format = with_channels(*channel, channels);
    image.extent = {static_cast<std::size_t>(spec.width), static_cast<std::size_t>(spec.height),
                    static_cast<std::size_t>(std::max(spec.depth, 1))};
    try {
        image.texels.resize(packed_bytes(image.format, image.extent));
    } catch (const std::exception&) {  // overflow, length_error or bad_alloc: it says how large it is, or lies
        fail(kRead, path, "says it is " + to_string(image.extent) + ", more than there is memory for",
             "See whether the file is damaged; if not, cut it down.");
    }
    if (channels == 3) fill_alpha(image);
    if (!input->read_image(0, 0, 0, channels, type_of(image.format), image.texels.data(),
                           static_cast<OIIO::stride_t>(info(image.format).bytes))) {
        fail(kRead, path, "cannot be read to its end: " + words(input->geterror()),
             "See whether the file is complete.");
    }
    return image;
}

void write_image(const std::filesystem::path& path, Format format, Extent extent, std::span<const std::byte> texels) {
    const FormatInfo& row = info(format);
    if (row.oiio.empty()) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kWrite,
                     .problem = std::string(row.name) + " has no counterpart in picture files",
                     .remedy = "Convert it to a plain format first."});
    }
    constexpr auto kLongest = static_cast<std::size_t>(std::numeric_limits<int>::max());
    const bool empty = extent.width == 0 || extent.height == 0 || extent.depth == 0;
    const bool huge = extent.width > kLongest || extent.height > kLongest || extent.depth > kLongest;
    if (empty || huge || texels.size() != packed_bytes(format, extent)) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = kWrite,
                     .problem = std::to_string(texels.size()) + " bytes are not " + to_string(extent) + " texels of " +
                                std::string(row.name),
                     .remedy = "Pass tightly packed rows, every side at least 1.",
                     .numbers = {{"bytes", texels.size()}, {"width", extent.width}, {"height", extent.height}}});
    }

    Aside aside(path);
    const auto output = OIIO::ImageOutput::create(aside.name());
    if (!output) {
        fail(kWrite, path, "has an ending that names no kind of file: " + words(OIIO::geterror()),
             "Use .png, .tif, .exr or another that OpenImageIO knows.");
    }
    OIIO::ImageSpec spec(static_cast<int>(extent.width), static_cast<int>(extent.height), row.channels,
                         type_of(format));
    spec.depth = static_cast<int>(extent.depth);
    spec.full_depth = spec.depth;
    spec.attribute("oiio:UnassociatedAlpha", 1);
    if (row.kind == FormatKind::srgb) spec.attribute("oiio:ColorSpace", "sRGB");
    if (spec.depth > 1 && !output->supports("volumes")) {
        fail(kWrite, path, "is of a kind that holds no volumes", "Write slice by slice, or to a TIFF.");
    }
    // A kind of file without them may drop the channels without a word.
    if (row.channels != 1 && !output->supports("alpha") && !output->supports("nchannels")) {
        fail(kWrite, path, "is of a kind that cannot hold " + std::string(row.name),
             "Use .png, .tif or .exr, or convert the texels first.");
    }
    if (!output->open(aside.name(), spec)) {
        fail(
            kWrite, path, "cannot be opened: " + words(output->geterror()),
            "Check that the folder can be written to, and that this kind of file holds " + std::string(row.name) + ".");
    }
    if (output->spec().format != spec.format || output->spec().nchannels != spec.nchannels) {
        output->close();
        fail(kWrite, path, "is of a kind that cannot hold " + std::string(row.name),
             "Use .tif or .exr, or convert the texels first.");
    }
    if (!output->write_image(spec.format, texels.data()) || !output->close()) {
        fail(kWrite, path, "cannot be written: " + words(output->geterror()), "See whether the disk is full.");
    }
    aside.complete();
}

}  // namespace texton
