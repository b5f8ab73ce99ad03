#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/alpha.h"
#include "arrays/files/channels.h"
#include "arrays/files/convert.h"
#include "arrays/files/formats.h"
#include "arrays/files/oiio.h"
#include "arrays/files/stored_texels.h"
#include "arrays/files/tiff_directory.h"
#include "arrays/files/tiff_texels.h"

// Files that OpenImageIO reads. A stack can consist of more files than a process may have open. Therefore all sources
// share a limited number of open readers, and a file whose reader was closed is reopened when it is needed.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kRead = "texton::ImageFile";
constexpr std::size_t kMaxReaders = 32;
constexpr int kMaxFileChannels = 65535;
constexpr std::size_t kLargestStrip = std::size_t{16} << 20;
// Limits of the bytes of a tile, or of a row in files without tiles.
constexpr std::uint64_t kAnyUnit = std::uint64_t{16} << 20;  // allowed in any file
constexpr std::uint64_t kUnitMargin = 4;                     // else at most so many times the bytes of the image
constexpr std::uint64_t kMaxCompression = 65536;             // and of a compressed file; Zstandard reaches half of it

using Reader = std::shared_ptr<OIIO::ImageInput>;

// Open readers of the process. The most recently used reader comes first.
class Readers {
public:
    Reader of(const std::filesystem::path& path, const FileIdentity& identity, const void* owner) {
        {
            const std::lock_guard lock(mutex_);
            for (auto entry = open_.begin(); entry != open_.end(); ++entry) {
                if (entry->owner != owner) continue;
                open_.splice(open_.begin(), open_, entry);
                return entry->reader;
            }
        }
        Reader reader = open_input(kRead, path);
        if (identity_of(path) != identity) fail_file(kRead, path, "has changed since it was opened", "Open it again.");
        add(owner, reader);
        return reader;
    }
    void add(const void* owner, Reader reader) {
        const std::lock_guard lock(mutex_);
        open_.push_front({owner, std::move(reader)});
        if (open_.size() > kMaxReaders) open_.pop_back();
    }
    void forget(const void* owner) noexcept {
        const std::lock_guard lock(mutex_);
        open_.remove_if([owner](const Entry& entry) { return entry.owner == owner; });
    }
    static Readers& instance() {
        static Readers& made = *new Readers;  // never destroyed, because images can outlive static objects
        return made;
    }

private:
    struct Entry {
        const void* owner;
        Reader reader;
    };
    std::mutex mutex_;
    std::list<Entry> open_;
};

// Window of a level in the coordinates of the file, and the size of its tiles.
struct OiioLevel {
    int x, y, z;
    Extent extent;
    Extent tile;  // a strip of rows if the file has no tiles
    bool tiled;
    bool has_long_strips;  // of more rows than the level has
};

OiioLevel level_of(const OIIO::ImageSpec& spec, Format format) {
    const auto side = [](int value) { return static_cast<std::size_t>(std::max(value, 1)); };
    OiioLevel level{spec.x, spec.y, spec.z, {side(spec.width), side(spec.height), side(spec.depth)}, {}, false, false};
    level.tiled = spec.tile_width != 0;
    if (level.tiled) {
        level.tile = {side(spec.tile_width), side(spec.tile_height), side(spec.tile_depth)};
        return level;
    }
    const std::size_t rows = side(spec.get_int_attribute("tiff:RowsPerStrip", 1));
    level.has_long_strips = rows > level.extent.height;
    level.tile = {level.extent.width, std::min(rows, level.extent.height), 1};
    if (level.tile.height > kLargestStrip / row_bytes(format, level.extent.width)) level.tile.height = 1;
    return level;
}

// Checks what OpenImageIO and this file compute without overflow from a header: ends of windows, and bytes of an image
// and of a tile. A tile or row is decoded as a whole, in memory that its decoder writes before it finds out that the
// file is too short. So its size must match the image and the file: `first_bytes` are those of the first level.
void require_possible(const std::filesystem::path& path, const OIIO::ImageSpec& spec, std::uint64_t first_bytes) {
    const auto ends = [](int first, int length) { return std::in_range<int>(std::int64_t{first} + length); };
    if (!ends(spec.x, spec.width) || !ends(spec.y, spec.height) || !ends(spec.z, spec.depth)) {
        fail_file(kOpen, path,
                  fmt::format("specifies {} x {} texels at ({}, {}), which end beyond the largest coordinate",
                              spec.width, spec.height, spec.x, spec.y),
                  "The file may be damaged.");
    }
    if (spec.image_bytes(true) >= kMaxImageBytes) {
        fail_file(kOpen, path,
                  fmt::format("has a size of {} x {} x {} texels, which exceeds the limit of 1 TiB", spec.width,
                              spec.height, spec.depth),
                  "The file may be damaged.");
    }
    // OpenImageIO divides by this number for every kind of file.
    if (const int rows = spec.get_int_attribute("tiff:RowsPerStrip", 1); rows < 1) {
        fail_file(kOpen, path, fmt::format("specifies strips of {} rows", rows), "The file may be damaged.");
    }
    const bool tiled = spec.tile_width != 0;
    const bool negative = tiled && (spec.tile_width < 0 || spec.tile_height < 1 || spec.tile_depth < 1);
    const std::uint64_t unit = tiled ? spec.tile_bytes(true) : spec.scanline_bytes(true);  // at most 2^64 - 1
    if (!negative && unit <= kAnyUnit) return;
    const std::uint64_t ratio = spec.get_string_attribute("compression") == "none" ? 1 : kMaxCompression;
    const std::uint64_t file_bytes = identity_of(path).bytes;
    if (!negative && unit / kUnitMargin <= first_bytes && unit / ratio <= file_bytes) return;
    fail_file(kOpen, path,
              tiled
                  ? fmt::format("specifies tiles of {} x {} x {} texels in {} bytes, for an image of {} x {}",
                                spec.tile_width, spec.tile_height, spec.tile_depth, file_bytes, spec.width, spec.height)
                  : fmt::format("specifies rows of {} texels in {} bytes", spec.width, file_bytes),
              "The file may be damaged.");
}

/// Rows of a level, and where their channels go.
struct RowsToRead {
    int part, level;
    int top, bottom, slice;
    int first_channel, end_channel;
    OIIO::TypeDesc type;
    std::byte* to;
    OIIO::stride_t texel_bytes;
};

// Converts rows after OpenImageIO has read them as they are stored. It would convert as many rows at a time as whole
// strips have, which takes too much memory or never ends if strips have many more rows than the level.
bool read_stored_rows(OIIO::ImageInput& input, const RowsToRead& rows) {
    constexpr std::size_t kAtOnce = std::size_t{16} << 20;  // bytes
    constexpr int kMaxRows = 1 << 16;
    const OIIO::ImageSpec spec = input.spec_dimensions(rows.part, rows.level);
    const int channels = rows.end_channel - rows.first_channel;
    const std::size_t bytes =
        static_cast<std::size_t>(spec.width) * static_cast<std::size_t>(channels) * spec.format.size();
    const OIIO::stride_t to_row = rows.texel_bytes * spec.width;
    const int step =
        std::min<int>(static_cast<int>(std::clamp<std::size_t>(kAtOnce / bytes, 1, kMaxRows)), rows.bottom - rows.top);
    std::vector<std::byte> stored(bytes * static_cast<std::size_t>(step));
    std::byte* to = rows.to;
    for (int y = rows.top; y < rows.bottom; y += step) {
        const int count = std::min(step, rows.bottom - y);
        if (!input.read_scanlines(rows.part, rows.level, y, y + count, rows.slice, rows.first_channel, rows.end_channel,
                                  OIIO::TypeDesc::UNKNOWN, stored.data()))
            return false;
        OIIO::convert_image(channels, spec.width, count, 1, stored.data(), spec.format, OIIO::AutoStride,
                            OIIO::AutoStride, OIIO::AutoStride, to, rows.type, rows.texel_bytes, to_row,
                            OIIO::AutoStride);
        to += count * to_row;
    }
    return true;
}

class OiioFile : public ImageSource {
public:
    OiioFile(std::filesystem::path path, const FileIdentity& identity, int part, Format format, bool srgb,
             std::vector<Extent> extents, std::vector<OiioLevel> levels, std::optional<TiffPart> tiff,
             const ChannelPacker& packer, bool in_order)
        : ImageSource(format, srgb, std::move(extents)),
          path_(std::move(path)),
          identity_(identity),
          part_(part),
          levels_(std::move(levels)),
          packer_(packer),
          in_order_(in_order),
          tiff_part_(std::move(tiff)) {
        if (tiff_part_) tiff_.emplace(path_, identity_, *this, *tiff_part_);
    }
    ~OiioFile() override { Readers::instance().forget(this); }

    void read(int index, const Region& box, std::byte* packed) const override {
        const OiioLevel& level = levels_[static_cast<std::size_t>(index)];
        if (tiff_ && tiff_->read(index, box, packed)) return;
        const Region covering = whole_tiles(level, box);
        if (covering == box) {
            decode(index, level, box, packed);
            return;
        }
        const auto texels = std::make_unique_for_overwrite<std::byte[]>(packed_bytes(format(), covering.extent));
        decode(index, level, covering, texels.get());
        const Offset inside{box.offset.x - covering.offset.x, box.offset.y - covering.offset.y,
                            box.offset.z - covering.offset.z};
        copy_box(format(), packed, box.extent, {}, texels.get(), covering.extent, inside, box.extent);
    }

    std::vector<Region> boxes(int index, std::size_t max_bytes) const override {
        const OiioLevel& level = levels_[static_cast<std::size_t>(index)];
        return cut(format(), whole(level.extent), level.tile, max_bytes);
    }
    ImageAccess access(int index) const override { return {levels_[static_cast<std::size_t>(index)].tile, in_order_}; }
    const TiffPart* tiff_part() const override { return tiff_part_ ? &*tiff_part_ : nullptr; }

private:
    // Returns the smallest box of whole tiles that contains a box. Without tiles it consists of whole rows.
    static Region whole_tiles(const OiioLevel& level, const Region& box) {
        const auto widen = [](std::size_t& offset, std::size_t& length, std::size_t tile, std::size_t side) {
            const std::size_t end = std::min(side, (offset + length + tile - 1) / tile * tile);
            offset = offset / tile * tile;
            length = end - offset;
        };
        Region out = box;
        widen(out.offset.x, out.extent.width, level.tile.width, level.extent.width);
        if (!level.tiled) return out;
        widen(out.offset.y, out.extent.height, level.tile.height, level.extent.height);
        widen(out.offset.z, out.extent.depth, level.tile.depth, level.extent.depth);
        return out;
    }

    void decode(int index, const OiioLevel& level, const Region& box, std::byte* packed) const {
        const std::size_t channel = info(format()).bits / 8;
        for (const ChannelRun& run : packer_.runs()) decode(index, level, box, run, packed + run.to * channel);
        if (packer_.adds_alpha()) set_alpha_to_one(format(), {packed, packed_bytes(format(), box.extent)});
    }

    // Reads a run of channels to the first texel's place in `packed`.
    void decode(int index, const OiioLevel& level, const Region& box, const ChannelRun& run, std::byte* packed) const {
        const Reader reader = Readers::instance().of(path_, identity_, this);
        const auto at = [](int origin, std::size_t offset) { return origin + static_cast<int>(offset); };
        const OIIO::TypeDesc type = channel_type(format());
        const auto texel = static_cast<OIIO::stride_t>(info(format()).bytes);
        const int top = at(level.y, box.offset.y);
        const int bottom = at(top, box.extent.height);
        const std::size_t slice = row_bytes(format(), box.extent.width) * box.extent.height;
        bool good = true;
        std::optional<FileReading> reading(std::in_place);
        if (level.tiled) {
            const int left = at(level.x, box.offset.x);
            const int front = at(level.z, box.offset.z);
            good = reader->read_tiles(part_, index, left, at(left, box.extent.width), top, bottom, front,
                                      at(front, box.extent.depth), run.begin, run.end, type, packed, texel);
        } else {
            for (std::size_t z = 0; z < box.extent.depth && good; ++z) {
                const int at_z = at(level.z, box.offset.z + z);
                std::byte* const to = packed + z * slice;
                good =
                    level.has_long_strips
                        ? read_stored_rows(*reader,
                                           {part_, index, top, bottom, at_z, run.begin, run.end, type, to, texel})
                        : reader->read_scanlines(part_, index, top, bottom, at_z, run.begin, run.end, type, to, texel);
            }
        }
        reading.reset();
        if (!good || reader->has_error()) Readers::instance().forget(this);  // some report an error only once
        require_read(kRead, path_, *reader, good);
    }

    std::filesystem::path path_;
    FileIdentity identity_;
    int part_;
    std::vector<OiioLevel> levels_;
    ChannelPacker packer_;
    bool in_order_;
    std::optional<TiffPart> tiff_part_;
    std::optional<TiffTexels> tiff_;
};

// Kinds of file in which OpenImageIO reads all rows above a requested row.
bool is_read_in_order(const std::string& kind) {
    static constexpr std::array kKinds{"png", "jpeg", "hdr", "pnm", "zfile"};
    return std::ranges::find(kKinds, kind) != kKinds.end();
}

ImageMetadata metadata_of(const OIIO::ImageSpec& spec, std::string kind) {
    ImageMetadata metadata;
    metadata.file_kind = std::move(kind);
    metadata.color_space = spec.get_string_attribute("oiio:ColorSpace");
    metadata.channels = spec.channelnames;
    metadata.channels.resize(static_cast<std::size_t>(spec.nchannels));
    for (int channel = 0; channel < spec.nchannels; ++channel)
        metadata.channel_types.emplace_back(spec.channelformat(channel).c_str());
    if (spec.alpha_channel >= 0) {
        metadata.alpha =
            spec.get_int_attribute("oiio:UnassociatedAlpha") != 0 ? ImageAlpha::straight : ImageAlpha::premultiplied;
    }
    metadata.orientation = spec.get_int_attribute("Orientation", 1);
    metadata.data = {spec.x, spec.y, spec.width, spec.height};
    metadata.display = {spec.full_x, spec.full_y, spec.full_width, spec.full_height};
    for (const auto& attribute : spec.extra_attribs) {
        if (attribute.name() == "Orientation" || attribute.name() == "oiio:ColorSpace") continue;
        constexpr int kAllElements = 0;
        metadata.attributes.push_back(
            {attribute.name().string(), attribute.get_string(kAllElements), attribute.type().c_str()});
    }
    return metadata;
}

// OpenImageIO reports the widest type of all channels. The channels that are read can have a narrower type.
OIIO::ImageSpec with_type_of(OIIO::ImageSpec spec, std::span<const std::size_t> channels) {
    const auto type = [&](std::size_t channel) { return spec.channelformat(static_cast<int>(channel)); };
    const OIIO::TypeDesc first = type(channels.front());
    if (std::ranges::all_of(channels, [&](std::size_t channel) { return type(channel) == first; })) spec.format = first;
    return spec;
}

std::optional<CubeLayout> layout_in_words(const OIIO::ImageSpec& spec) {
    const std::string words = spec.get_string_attribute("textureformat");
    if (words == "CubeFace Environment") return CubeLayout::openexr_cube;
    if (words == "LatLong Environment") return CubeLayout::openexr_latlong;
    return std::nullopt;
}

// Returns the number of images in a file.
int image_count(const std::filesystem::path& path, OIIO::ImageInput& opened) {
    static constexpr std::array kSingle{"png", "jpeg", "bmp",    "hdr",      "pnm",   "sgi",
                                        "raw", "iff",  "cineon", "jpeg2000", "targa", "zfile"};
    static constexpr std::array kSeekBack{"tiff", "openexr"};  // other readers cannot after they reached the end
    const std::string kind = opened.format_name();
    if (std::ranges::find(kSingle, kind) != kSingle.end()) return 1;
    if (kind == "tiff" && first_tiff_directory(path).is_last) return 1;
    const bool same = std::ranges::find(kSeekBack, kind) != kSeekBack.end();
    const Reader other = same ? nullptr : open_input(kOpen, path);
    OIIO::ImageInput& reader = same ? opened : *other;
    // The reader of movies believes the number of frames in the header. An image has a byte at least.
    const int most =
        static_cast<int>(std::min<std::uint64_t>(identity_of(path).bytes, std::numeric_limits<int>::max()));
    int count = 1;
    while (reader.seek_subimage(count, 0)) {
        if (++count <= most) continue;
        fail_file(kOpen, path, fmt::format("claims to contain more than {} images", most), "The file may be damaged.");
    }
    (void)reader.geterror();
    return count;
}

}  // namespace

OpenedImage open_with_oiio(const std::filesystem::path& path, const FilePart& wanted) {
    const auto& [part, color, counted, channel_names] = wanted;
    const FileIdentity identity = identity_of(path);
    const Reader reader = open_input(kOpen, path);
    const int parts = counted ? image_count(path, *reader) : 1;
    if (!reader->seek_subimage(part, 0)) {
        fail_file(kOpen, path, fmt::format("has no part {}", part), "The first part is 0.");
    }
    if (const int count = reader->spec().nchannels; count < 1 || count > kMaxFileChannels)
        fail_file(kOpen, path, fmt::format("claims to have {} channels", count), "The file may be damaged.");
    OpenedImage opened;
    opened.metadata = metadata_of(reader->spec(), reader->format_name());
    opened.metadata.parts = static_cast<std::size_t>(parts);
    const std::vector<std::size_t> requested = channels_to_read(path, opened.metadata.channels, channel_names);
    // Going back to earlier rows for another run of channels would cost too much: all channels are read together.
    const bool in_order = is_read_in_order(opened.metadata.file_kind);
    const bool chosen_later =
        in_order && opened.metadata.channels.size() <= kMaxChannels && runs_of(requested).size() > 1;
    const std::vector<std::size_t> channels =
        chosen_later ? channels_to_read(path, opened.metadata.channels, {}) : requested;
    const OIIO::ImageSpec first = with_type_of(reader->spec(), channels);
    const auto alpha = static_cast<std::size_t>(first.alpha_channel);  // without alpha -1, which becomes no index
    Format format = with_channels(channel_format(kOpen, path, first), static_cast<int>(channels.size()));
    const std::string& space = opened.metadata.color_space;
    const bool srgb = (color == ImageColor::srgb || (color == ImageColor::by_metadata && space == "sRGB")) &&
                      !are_alpha(channels, alpha);
    format = with_srgb(format, srgb);

    std::vector<OiioLevel> levels;
    std::vector<Extent> extents;
    std::uint64_t first_bytes = 0;
    do {
        if (levels.empty()) first_bytes = reader->spec().image_bytes(true);
        require_possible(path, reader->spec(), first_bytes);
        if (!levels.empty() && reader->spec().nchannels != first.nchannels) break;
        const OIIO::ImageSpec spec = with_type_of(reader->spec(), channels);
        if (!levels.empty() && spec.format != first.format) break;
        if (spec.width < 1 || spec.height < 1) break;  // channel_format() has checked level 0
        levels.push_back(level_of(spec, format));
        // Channels can be widened.
        if (!is_possible(format, levels.back().extent)) fail_too_large(kOpen, path, levels.back().extent);
        extents.push_back(levels.back().extent);
        opened.data.push_back({spec.x, spec.y, spec.width, spec.height});
        opened.displays.push_back({spec.full_x, spec.full_y, spec.full_width, spec.full_height});
    } while (reader->seek_subimage(part, static_cast<int>(levels.size())));
    (void)reader->geterror();

    if (requested.size() == 3) opened.conversions.emplace_back("Three channels are widened to four, with alpha 1.");
    describe_channels(opened, requested, !channel_names.empty(), alpha);
    describe_colors(format, srgb, color, space, opened.conversions);
    if (extents.front().depth > 1) opened.kind = ArrayKind::array_3d;
    opened.cube = layout_in_words(first);
    std::optional<TiffPart> tiff;
    if (opened.metadata.file_kind == "tiff") tiff = TiffPart{part, first.nchannels, channels};
    const auto file =
        std::make_shared<OiioFile>(path, identity, part, format, srgb, std::move(extents), std::move(levels),
                                   std::move(tiff), ChannelPacker(format, first.nchannels, channels), in_order);
    Readers::instance().add(file.get(), reader);
    opened.file = chosen_later ? with_channels_of(file, requested, alpha) : file;
    return opened;
}

}  // namespace texton::detail
