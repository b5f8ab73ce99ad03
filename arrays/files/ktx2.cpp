#include "arrays/files/ktx2.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "arrays/files/container.h"
#include "arrays/files/convert.h"
#include "arrays/files/oiio.h"
#include "arrays/files/zstd_frames.h"

// The reader of KTX2 files. Opening a file reads its header, the locations of the levels, and the descriptions, each of
// which is compared with the length of the file before memory is allocated. Writers differ in paddings and in the order
// of the parts, which are therefore found by their offsets alone.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr std::size_t kMaxLevels = 32;                             // sides have 32 bits
constexpr std::size_t kColorBytes = 16;                            // of a descriptor, up to the colors
constexpr std::uint32_t kMaxPairsBytes = std::uint32_t{16} << 20;  // of all keys and values
constexpr const char* kTranscode = "Transcode the file to an RGBA or BC format.";

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& why) {
    fail_file(kOpen, path, "is a damaged KTX2 file: " + why, "The file may be truncated.");
}

[[noreturn]] void unknown(const std::filesystem::path& path, const std::string& what, std::string remedy) {
    fail_file(kOpen, path, "is a KTX2 file with " + what + ", which is not supported", std::move(remedy),
              ErrorCode::unsupported);
}

void require_inside(const std::filesystem::path& path, const std::string& part, std::uint64_t offset,
                    std::uint64_t bytes, std::uint64_t file_bytes) {
    if (bytes == 0 || (offset <= file_bytes && bytes <= file_bytes - offset)) return;
    damaged(path,
            fmt::format("its {} has {} bytes at byte {}, but the file has {} bytes", part, bytes, offset, file_bytes));
}

// --- kind and size ---

ArrayKind kind_of(const std::filesystem::path& path, const Ktx2Header& header) {
    const bool layered = header.layers > 0;
    if (header.faces != 1 && header.faces != 6)
        damaged(path, fmt::format("it has {} faces, but 1 or 6 are possible", header.faces));
    if (header.faces == 6) {
        if (header.depth > 0) damaged(path, "it is a cubemap, but its depth is not 0");
        return layered ? ArrayKind::cubemap_layered : ArrayKind::cubemap;
    }
    if (header.depth > 0) {
        if (header.height == 0) damaged(path, "its height is 0, but its depth is not");
        if (layered) unknown(path, "layers of volumes", "Store each volume in its own file.");
        return ArrayKind::array_3d;
    }
    if (header.height > 0) return layered ? ArrayKind::layered_2d : ArrayKind::array_2d;
    return layered ? ArrayKind::layered_1d : ArrayKind::array_1d;
}

void check_scheme(const std::filesystem::path& path, const Ktx2Header& header, const Ktx2Color& color) {
    if (header.scheme == kBasisScheme || color.model == kEtc1sModel)
        unknown(path, "Basis Universal texels (BasisLZ, ETC1S)", kTranscode);
    if (color.model == kUastcModel || color.model == kUastcHdrModel)
        unknown(path, "Basis Universal texels (UASTC)", kTranscode);
    if (header.scheme == kPlainScheme || header.scheme == kZlibScheme) return;
    if (header.scheme != kZstdScheme) {
        unknown(path, fmt::format("the supercompression {}", header.scheme),
                "Compress the file with Zstandard or zlib, or not at all.");
    }
    if (has_zstd()) return;
    fail_file(kOpen, path, "is a KTX2 file that is compressed with Zstandard, but this build of Texton lacks libzstd",
              "Build Texton with TEXTON_ZSTD=ON, or compress the file with zlib, or not at all.",
              ErrorCode::unsupported);
}

const VkFormatRow& format_of(const std::filesystem::path& path, const Ktx2Header& header) {
    const VkFormatRow* const row = vk_format(header.format);
    if (row == nullptr) {
        unknown(path,
                header.format == 0 ? "an undefined format"
                                   : fmt::format("texels of the format {}", unread_vk_format(header.format)),
                "Convert the file to an RGBA or BC format.");
    }
    return *row;
}

ArrayInfo info_of(const std::filesystem::path& path, const Ktx2Header& header, Format format) {
    ArrayInfo info;
    info.format = format;
    info.kind = kind_of(path, header);
    info.extent = {header.width, std::max<std::size_t>(header.height, 1), std::max<std::size_t>(header.depth, 1)};
    if (is_layered(info.kind)) info.layers = header.layers;
    const std::string sides = to_string(info.extent);
    if (header.width == 0) damaged(path, "its width is 0");
    if (!is_possible(info.extent)) damaged(path, "the header specifies a size of " + sides);
    if (is_cube(info.kind) && info.extent.width != info.extent.height)
        damaged(path, "its faces are not square: " + sides);
    if (is_flat(info.kind) && block_side(format) > 1)
        damaged(path, fmt::format("it contains {}, but its height is 0", name(format)));
    info.levels = static_cast<int>(std::min<std::uint32_t>(header.levels, 64));
    if (info.levels == 0) info.levels = 1;  // readers may compute the others
    if (info.levels > full_levels(info))
        damaged(path, fmt::format("the header specifies {} levels for {} texels", header.levels, sides));
    return info;
}

// --- levels ---

struct Levels {
    std::vector<StoredLevel> stored;
    std::vector<CompressedPart> compressed;
};

Supercompression supercompression_of(const Ktx2Header& header) noexcept {
    return header.scheme == kZlibScheme ? Supercompression::zlib : Supercompression::zstd;
}

// Returns the locations of the levels, whose sizes must be those that the format needs.
Levels levels_of(const std::filesystem::path& path, const Ktx2Header& header, const ContainerContents& contents,
                 std::span<const Ktx2Level> index, std::uint64_t file_bytes) {
    const ArrayInfo& info = contents.info;
    Extent extent = info.extent;
    extent.depth = slice_count(info, 0);
    if (!is_possible(extent)) damaged(path, fmt::format("the header specifies {} layers", info.layers));
    if (!is_possible(info.format, extent)) fail_too_large(kOpen, path, extent);  // so that no product exceeds 64 bits
    const bool is_compressed = header.scheme != kPlainScheme;
    const Supercompression kind = supercompression_of(header);
    Levels levels;
    for (int level = 0; level < info.levels; ++level) {
        const auto [offset, bytes, decompressed] = index[static_cast<std::size_t>(level)];
        extent = level_extent(info, level);
        const std::size_t side = block_side(info.format);
        const std::uint64_t slice = (extent.width + side - 1) / side * row_count(info.format, extent.height) *
                                    stored_bytes(info.format, contents.order);
        extent.depth = slice_count(info, level);
        const std::uint64_t needed = slice * extent.depth;
        const std::uint64_t claimed = is_compressed ? decompressed : bytes;
        if (claimed != needed) {
            damaged(path, fmt::format("its level {} has {} bytes, but {} texels of {} need {} bytes", level, claimed,
                                      to_string(extent), name(info.format), needed));
        }
        require_inside(path, fmt::format("level {}", level), offset, bytes, file_bytes);
        if (is_compressed && needed / max_expansion(kind) > bytes) {
            damaged(path, fmt::format("its level {} claims {} bytes, but its {} bytes of {} cannot contain them", level,
                                      needed, bytes, kind == Supercompression::zstd ? "Zstandard" : "zlib"));
        }
        levels.stored.push_back({extent, is_compressed ? 0 : offset, slice});
        if (is_compressed) levels.compressed.push_back({kind, offset, bytes, needed});
    }
    return levels;
}

// --- keys and values ---

bool is_text(std::string_view value) {
    return std::ranges::none_of(value, [](unsigned char c) { return c < ' ' && c != '\t' && c != '\n' && c != '\r'; });
}

// Texts end with a zero in most files. Other values are bytes.
ImageAttribute attribute_of(std::string key, std::string_view value) {
    std::string_view text = value;
    if (text.ends_with('\0')) text.remove_suffix(1);
    if (is_text(text)) return {std::move(key), std::string(text)};
    std::vector<unsigned> numbers;
    for (const char byte : value) numbers.push_back(static_cast<unsigned char>(byte));
    return {std::move(key), fmt::format("{}", fmt::join(numbers, ", ")), fmt::format("uint8[{}]", numbers.size())};
}

void add_pairs(const std::filesystem::path& path, std::span<const std::byte> bytes,
               std::vector<ImageAttribute>& attributes) {
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const auto invalid = [&] { damaged(path, "its key/value data is invalid"); };
    while (rest.size() >= sizeof(std::uint32_t)) {
        std::uint32_t length = 0;
        std::memcpy(&length, rest.data(), sizeof(length));
        rest.remove_prefix(sizeof(length));
        if (length == 0) continue;  // padding
        if (length > rest.size()) invalid();
        const std::string_view pair = rest.substr(0, length);
        const std::size_t end = pair.find('\0');
        if (end == std::string_view::npos || end == 0) invalid();
        attributes.push_back(attribute_of(std::string(pair.substr(0, end)), pair.substr(end + 1)));
        rest.remove_prefix(std::min<std::size_t>(rest.size(), (std::size_t{length} + 3) / 4 * 4));
    }
}

// --- keys with a meaning ---

// Returns the orientation of Exif for a text such as "rd" (right, down), or 0 if there is none.
int exif_orientation(std::string_view text) {
    const bool to_left = text.starts_with('l');
    if (!to_left && !text.starts_with('r')) return 0;
    if (text.size() == 1 || text[1] == 'd') return to_left ? 2 : 1;
    if (text[1] == 'u') return to_left ? 3 : 4;
    return 0;
}

// Images that can be turned upright get an orientation of Exif. In others, the attribute stays.
void take_orientation(OpenedImage& opened, const ArrayInfo& info) {
    std::vector<ImageAttribute>& attributes = opened.metadata.attributes;
    const auto found = std::ranges::find(attributes, kKtx2Orientation, &ImageAttribute::name);
    if (found == attributes.end()) return;
    const int orientation = exif_orientation(found->value);
    const bool is_volume = info.kind == ArrayKind::array_3d;
    if (orientation != 0 && block_side(info.format) == 1 && !is_volume && !is_cube(info.kind)) {
        opened.metadata.orientation = orientation;
        attributes.erase(found);
    } else if (orientation != 1 || found->value == "rdo") {
        opened.conversions.push_back(
            fmt::format("The image is not turned upright from the orientation {}.", detail::quoted(found->value)));
    }
}

void describe_keys(OpenedImage& opened) {
    constexpr std::string_view kDefaults[] = {"r001", "rg01", "rgb1", "rgba"};  // for each number of channels
    for (const ImageAttribute& attribute : opened.metadata.attributes) {
        if (attribute.name == "KTXcubemapIncomplete")
            opened.conversions.emplace_back("The faces of an incomplete cubemap are read as layers.");
        if (attribute.name != "KTXswizzle" || attribute.value == kDefaults[3]) continue;
        if (attribute.value != kDefaults[opened.metadata.channels.size() - 1])
            opened.conversions.push_back(
                fmt::format("The swizzle {} is not applied.", detail::quoted(attribute.value)));
    }
}

}  // namespace

OpenedImage open_ktx2(const std::filesystem::path& path, ImageColor color) {
    const FileIdentity identity = identity_of(path);
    const auto head = bytes_at(kOpen, path, 0, sizeof(Ktx2Header) + kMaxLevels * sizeof(Ktx2Level));
    Ktx2Header header{};
    if (head.size() < sizeof(header)) damaged(path, fmt::format("the header ends after {} bytes", head.size()));
    std::memcpy(&header, head.data(), sizeof(header));
    require_inside(path, "data format descriptor", header.descriptor_offset, header.descriptor_bytes, identity.bytes);
    require_inside(path, "key/value data", header.pairs_offset, header.pairs_bytes, identity.bytes);
    if (header.pairs_bytes > kMaxPairsBytes)
        damaged(path, fmt::format("its key/value data has {} bytes, of which at most {} are possible",
                                  header.pairs_bytes, kMaxPairsBytes));
    const Ktx2Color colors = color_of(
        bytes_at(kOpen, path, header.descriptor_offset, std::min<std::size_t>(header.descriptor_bytes, kColorBytes)));
    check_scheme(path, header, colors);

    const VkFormatRow& row = format_of(path, header);
    ContainerContents contents{.info = info_of(path, header, row.format), .order = row.order};
    if (colors.is_premultiplied) contents.alpha = ImageAlpha::premultiplied;
    if (row.is_opaque) contents.alpha = ImageAlpha::none;
    contents.color_space = transfer_name(info(row.format).kind == FormatKind::srgb ? kSrgbTransfer : colors.transfer);

    std::array<Ktx2Level, kMaxLevels> index{};
    const std::size_t index_bytes = static_cast<std::size_t>(contents.info.levels) * sizeof(Ktx2Level);
    if (head.size() - sizeof(header) < index_bytes) damaged(path, "the index of its levels is truncated");
    std::memcpy(index.data(), head.data() + sizeof(header), index_bytes);
    Levels levels = levels_of(path, header, contents, index, identity.bytes);

    OpenedImage opened = described("ktx2", contents, levels.stored);
    std::vector<ImageAttribute>& attributes = opened.metadata.attributes;
    if (!levels.compressed.empty()) {
        const bool is_zlib = levels.compressed.front().kind == Supercompression::zlib;
        attributes.push_back({"compression", is_zlib ? "zlib" : "zstd"});
    }
    if (colors.primaries != kBt709Primaries && !primaries_name(colors.primaries).empty())
        attributes.push_back({kPrimariesAttribute, std::string(primaries_name(colors.primaries))});
    add_pairs(path, bytes_at(kOpen, path, header.pairs_offset, header.pairs_bytes), attributes);

    const bool srgb = color == ImageColor::srgb || (color == ImageColor::by_metadata && contents.color_space == "sRGB");
    const Format format = with_srgb(row.format, srgb);
    describe_colors(format, srgb, color, contents.color_space, opened.conversions);
    if (row.is_opaque) {
        opened.conversions.emplace_back(
            "BC1 without alpha is read as BC1 with alpha, in which some texels of black are transparent.");
    }
    take_orientation(opened, contents.info);
    describe_keys(opened);
    opened.file =
        stored_file(path, identity, format, srgb, row.order, std::move(levels.stored), std::move(levels.compressed));
    return opened;
}

}  // namespace texton::detail
