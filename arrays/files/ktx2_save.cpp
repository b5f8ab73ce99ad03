#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <string>

#include <fmt/format.h>

#include "arrays/files/container.h"
#include "arrays/files/convert.h"
#include "arrays/files/ktx2.h"
#include "arrays/files/oiio.h"
#include "arrays/files/zstd_frames.h"

// The writer of KTX2 files. The levels follow the other parts, the smallest one first. Their locations are known when
// they are written, so the header and the index are written last.

namespace texton::detail {
namespace {

constexpr const char* kSave = "texton::save";

// --- compression ---

// Returns the level of Zstandard that SaveOptions::compression selects, or nothing if the levels are not compressed.
std::optional<int> zstd_level(const std::filesystem::path& path, const std::string& compression) {
    constexpr int kDefault = 3;
    constexpr std::string_view kPrefix = "zstd:";
    if (compression.empty() || compression == "none") return std::nullopt;
    const bool names_zstd = compression == "zstd" || compression.starts_with(kPrefix);
    if (names_zstd && !has_zstd()) {
        fail_file(kSave, path,
                  fmt::format("cannot have the compression {}, because this build of Texton lacks libzstd",
                              detail::quoted(compression)),
                  "Build Texton with TEXTON_ZSTD=ON, or use none.", ErrorCode::unsupported);
    }
    if (compression == "zstd") return kDefault;
    int level = 0;
    if (compression.starts_with(kPrefix)) {
        const char* const end = compression.data() + compression.size();
        const auto parsed = std::from_chars(compression.data() + kPrefix.size(), end, level);
        if (parsed.ec == std::errc() && parsed.ptr == end && level >= 1 && level <= ZstdWriter::max_level())
            return level;
    }
    fail_file(kSave, path, fmt::format("cannot have the compression {}", detail::quoted(compression)),
              has_zstd() ? fmt::format("Use none, zstd, or zstd:1 to zstd:{}.", ZstdWriter::max_level()) : "Use none.",
              ErrorCode::bad_argument);
}

// --- keys and values ---

// Returns the bytes of a text such as "1, 2, 255".
std::optional<std::string> bytes_of(std::string_view numbers) {
    std::string bytes;
    while (!numbers.empty()) {
        unsigned char byte = 0;
        const auto parsed = std::from_chars(numbers.data(), numbers.data() + numbers.size(), byte);
        if (parsed.ec != std::errc()) return std::nullopt;
        bytes.push_back(static_cast<char>(byte));
        numbers.remove_prefix(static_cast<std::size_t>(parsed.ptr - numbers.data()));
        numbers.remove_prefix(std::min(numbers.size(), numbers.find_first_not_of(", ")));
    }
    return bytes;
}

// Numbers of other types than bytes are written as text.
std::optional<std::string> value_of(const ImageAttribute& attribute) {
    if (attribute.type.starts_with("uint8[")) return bytes_of(attribute.value);
    return attribute.value + '\0';
}

// Returns true for names that a file can have as keys. Keys of KTX2 that describe how the old file was stored are
// dropped.
bool is_key(const std::string& name) {
    constexpr std::string_view kKept[] = {"KTXswizzle", "KTXanimData", "KTXmapRange", kKtx2Orientation};
    if (std::ranges::find(kKept, name) != std::end(kKept)) return true;
    const bool reserved = name.starts_with("KTX") || name.starts_with("ktx");
    return !name.empty() && !reserved && name.find('\0') == std::string::npos && !belongs_to_file(name);
}

// Returns the keys and their values, sorted.
std::map<std::string, std::string> pairs_of(const ImageState& image, const SaveOptions& options) {
    constexpr const char* kOrientations[] = {"rd", "ld", "lu", "ru"};  // of Exif, from 1 on
    std::map<std::string, std::string> pairs;
    for (const auto* attributes : {&image.metadata.attributes, &options.attributes}) {
        for (const ImageAttribute& attribute : *attributes) {
            if (!is_key(attribute.name)) continue;
            if (const auto value = value_of(attribute)) pairs[attribute.name] = *value;
        }
    }
    const int orientation = image.metadata.orientation;
    if (image.in_place && orientation > 1 && orientation <= 4)
        pairs[std::string(kKtx2Orientation)] = kOrientations[orientation - 1] + std::string(1, '\0');
    pairs["KTXwriter"] = std::string("Texton") + '\0';
    return pairs;
}

std::vector<std::byte> packed_pairs(const std::filesystem::path& path, const ImageState& image,
                                    const SaveOptions& options) {
    std::string packed;
    for (const auto& [key, value] : pairs_of(image, options)) {
        const std::size_t bytes = key.size() + 1 + value.size();
        if (!std::in_range<std::uint32_t>(packed.size() + bytes + 8)) {
            fail_file(kSave, path, "is of a kind that cannot hold the attributes of the image",
                      "Save the image with fewer attributes.");
        }
        const auto length = static_cast<std::uint32_t>(bytes);
        packed.append(reinterpret_cast<const char*>(&length), sizeof(length));
        packed += key + '\0' + value;
        packed.resize((packed.size() + 3) / 4 * 4);
    }
    std::vector<std::byte> out(packed.size());
    std::memcpy(out.data(), packed.data(), packed.size());
    return out;
}

// --- header ---

Ktx2Color color_for(const ImageState& image) {
    const FormatInfo& row = info(image.info.format);
    const ImageMetadata& metadata = image.metadata;
    Ktx2Color color{.is_premultiplied = row.channels == 4 && metadata.alpha == ImageAlpha::premultiplied};
    if (row.kind == FormatKind::uint || row.kind == FormatKind::sint) return color;
    color.primaries = kBt709Primaries;
    for (const ImageAttribute& attribute : metadata.attributes) {
        if (attribute.name == kPrimariesAttribute)
            color.primaries = primaries_named(attribute.value).value_or(kBt709Primaries);
    }
    const bool has_srgb_variant = with_srgb(row.format, true) != row.format;
    if (row.kind == FormatKind::srgb || (image.file->srgb() && !has_srgb_variant)) {
        color.transfer = kSrgbTransfer;
    } else if (metadata.color_space.empty() || metadata.color_space == "sRGB") {  // values that are no longer encoded
        color.transfer = kLinearTransfer;
    } else {
        color.transfer = transfer_named(metadata.color_space).value_or(0);
    }
    return color;
}

std::uint32_t type_bytes(Format format) {
    switch (info(format).layout) {
        case FormatLayout::plain: return info(format).bits / 8u;
        case FormatLayout::packed: return info(format).bytes;
        case FormatLayout::block:
        case FormatLayout::planar: break;
    }
    return 1;
}

Ktx2Header header_for(const ArrayInfo& info, std::uint32_t format, bool is_compressed) {
    Ktx2Header header{};
    const auto word = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
    header.signature = kKtx2Signature;
    header.format = format;
    header.type_bytes = type_bytes(info.format);
    header.width = word(info.extent.width);
    header.height = is_flat(info.kind) ? 0 : word(info.extent.height);
    header.depth = info.kind == ArrayKind::array_3d ? word(info.extent.depth) : 0;
    header.layers = is_layered(info.kind) ? word(info.layers) : 0;
    header.faces = is_cube(info.kind) ? 6 : 1;
    header.levels = word(static_cast<std::size_t>(info.levels));
    header.scheme = is_compressed ? kZstdScheme : kPlainScheme;
    return header;
}

// Without compression, levels start at multiples of texels and of words.
std::uint64_t aligned(std::uint64_t offset, Format format) {
    const std::uint64_t unit = std::max<std::uint64_t>(4, info(format).bytes);  // both are powers of two
    return (offset + unit - 1) / unit * unit;
}

// --- levels ---

class Ktx2Writer {
public:
    Ktx2Writer(const std::filesystem::path& path, const ImageState& image, const SaveOptions& options)
        : image_(image),
          zstd_level_(zstd_level(path, options.compression)),
          pairs_(packed_pairs(path, image, options)),
          file_(kSave, path),
          bands_(image, packed_bytes(image.info), options.progress),
          waits_for_disk_(options.waits_for_disk) {}

    void write() {
        const ArrayInfo& info = image_.info;
        const bool is_opaque = (info.format == Format::bc1_unorm || info.format == Format::bc1_srgb) &&
                               image_.metadata.alpha == ImageAlpha::none;
        const std::vector<std::uint32_t> descriptor = data_format_descriptor(info.format, is_opaque, color_for(image_));
        Ktx2Header header = header_for(info, vk_number(info.format, is_opaque), zstd_level_.has_value());
        std::vector<Ktx2Level> index(header.levels);
        end_ = sizeof(header) + index.size() * sizeof(Ktx2Level);
        const auto descriptor_bytes = std::as_bytes(std::span(descriptor));
        header.descriptor_offset = static_cast<std::uint32_t>(end_);
        header.descriptor_bytes = static_cast<std::uint32_t>(descriptor_bytes.size());
        append(descriptor_bytes);
        header.pairs_offset = static_cast<std::uint32_t>(end_);
        header.pairs_bytes = static_cast<std::uint32_t>(pairs_.size());
        append(pairs_);
        for (std::size_t level = index.size(); level-- > 0;) index[level] = write_level(static_cast<int>(level));
        end_ = 0;
        append(std::as_bytes(std::span(&header, 1)));
        append(std::as_bytes(std::span(index)));
        file_.complete(waits_for_disk_);
    }

private:
    void append(std::span<const std::byte> bytes) {
        if (const int error = file_.write_at(end_, bytes); error != 0) file_.fail(error);
        end_ += bytes.size();
    }

    Ktx2Level write_level(int level) {
        const Format format = image_.info.format;
        const Region all = whole(image_.file->level(level));
        Ktx2Level location{.offset = end_, .bytes = 0, .decompressed = packed_bytes(format, all.extent)};
        if (zstd_level_) {
            ZstdWriter zstd(*zstd_level_, location.decompressed, [this](auto bytes) { append(bytes); });
            write_texels(level, all, [&](auto texels) { zstd.write(texels); });
        } else {
            location.offset = end_ = aligned(end_, format);
            write_texels(level, all, [this](auto texels) { append(texels); });
        }
        location.bytes = end_ - location.offset;
        return location;
    }

    template <class Write>
    void write_texels(int level, const Region& all, const Write& write) {
        const Format format = image_.info.format;
        for (const Region& box : cut(format, all, {all.extent.width, block_side(format), 1}, kBandBytes)) {
            const auto texels = bands_.read(*image_.file, level, box);
            write(texels);
            bands_.report(texels.size());
        }
    }

    const ImageState& image_;
    std::optional<int> zstd_level_;
    std::vector<std::byte> pairs_;
    NewFile file_;
    ImageBands bands_;
    bool waits_for_disk_;
    std::uint64_t end_ = 0;  // of what was written
};

}  // namespace

void save_ktx2(const std::filesystem::path& path, const ImageState& image, const SaveOptions& options) {
    const ArrayInfo& info = image.info;
    require_countable(path, info);
    if (is_flat(info.kind) && block_side(info.format) > 1) {
        fail_file(kSave, path, fmt::format("is of a kind that cannot hold {} in one dimension", name(info.format)),
                  "Open the image with ImageOptions::kind = array_2d.");
    }
    Ktx2Writer(path, image, options).write();
}

}  // namespace texton::detail
