#include <texton/image_save.h>

#include <algorithm>
#include <cstdint>
#include <future>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <OpenImageIO/strutil.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <texton/frame_writer.h>

#include "arrays/files/alpha.h"
#include "arrays/files/byte_list.h"
#include "arrays/files/dds_header.h"
#include "arrays/files/formats.h"
#include "arrays/files/frame_file.h"
#include "arrays/files/layout.h"
#include "arrays/files/oiio.h"
#include "arrays/files/stored_texels.h"

// Files that OpenImageIO writes consist of parts, which can have levels. An image is first divided into parts, each of
// which is a ImageSource. Then the parts are written one after the other, level by level and band by band.

namespace texton {
namespace {

using detail::bytes_in;
using detail::fail_file;
using detail::ImageSourcePtr;
using detail::ImageState;
using detail::one_line;

constexpr const char* kSave = "texton::save";
constexpr Extent kTile{64, 64};
constexpr std::size_t kChunkBandBytes = std::size_t{4} << 20;  // two such bands are in memory

// Whether an ICC profile can describe an image with this number of channels. CMYK is converted to RGB on reading.
bool describes(std::span<const std::uint8_t> profile, int channels) {
    constexpr std::size_t kColorSpace = 16;  // offset of the signature of the color space
    if (profile.size() < kColorSpace + 4) return true;
    const std::string_view space(reinterpret_cast<const char*>(profile.data()) + kColorSpace, 4);
    return !(space == "CMYK" || (space == "RGB " && channels < 3) || (space == "GRAY" && channels > 2));
}

std::vector<ImageSourcePtr> parts_of(const ImageState& image, CubeLayout layout) {
    std::vector<ImageSourcePtr> parts;
    const ArrayInfo& info = image.info;
    switch (info.kind) {
        case ArrayKind::array_1d:
        case ArrayKind::array_2d: return {image.file};
        case ArrayKind::layered_1d: return {detail::slices_as_rows(image.file)};
        case ArrayKind::array_3d:
        case ArrayKind::layered_2d:
            for (std::size_t slice = 0; slice < slice_count(info, 0); ++slice) {
                parts.push_back(detail::slice_of(detail::with_levels(image.file, 0, 1), slice));
            }
            return parts;
        case ArrayKind::cubemap:
        case ArrayKind::cubemap_layered: break;
    }
    for (std::size_t cube = 0; cube < slice_count(info, 0) / 6; ++cube) {
        if (layout == CubeLayout::faces) {
            for (std::size_t face = 0; face < 6; ++face) parts.push_back(detail::slice_of(image.file, cube * 6 + face));
        } else {
            parts.push_back(detail::laid_out(detail::slice_of(image.file, cube * 6, 6), layout));
        }
    }
    return parts;
}

// Names the format that the kind of file holds, or else kinds of file that hold the format.
std::string remedy_for(const std::filesystem::path& path, Format format) {
    const auto savable = detail::nearest_savable(kSave, path, format);
    if (!savable) return detail::other_kinds(format);
    const char* const open = info(format).layout == FormatLayout::plain ? "Open"
                             : detail::dds_holds(format)                ? "Use .dds or .ktx2, or open"
                                                                        : "Use .ktx2, or open";
    return fmt::format("{} the image with ImageOptions::format = {}.", open, name(*savable));
}

// Returns the names of compression methods that OpenImageIO's writer knows. For any other name, it writes the default
// without an error. Empty for kinds of file whose writer has no names of methods.
std::span<const std::string_view> compressions_of(std::string_view kind) {
    static constexpr std::string_view kTiff[] = {"none", "lzw", "packbits", "zip", "deflate", "jpeg"};
    static constexpr std::string_view kOpenExr[] = {"none",  "rle", "zips", "zip",  "piz",
                                                    "pxr24", "b44", "b44a", "dwaa", "dwab"};
    if (kind == "tiff") return kTiff;
    if (kind == "openexr") return kOpenExr;
    return {};
}

// Thrown if alpha is not opaque, although it is not to be written.
struct NotOpaque {};

enum class Alpha : std::uint8_t {
    written,
    checked,  // opaque, and not written
    dropped
};

class OiioWriter {
public:
    OiioWriter(const std::filesystem::path& path, const ImageState& image, const SaveOptions& options, Alpha alpha)
        : path_(path),
          image_(image),
          options_(options),
          channels_(alpha == Alpha::written ? info(image.info.format).channels : 3),
          alpha_(alpha),
          output_(kSave, path),
          parts_(parts_of(image, options.cube)),
          bands_(image, total(), options.progress) {}

    bool can_hold_alpha() const { return output_->supports("alpha") || output_->supports("nchannels"); }
    bool needs_alpha() const { return output_->format_name() == std::string_view("ico"); }

    /// Throws NotOpaque if some alpha is not opaque and the writer was to check that.
    void write() {
        require_possible();
        std::vector<OIIO::ImageSpec> specs;
        for (const ImageSourcePtr& part : parts_) specs.push_back(spec_of(*part, 0));
        output_.expect_texel_writer();
        const bool announced = specs.size() > 1 && output_->format_name() == std::string("openexr");
        for (std::size_t part = 0; part < parts_.size(); ++part) {
            for (int level = 0; level < levels(); ++level) {
                const bool first = part == 0 && level == 0;
                if (first && announced) {
                    open(specs);
                } else {
                    const OIIO::ImageSpec spec = spec_of(*parts_[part], level);
                    open({&spec, 1}, mode(first, level));
                }
                require_kept(*parts_[part]);
                if (detail::TexelWriter* const writer = output_.texel_writer(); writer != nullptr) {
                    write_texels(*parts_[part], level, *writer);
                } else {
                    write_level(*parts_[part], level);
                }
            }
        }
        output_.complete(options_.waits_for_disk, [&](const std::filesystem::path& file) { require_levels(file); });
    }

private:
    std::size_t total() const {
        std::size_t bytes = 0;
        for (const ImageSourcePtr& part : parts_) {
            for (const Extent& level : part->levels()) bytes += packed_bytes(part->format(), level);
        }
        return bytes;
    }
    // Requires the levels of a written file, before it gets its name.
    void require_levels(const std::filesystem::path& file) const {
        if (levels() == 1 || open_image(file).info().levels == levels()) return;
        fail_file(kSave, path_, "was not written completely: a level is missing", "The disk may be full.");
    }

    int levels() const { return image_.info.levels; }
    bool tiled() const { return options_.tile || levels() > 1; }

    OIIO::ImageOutput::OpenMode mode(bool first, int level) const {
        if (first) return OIIO::ImageOutput::Create;
        return level > 0 && output_->supports("mipmap") ? OIIO::ImageOutput::AppendMIPLevel
                                                        : OIIO::ImageOutput::AppendSubimage;
    }

    [[noreturn]] void cannot_hold(const std::string& what, std::string remedy) const {
        fail_file(kSave, path_, "is of a kind that cannot hold " + what, std::move(remedy));
    }

    [[noreturn]] void cannot_hold_format() const {
        const Format format = image_.info.format;
        cannot_hold(std::string(name(format)), remedy_for(path_, format));
    }

    // Continues a remedy: how to open one part of the image.
    std::string one_part() const {
        const bool faces = image_.info.kind == ArrayKind::cubemap;
        return fmt::format("select one of them with ImageOptions::{}.", faces ? "face" : "layer");
    }

    // Opens a part. If the kind of file cannot hold the format, the error names a format that it holds.
    void open(std::span<const OIIO::ImageSpec> specs, OIIO::ImageOutput::OpenMode mode = OIIO::ImageOutput::Create) {
        try {
            output_.open(specs, mode);
        } catch (const Error&) {
            if (detail::nearest_savable(kSave, path_, image_.info.format) == image_.info.format) throw;
            cannot_hold_format();
        }
    }

    void require_compression() const {
        const std::string_view method =
            std::string_view(options_.compression).substr(0, options_.compression.find(':'));
        const std::span<const std::string_view> known = compressions_of(output_->format_name());
        const auto is_method = [method](std::string_view name) { return OIIO::Strutil::iequals(name, method); };
        if (options_.compression.empty() || known.empty() || std::ranges::any_of(known, is_method)) return;
        fail_file(kSave, path_, fmt::format("cannot have the compression {}", detail::quoted(options_.compression)),
                  fmt::format("Use {} or {}.", fmt::join(known.first(known.size() - 1), ", "), known.back()),
                  ErrorCode::bad_argument);
    }

    void require_possible() const {
        const FormatInfo& row = info(image_.info.format);
        if (row.oiio.empty()) cannot_hold_format();
        if (parts_.size() > 1 && !output_->supports("multiimage")) {
            cannot_hold("layers, faces or slices", "Use .dds, .ktx2, .tif or .exr, or " + one_part());
        }
        if (levels() > 1 && parts_.size() > 1) {
            cannot_hold("levels of layers, faces or slices",
                        "Use .dds or .ktx2, open the image with ImageOptions::levels = 1, or " + one_part());
        }
        // Of the kinds of file without mipmaps, only TIFF stores levels, as parts.
        if (levels() > 1 && !output_->supports("mipmap") && output_->format_name() != std::string("tiff")) {
            cannot_hold("levels", "Use .dds, .ktx2, .tif or .exr, or open the image with ImageOptions::levels = 1.");
        }
        if (tiled() && !output_->supports("tiles")) cannot_hold("tiles", "Use .tif or .exr.");
        // OpenImageIO drops the channels silently if the kind of file does not support them.
        if (channels_ != 1 && channels_ != 3 && !can_hold_alpha()) {
            cannot_hold_format();
        }
        const Extent extent = parts_.front()->level(0);
        if (!detail::is_possible(extent)) cannot_hold(to_string(extent), "Save a part of the image.");
        // OpenImageIO's writer crashes with 18 million texels, but not with 2^24.
        constexpr std::size_t kMostOfGif = std::size_t{1} << 24;
        if (output_->format_name() == std::string("gif") && extent.width * extent.height > kMostOfGif)
            cannot_hold("more than 2^24 texels", "Use .png, or save a part of the image.");
        require_compression();
        if (options_.tile && !detail::is_possible(*options_.tile)) {
            fail_file(kSave, path_, fmt::format("cannot have a tile of {} texels", to_string(*options_.tile)),
                      "Use sides of at least 1, for example 64 x 64.", ErrorCode::bad_argument);
        }
    }

    OIIO::ImageSpec spec_of(const detail::ImageSource& part, int level) const {
        const Extent extent = part.level(level);
        const FormatInfo& row = info(part.format());
        OIIO::ImageSpec spec(static_cast<int>(extent.width), static_cast<int>(extent.height), channels_,
                             detail::channel_type(part.format()));
        if (tiled()) set_tile(spec);
        const ImageMetadata& metadata = image_.metadata;
        if (std::cmp_equal(metadata.read_channels.size(), channels_)) name_channels(spec);
        if (image_.in_place && level == 0) set_windows(spec);
        for (const ImageAttribute& attribute : metadata.attributes) {
            if (!detail::belongs_to_file(attribute.name)) set(spec, attribute);
        }
        for (const ImageAttribute& attribute : options_.attributes) set(spec, attribute);
        spec.erase_attribute("oiio:BitsPerSample");  // fewer bits would convert the values
        if (!options_.compression.empty()) spec.attribute("compression", options_.compression);
        if (image_.in_place && metadata.orientation != 1) spec.attribute("Orientation", metadata.orientation);
        // The writer of DPX swaps the sides of the image as the orientation says, but not the texels.
        if (output_->format_name() == std::string_view("dpx")) spec.erase_attribute("Orientation");
        const std::string space = row.kind == FormatKind::srgb ? "sRGB" : metadata.color_space;
        if (!space.empty()) spec.attribute("oiio:ColorSpace", space);
        // Colors are not converted on writing. They count as straight unless the source file had premultiplied alpha.
        spec.attribute("oiio:UnassociatedAlpha", metadata.alpha == ImageAlpha::premultiplied ? 0 : 1);
        if (is_cube(image_.info.kind) && options_.cube == CubeLayout::openexr_cube) {
            spec.attribute("textureformat", "CubeFace Environment");
        } else if (levels() > 1) {
            spec.attribute("textureformat", "Plain Texture");
        }
        if (parts_.size() > 1) spec.attribute("oiio:subimagename", fmt::format("part {}", part_number(part)));
        return spec;
    }

    // Keeps the names of the channels, unless a channel was read several times. A last channel that is not alpha must
    // not be written as alpha.
    void name_channels(OIIO::ImageSpec& spec) const {
        const ImageMetadata& metadata = image_.metadata;
        const std::set<std::string> distinct(metadata.read_channels.begin(), metadata.read_channels.end());
        if (distinct.size() == metadata.read_channels.size()) spec.channelnames = metadata.read_channels;
        if (metadata.alpha == ImageAlpha::none) spec.alpha_channel = -1;
    }

    std::size_t part_number(const detail::ImageSource& part) const {
        const auto same = [&](const ImageSourcePtr& other) { return other.get() == &part; };
        return static_cast<std::size_t>(std::find_if(parts_.begin(), parts_.end(), same) - parts_.begin());
    }

    static void set(OIIO::ImageSpec& spec, const ImageAttribute& attribute) {
        const OIIO::TypeDesc type{OIIO::string_view(attribute.type)};
        if (type == OIIO::TypeDesc::STRING) {
            spec.attribute(attribute.name, attribute.value);
        } else if (type.basetype == OIIO::TypeDesc::UINT8) {  // OpenImageIO reads no bytes from texts
            const std::vector<std::uint8_t> bytes = bytes_in(attribute.value);
            if (bytes.size() != type.size()) return;
            if (attribute.name == "ICCProfile" && !describes(bytes, spec.nchannels)) return;
            spec.attribute(attribute.name, type, bytes.data());
        } else {
            spec.attribute(attribute.name, type, OIIO::string_view(attribute.value));
        }
    }

    void set_tile(OIIO::ImageSpec& spec) const {
        const Extent tile = options_.tile.value_or(kTile);
        spec.tile_width = static_cast<int>(tile.width);
        spec.tile_height = static_cast<int>(tile.height);
        spec.tile_depth = 1;
    }

    void set_windows(OIIO::ImageSpec& spec) const {
        const ImageFrame& data = image_.metadata.data;
        const ImageFrame& display = image_.metadata.display;
        spec.x = data.x;
        spec.y = data.y;
        spec.full_x = display.x;
        spec.full_y = display.y;
        spec.full_width = display.width;
        spec.full_height = display.height;
    }

    void require_kept(const detail::ImageSource& part) const {
        const OIIO::ImageSpec& spec = output_->spec();
        if (spec.format == detail::channel_type(part.format()) && spec.nchannels == channels_) return;
        cannot_hold_format();
    }

    // Compresses and writes a band while the next one is read, or computed by the image, if a thread can be started.
    void write_texels(const detail::ImageSource& part, int level, detail::TexelWriter& writer) {
        const Extent extent = part.level(level);
        const Extent granule{extent.width, writer.chunk_rows(), 1};
        const std::size_t row = extent.width * static_cast<std::size_t>(channels_) * output_->spec().format.size();
        constexpr auto kWhenPossible = std::launch::async | std::launch::deferred;
        std::vector<std::byte> written;
        std::future<void> writing;  // ends before `written` is destroyed
        for (const Region& box : detail::cut(part.format(), detail::whole(extent), granule, kChunkBandBytes)) {
            const std::span<const std::byte> texels = bands_.read(part, level, box);
            const auto* const stored = static_cast<const std::byte*>(written_of(part.format(), texels));
            if (writing.valid()) writing.get();
            written.assign(stored, stored + box.extent.height * row);
            writing = std::async(kWhenPossible, [&writer, &written, rows = box.extent.height, y = box.offset.y] {
                writer.write(y, rows, written.data());
            });
            bands_.report(texels.size());
        }
        writing.get();
    }

    void write_level(const detail::ImageSource& part, int level) {
        const OIIO::ImageSpec& spec = output_->spec();
        const Extent extent = part.level(level);
        const Extent granule{extent.width, static_cast<std::size_t>(detail::rows_together(spec)), 1};
        const auto at = [](int origin, std::size_t offset) { return origin + static_cast<int>(offset); };
        for (const Region& box : detail::cut(part.format(), detail::whole(extent), granule, detail::kBandBytes)) {
            const std::span<const std::byte> texels = bands_.read(part, level, box);
            const void* const written = written_of(part.format(), texels);
            const int top = at(spec.y, box.offset.y);
            const int bottom = at(top, box.extent.height);
            const bool good = spec.tile_width != 0
                                  ? output_->write_tiles(spec.x, spec.x + spec.width, top, bottom, spec.z, spec.z + 1,
                                                         spec.format, written)
                                  : output_->write_scanlines(top, bottom, spec.z, spec.format, written);
            output_.require_written(good);
            bands_.report(texels.size());
        }
    }

    // Returns the channels of texels that are written.
    const void* written_of(Format format, std::span<const std::byte> texels) {
        if (alpha_ == Alpha::written) return texels.data();
        if (alpha_ == Alpha::checked && !detail::has_alpha_of_one(format, texels)) throw NotOpaque();
        colors_.resize(std::max(colors_.size(), texels.size() / 4 * 3));
        detail::copy_colors(format, texels, colors_.data());
        return colors_.data();
    }

    const std::filesystem::path& path_;
    const ImageState& image_;
    const SaveOptions& options_;
    int channels_;  // of a texel in the file
    Alpha alpha_;
    std::vector<std::byte> colors_;
    detail::ImageFileOutput output_;
    std::vector<ImageSourcePtr> parts_;
    detail::ImageBands bands_;
};

void write_with_oiio(const std::filesystem::path& path, const ImageState& image, const SaveOptions& options) {
    const auto write = [&](Alpha alpha) { OiioWriter(path, image, options, alpha).write(); };
    if (info(image.info.format).channels != 4 || options.alpha == SavedAlpha::kept) return write(Alpha::written);
    if (options.alpha == SavedAlpha::dropped) return write(Alpha::dropped);
    bool holds_alpha = true;
    try {
        OiioWriter writer(path, image, options, Alpha::checked);
        holds_alpha = writer.can_hold_alpha();
        if (writer.needs_alpha()) return write(Alpha::written);
        if (!holds_alpha || options.alpha == SavedAlpha::unless_opaque || image.metadata.read_channels.size() == 3)
            return writer.write();
    } catch (const NotOpaque&) {
        if (!holds_alpha) {
            fail_file(kSave, path, "is of a kind that cannot hold alpha, which is not 1 in all texels",
                      "Use .png, .tif or .exr, or drop alpha with SavedAlpha::dropped.");
        }
    }
    write(Alpha::written);
}

void save_state(const std::filesystem::path& path, const ImageState& state, const SaveOptions& options) {
    if (is_video_name(path)) {
        detail::FrameFile file(kSave, path, options.attributes);
        file.write(state, options.progress);
        file.complete(options.waits_for_disk);
        return;
    }
    const std::string kind = detail::file_ending(path);
    if (kind == ".dds") {
        detail::save_dds(path, state, options);
        return;
    }
    if (state.file == nullptr) {
        fail_file(kSave, path, fmt::format("is of a kind that cannot hold {}", name(state.info.format)),
                  "Use .y4m, .yuv or .dds, save each plane to its own file, or convert the image with to_rgb().");
    }
    if (kind == ".ktx2") {
        detail::save_ktx2(path, state, options);
        return;
    }
    write_with_oiio(path, state, options);
}

}  // namespace

bool detail::belongs_to_file(const std::string& name) {
    static constexpr std::string_view kPrefixes[] = {
        "oiio:", "tiff:", "openexr:", "exr:", "png:", "jpeg:", "dds:", "gif:", "KTX"};
    static constexpr std::string_view kNames[] = {"compression",      "textureformat", "planarconfig", "Software",
                                                  "worldtocamera",    "fovcot",        "wrapmodes",    "up",
                                                  "ImageDescription", "lineOrder",     "envmap"};
    return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                       [&](auto prefix) { return name.starts_with(prefix); }) ||
           std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void save(const std::filesystem::path& path, const ImageFile& image, const SaveOptions& options) {
    (void)image.info();
    detail::guarded(kSave, path, [&] { save_state(path, *image.state(), options); });
}

void save(const std::filesystem::path& path, const Array& array, const SaveOptions& options) {
    save(path, image_of(array), options);
}
void save(const std::filesystem::path& path, const ConstView& view, const SaveOptions& options) {
    save(path, image_of(view), options);
}
void save(const std::filesystem::path& path, const PlanarArray& array, const SaveOptions& options) {
    save(path, image_of(array), options);
}

}  // namespace texton
