#include "arrays/files/dds_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/oiio.h"
#include "arrays/files/source.h"

// A header has 31 words after the 4 bytes "DDS ". If its four-character code is "DX10", a second header of 5 words
// follows. Headers without it are older and describe texels by a code or by masks of their bits. Their writers differ,
// so that errors that other readers accept are accepted here: sizes of structures, missing flags and too many levels.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";

constexpr std::uint32_t code(std::string_view text) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(text[i]);
    return value;
}

struct PixelFormat {
    std::uint32_t bytes, flags, code, bits, red, green, blue, alpha;
};
struct Header {
    std::uint32_t magic, bytes, flags, height, width, pitch, depth, levels, unused[11];
    PixelFormat pixels;
    std::uint32_t caps, caps2, caps3, caps4, unused2;
};
struct Header10 {
    std::uint32_t format, dimension, flags, layers, alpha;
};
static_assert(sizeof(Header) == 128 && sizeof(Header10) == 20);
static_assert(sizeof(Header) + sizeof(Header10) == kDdsHeaderBytes);

constexpr std::uint32_t kHasCaps = 0x1, kHasHeight = 0x2, kHasWidth = 0x4, kHasPitch = 0x8, kHasPixels = 0x1000,
                        kHasLevels = 0x20000, kHasLinearSize = 0x80000, kHasDepth = 0x800000;
// Flags of the pixel format: alpha beside other channels, a code, and what the masks select.
constexpr std::uint32_t kAlphaToo = 0x1, kCode = 0x4;
constexpr std::uint32_t kAlphaAlone = 0x2, kRgb = 0x40, kLuminance = 0x20000, kSigned = 0x80000;
constexpr std::uint32_t kPalette = 0x20;
constexpr std::uint32_t kMasked = 0xe0262;  // these and others that are not supported: YUV, mixed signs
constexpr std::uint32_t kComplex = 0x8, kTexture = 0x1000, kMipmap = 0x400000;
constexpr std::uint32_t kCube = 0x200, kAllFaces = 0xfc00, kVolume = 0x200000;
constexpr std::uint32_t kLine = 2, kPlane = 3, kBlock = 4;  // resource dimensions of DX10
constexpr std::uint32_t kCube10 = 4;

using F = Format;
using O = StoredOrder;

struct DxgiRow {
    std::uint32_t number;
    Format format;
    StoredOrder order = O::same;
};
// Files are written with the first row of their format.
constexpr DxgiRow kDxgi[] = {
    {2, F::rgba32_float},
    {3, F::rgba32_uint},
    {4, F::rgba32_sint},
    {10, F::rgba16_float},
    {11, F::rgba16_unorm},
    {12, F::rgba16_uint},
    {13, F::rgba16_snorm},
    {14, F::rgba16_sint},
    {16, F::rg32_float},
    {17, F::rg32_uint},
    {18, F::rg32_sint},
    {24, F::rgb10a2_unorm},
    {28, F::rgba8_unorm},
    {29, F::rgba8_srgb},
    {30, F::rgba8_uint},
    {31, F::rgba8_snorm},
    {32, F::rgba8_sint},
    {34, F::rg16_float},
    {35, F::rg16_unorm},
    {36, F::rg16_uint},
    {37, F::rg16_snorm},
    {38, F::rg16_sint},
    {41, F::r32_float},
    {42, F::r32_uint},
    {43, F::r32_sint},
    {49, F::rg8_unorm},
    {50, F::rg8_uint},
    {51, F::rg8_snorm},
    {52, F::rg8_sint},
    {54, F::r16_float},
    {56, F::r16_unorm},
    {57, F::r16_uint},
    {58, F::r16_snorm},
    {59, F::r16_sint},
    {61, F::r8_unorm},
    {62, F::r8_uint},
    {63, F::r8_snorm},
    {64, F::r8_sint},
    {71, F::bc1_unorm},
    {72, F::bc1_srgb},
    {74, F::bc2_unorm},
    {75, F::bc2_srgb},
    {77, F::bc3_unorm},
    {78, F::bc3_srgb},
    {80, F::bc4_unorm},
    {81, F::bc4_snorm},
    {83, F::bc5_unorm},
    {84, F::bc5_snorm},
    {95, F::bc6h_ufloat},
    {96, F::bc6h_sfloat},
    {98, F::bc7_unorm},
    {99, F::bc7_srgb},
    {103, F::nv12},
    {104, F::p010},
    {105, F::p016},
    {130, F::nv16},  // P208
    // Formats without a Format of their own: R32G32B32, R10G10B10A2_UINT, R11G11B10, depth, A8, R9G9B9E5, and small or
    // reordered channels.
    {6, F::rgba32_float, stored_fields(12, {0, 32}, {32, 32}, {64, 32})},
    {7, F::rgba32_uint, stored_fields(12, {0, 32}, {32, 32}, {64, 32})},
    {8, F::rgba32_sint, stored_fields(12, {0, 32}, {32, 32}, {64, 32})},
    {25, F::rgba16_uint, stored_fields(4, {0, 10}, {10, 10}, {20, 10}, {30, 2})},
    {26, F::rgba16_float, {O::Coding::small_floats, 4, {{{0, 11}, {11, 11}, {22, 10}, {}}}}},
    {40, F::r32_float},
    {55, F::r16_unorm},
    {65, F::rgba8_unorm, stored_fields(1, {}, {}, {}, {0, 8})},
    {67, F::rgba16_float, {O::Coding::shared_exponent, 4, {{{0, 9}, {9, 9}, {18, 9}, {}}}}},
    {85, F::rgba8_unorm, stored_fields(2, {11, 5}, {5, 6}, {0, 5})},
    {86, F::rgba8_unorm, stored_fields(2, {10, 5}, {5, 5}, {0, 5}, {15, 1})},
    {87, F::rgba8_unorm, O::bgra},
    {88, F::rgba8_unorm, O::bgrx},
    {91, F::rgba8_srgb, O::bgra},
    {93, F::rgba8_srgb, O::bgrx},
    {115, F::rgba8_unorm, stored_fields(2, {8, 4}, {4, 4}, {0, 4}, {12, 4})},
    {191, F::rgba8_unorm, stored_fields(2, {12, 4}, {8, 4}, {4, 4}, {0, 4})},
    // Typeless texels are read as the type that almost all files with such channels mean.
    {27, F::rgba8_unorm},
    {70, F::bc1_unorm},
    {73, F::bc2_unorm},
    {76, F::bc3_unorm},
    {79, F::bc4_unorm},
    {82, F::bc5_unorm},
    {90, F::rgba8_unorm, O::bgra},
    {92, F::rgba8_unorm, O::bgrx},
    {94, F::bc6h_ufloat},
    {97, F::bc7_unorm},
};

struct CodeRow {
    std::uint32_t code;
    Format format;
    ImageAlpha alpha = ImageAlpha::straight;
};
constexpr CodeRow kCodes[] = {
    {code("DXT1"), F::bc1_unorm}, {code("DXT2"), F::bc2_unorm, ImageAlpha::premultiplied},
    {code("DXT3"), F::bc2_unorm}, {code("DXT4"), F::bc3_unorm, ImageAlpha::premultiplied},
    {code("DXT5"), F::bc3_unorm}, {code("ATI1"), F::bc4_unorm},
    {code("BC4U"), F::bc4_unorm}, {code("BC4S"), F::bc4_snorm},
    {code("ATI2"), F::bc5_unorm}, {code("BC5U"), F::bc5_unorm},
    {code("BC5S"), F::bc5_snorm}, {36, F::rgba16_unorm},
    {110, F::rgba16_snorm},       {111, F::r16_float},
    {112, F::rg16_float},         {113, F::rgba16_float},
    {114, F::r32_float},          {115, F::rg32_float},
    {116, F::rgba32_float},
};

// Texels that are not stored one by one. A code names the bytes in the order of the file.
struct PackedRow {
    std::uint32_t number;  // of DXGI
    std::uint32_t code;    // of older headers
    Format format;
    DdsPacking packing;
};
constexpr PackedRow kPacked[] = {
    {68, code("RGBG"), F::rgba8_unorm, DdsPacking::rgbg},
    {69, code("GRGB"), F::rgba8_unorm, DdsPacking::grgb},
    {107, code("YUY2"), F::nv16, DdsPacking::yuy2},
    {0, code("UYVY"), F::nv16, DdsPacking::uyvy},
};

// Texels with luma, chroma and alpha. They are read as Direct3D's views of these formats: their channels are red, green,
// blue and alpha in the order in which they are stored.
struct LumaRow {
    std::uint32_t number;  // of DXGI
    std::uint32_t code;    // of older headers
    Format format;
    const char* red;
    const char* green;
    const char* blue;
};
constexpr LumaRow kLuma[] = {
    {100, code("AYUV"), F::rgba8_unorm, "Cr", "Cb", "Y"},
    {101, code("Y410"), F::rgb10a2_unorm, "Cb", "Y", "Cr"},
    {102, code("Y416"), F::rgba16_unorm, "Cb", "Y", "Cr"},
};

[[noreturn]] void unknown(const std::filesystem::path& path, const std::string& what) {
    fail_file(kOpen, path, "is a DDS file with " + what + ", which is not supported",
              "Convert the file to an RGBA or BC format.", ErrorCode::unsupported);
}

// --- names of channels ---

std::vector<std::string> names_of(std::string_view letters) {
    std::vector<std::string> names;
    for (const char letter : letters) names.emplace_back(1, letter);
    return names;
}

// Returns the names of red, green, blue and alpha, as far as the file has them.
std::vector<std::string> channel_names(Format format, const StoredOrder& order) {
    if (info(format).layout == FormatLayout::planar) return {"Y", "Cb", "Cr"};
    constexpr std::string_view kLetters = "RGBA";
    if (order == O::same) return names_of(kLetters.substr(0, info(format).channels));
    std::string letters;
    for (std::size_t c = 0; c < kLetters.size(); ++c) {
        if (order.channels[c].count != 0) letters += kLetters[c];
    }
    return names_of(letters);
}

void set_format(DdsContents& contents, Format format, const StoredOrder& order = O::same) {
    contents.info.format = format;
    contents.order = order;
    contents.channels = channel_names(format, order);
}

void set_packing(DdsContents& contents, const PackedRow& row) {
    contents.info.format = row.format;
    contents.packing = row.packing;
    if (plane_count(row.format) > 1) {
        contents.channels = channel_names(row.format, O::same);
        return;
    }
    contents.channels = names_of("RGB");
    contents.conversions = {"Two texels of a row share red and blue: they are repeated, not interpolated.",
                            "Three channels are widened to four, with alpha 1."};
}

void set_luma(DdsContents& contents, const LumaRow& row) {
    set_format(contents, row.format);
    contents.channels = {row.red, row.green, row.blue, "A"};
    contents.conversions = {
        fmt::format("Luma and chroma are not converted to colors: red is {}, green is {}, blue is {}.", row.red,
                    row.green, row.blue)};
}

// --- masks ---

std::optional<StoredField> field_of(std::uint32_t mask, std::uint32_t bits) noexcept {
    if (mask == 0) return StoredField{};
    const int first = std::countr_zero(mask), count = std::popcount(mask);
    const bool consecutive = std::countr_one(mask >> first) == count;
    if (!consecutive || std::cmp_greater(first + count, bits)) return std::nullopt;
    return StoredField{static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(count)};
}

// Returns the format of the texels in memory. `channels` is the number of its channels.
std::optional<Format> format_of(std::span<const StoredField> fields, int channels, bool is_signed) {
    int most = 0;
    for (const StoredField& field : fields) most = std::max<int>(most, field.count);
    if (is_signed) {
        const bool alike =
            std::ranges::all_of(fields, [&](const auto& field) { return field.count == 0 || field.count == most; });
        if (!alike || (most != 8 && most != 16)) return std::nullopt;
        return with_channels(most == 8 ? F::r8_snorm : F::r16_snorm, channels);
    }
    if (most <= 8) return with_channels(F::r8_unorm, channels);
    if (channels == 4 && most == 10 && (fields[3].count == 0 || fields[3].count == 2)) return F::rgb10a2_unorm;
    if (most <= 16) return with_channels(F::r16_unorm, channels);
    return std::nullopt;
}

// The masks are taken literally, also those of 10-bit colors, which writers that use D3DX exchange.
void take_masks(const std::filesystem::path& path, const PixelFormat& pixels, DdsContents& contents) {
    const auto refuse = [&] {
        unknown(path, fmt::format("{} bits with the masks {:#x}, {:#x}, {:#x} and {:#x}", pixels.bits, pixels.red,
                                  pixels.green, pixels.blue, pixels.alpha));
    };
    std::uint32_t kind = pixels.flags & kMasked;
    bool has_alpha = (pixels.flags & kAlphaToo) != 0 || kind == kSigned || kind == kAlphaAlone;
    if (kind == 0) {  // no flags: the masks show what they select
        kind = (pixels.green | pixels.blue) != 0 ? kRgb : pixels.red != 0 ? kLuminance : kAlphaAlone;
        has_alpha = true;
    }
    if (kind != kAlphaAlone && kind != kRgb && kind != kLuminance && kind != kSigned) refuse();
    if (pixels.bits % 8 != 0 || pixels.bits < 8 || pixels.bits > 32) refuse();
    constexpr std::uint32_t kFull = 0xffffffff;
    if (kind == kRgb && pixels.bits == 32 && pixels.red == kFull && (pixels.green | pixels.blue) == 0) {
        return set_format(contents, F::r32_float);  // the only color of 32 bits in Direct3D 9
    }

    const bool alike = pixels.red != 0 && pixels.red == pixels.green && pixels.red == pixels.blue;
    const bool gray = kind == kLuminance || (kind == kRgb && alike);
    const std::uint32_t alpha = has_alpha ? pixels.alpha : 0;
    std::array<std::uint32_t, 4> masks{pixels.red, pixels.green, pixels.blue, alpha};
    if (kind == kAlphaAlone) masks = {0, 0, 0, alpha};
    if (gray) masks = {pixels.red, alpha, 0, 0};
    std::array<StoredField, 4> fields;
    std::uint32_t used = 0;
    for (std::size_t c = 0; c < masks.size(); ++c) {
        const auto field = field_of(masks[c], pixels.bits);
        if (!field || (used & masks[c]) != 0) refuse();
        used |= masks[c];
        fields[c] = *field;
    }
    if (used == 0 || (gray && masks[0] == 0)) refuse();
    const int channels = (masks[2] | masks[3]) != 0 ? 4 : masks[1] != 0 ? 2 : 1;
    const auto format = format_of(fields, channels, kind == kSigned);
    if (!format) refuse();
    const auto bytes = static_cast<int>(pixels.bits / 8);
    set_format(contents, *format,
               simplified(stored_fields(bytes, fields[0], fields[1], fields[2], fields[3]), *format));
    if (gray) contents.channels = names_of(alpha != 0 ? "YA" : "Y");
}

bool has_code(const PixelFormat& pixels) noexcept {
    return (pixels.flags & kCode) != 0 || (pixels.flags == 0 && pixels.code != 0);
}

bool has_palette(const PixelFormat& pixels) noexcept {
    return !has_code(pixels) && (pixels.flags & kMasked & ~kRgb) == kPalette && pixels.bits == 8;
}

void take_pixels(const std::filesystem::path& path, const PixelFormat& pixels, DdsContents& contents) {
    if (has_palette(pixels)) {
        set_format(contents, F::rgba8_unorm);
        contents.packing = DdsPacking::indices;
        contents.header_bytes += kDdsPaletteBytes;
        contents.conversions.emplace_back("Indices are replaced by the colors of the palette.");
        return;
    }
    if (!has_code(pixels)) return take_masks(path, pixels, contents);
    for (const PackedRow& row : kPacked) {
        if (row.code == pixels.code) return set_packing(contents, row);
    }
    for (const LumaRow& row : kLuma) {
        if (row.code == pixels.code) return set_luma(contents, row);
    }
    for (const CodeRow& row : kCodes) {
        if (row.code != pixels.code) continue;
        set_format(contents, row.format);
        contents.alpha = row.alpha;
        return;
    }
    unknown(path, fmt::format("the code {:#x}", pixels.code));
}

// --- headers ---

void take_dxgi(const std::filesystem::path& path, const Header10& more, DdsContents& contents) {
    for (const DxgiRow& row : kDxgi) {
        if (row.number != more.format) continue;
        set_format(contents, row.format, row.order);
        const std::uint32_t alpha = more.alpha & 7;
        if (alpha == 2) contents.alpha = ImageAlpha::premultiplied;
        if (alpha == 3) contents.alpha = ImageAlpha::none;
        return;
    }
    for (const PackedRow& row : kPacked) {
        if (row.number != 0 && row.number == more.format) return set_packing(contents, row);
    }
    for (const LumaRow& row : kLuma) {
        if (row.number == more.format) return set_luma(contents, row);
    }
    unknown(path, fmt::format("DXGI format {}", more.format));
}

ArrayKind kind_of(const std::filesystem::path& path, const Header10& more, bool layered) {
    if ((more.flags & kCube10) != 0) {
        if (more.dimension != kPlane) fail_damaged_dds(path, "it is a cubemap, but its resource dimension is not 2D");
        return layered ? ArrayKind::cubemap_layered : ArrayKind::cubemap;
    }
    switch (more.dimension) {
        case kLine: return layered ? ArrayKind::layered_1d : ArrayKind::array_1d;
        case kPlane: return layered ? ArrayKind::layered_2d : ArrayKind::array_2d;
        case kBlock: return ArrayKind::array_3d;
        default: fail_damaged_dds(path, fmt::format("its resource dimension {} is invalid", more.dimension));
    }
}

ArrayKind kind_of(const std::filesystem::path& path, const Header& header) {
    if ((header.caps2 & kCube) != 0) {
        const std::uint32_t faces = header.caps2 & kAllFaces;
        if (faces != kAllFaces && faces != 0) unknown(path, "a cubemap with missing faces");
        return ArrayKind::cubemap;
    }
    return (header.caps2 & kVolume) != 0 ? ArrayKind::array_3d : ArrayKind::array_2d;
}

// Sizes that other writers set and other readers accept: 24 in place of 124, and 24 or 0 in place of 32.
bool are_valid_sizes(const Header& header, bool legacy) noexcept {
    const std::uint32_t bytes = header.bytes, pixels = header.pixels.bytes;
    if (!legacy) return bytes == 124 && pixels == 32;
    return (bytes == 124 || bytes == 24) && (pixels == 32 || pixels == 24 || pixels == 0);
}

void check_sides(const std::filesystem::path& path, const ArrayInfo& info) {
    const Extent& extent = info.extent;
    const std::string sides = to_string(extent);
    if (extent.width == 0 || extent.height == 0) {
        fail_damaged_dds(path, fmt::format("the header specifies {} texels", sides));
    }
    if (!is_possible(extent)) fail_damaged_dds(path, "the header specifies a size of " + sides);
    if (is_cube(info.kind) && extent.width != extent.height)
        fail_damaged_dds(path, "its faces are not square: " + sides);
    if (is_flat(info.kind) && block_side(info.format) > 1)
        unknown(path, fmt::format("{} in one dimension", name(info.format)));
}

void check_planar(const std::filesystem::path& path, DdsContents& contents) {
    ArrayInfo& info = contents.info;
    if (info.kind != ArrayKind::array_2d) unknown(path, fmt::format("{} in layers or slices", name(info.format)));
    if (info.extent.width % 2 != 0 || info.extent.height % 2 != 0) {
        unknown(path, fmt::format("{} of {} texels, an odd size", name(info.format), to_string(info.extent)));
    }
    if (info.levels > 1) contents.conversions.emplace_back("Only the first level of the planar image is read.");
    info.levels = 1;
}

void take_levels(const std::filesystem::path& path, std::uint32_t levels, bool legacy, DdsContents& contents) {
    ArrayInfo& info = contents.info;
    const int full = full_levels(info);
    info.levels = static_cast<int>(std::clamp<std::uint32_t>(levels, 1, static_cast<std::uint32_t>(full)));
    if (std::cmp_less_equal(levels, full)) return;
    if (!legacy) {
        fail_damaged_dds(path,
                         fmt::format("the header specifies {} levels for {} texels", levels, to_string(info.extent)));
    }
    contents.conversions.push_back(
        fmt::format("The header specifies {} levels, but {} texels have {}.", levels, to_string(info.extent), full));
}

// --- writing ---

Header header_for(const ArrayInfo& info) {
    Header header{};
    header.magic = code("DDS ");
    header.bytes = 124;
    const bool blocks = block_side(info.format) > 1;
    const Format first = plane_count(info.format) > 1 ? plane_info(info.format, 0).format : info.format;
    const std::size_t pitch =
        blocks ? packed_bytes(first, {info.extent.width, info.extent.height}) : row_bytes(first, info.extent.width);
    header.flags = kHasCaps | kHasHeight | kHasWidth | kHasPixels;
    if (std::in_range<std::uint32_t>(pitch)) {  // optional, as readers compute it
        header.flags |= blocks ? kHasLinearSize : kHasPitch;
        header.pitch = static_cast<std::uint32_t>(pitch);
    }
    header.height = static_cast<std::uint32_t>(info.extent.height);
    header.width = static_cast<std::uint32_t>(info.extent.width);
    header.pixels.bytes = 32;
    header.pixels.flags = kCode;
    header.pixels.code = code("DX10");
    header.caps = kTexture;
    header.levels = static_cast<std::uint32_t>(info.levels);
    if (info.levels > 1) {
        header.flags |= kHasLevels;
        header.caps |= kComplex | kMipmap;
    }
    if (info.kind == ArrayKind::array_3d) {
        header.flags |= kHasDepth;
        header.depth = static_cast<std::uint32_t>(info.extent.depth);
        header.caps |= kComplex;
        header.caps2 |= kVolume;
    }
    if (is_cube(info.kind)) {
        header.caps |= kComplex;
        header.caps2 |= kCube | kAllFaces;
    }
    return header;
}

const DxgiRow* row_of(Format format) noexcept {
    const auto* row =
        std::ranges::find_if(kDxgi, [&](const DxgiRow& row) { return row.format == format && row.order == O::same; });
    return row == std::end(kDxgi) ? nullptr : row;
}

Header10 header10_for(const ArrayInfo& info, ImageAlpha alpha) {
    Header10 header{};
    header.format = row_of(info.format)->number;
    header.dimension = is_flat(info.kind) ? kLine : info.kind == ArrayKind::array_3d ? kBlock : kPlane;
    header.flags = is_cube(info.kind) ? kCube10 : 0;
    header.layers = is_layered(info.kind) ? static_cast<std::uint32_t>(info.layers) : 1;
    header.alpha = alpha == ImageAlpha::premultiplied ? 2 : 0;
    return header;
}

}  // namespace

void fail_damaged_dds(const std::filesystem::path& path, const std::string& why) {
    fail_file(kOpen, path, "is a damaged DDS file: " + why, "The file may be truncated.");
}

DdsContents dds_contents(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    Header header{};
    if (bytes.size() < sizeof(header))
        fail_damaged_dds(path, fmt::format("the header ends after {} bytes", bytes.size()));
    std::memcpy(&header, bytes.data(), sizeof(header));
    const bool legacy = !has_code(header.pixels) || header.pixels.code != code("DX10");
    if (!are_valid_sizes(header, legacy)) fail_damaged_dds(path, "the size fields of the header are invalid");
    DdsContents contents;
    contents.header_bytes = sizeof(header);
    ArrayInfo& info = contents.info;
    info.extent = {header.width, header.height, 1};
    if (legacy) {
        take_pixels(path, header.pixels, contents);
        info.kind = kind_of(path, header);
    } else {
        Header10 more{};
        if (bytes.size() < sizeof(header) + sizeof(more)) fail_damaged_dds(path, "the DX10 header is truncated");
        std::memcpy(&more, bytes.data() + sizeof(header), sizeof(more));
        contents.header_bytes += sizeof(more);
        take_dxgi(path, more, contents);
        info.layers = std::max<std::uint32_t>(more.layers, 1);  // some writers set 0
        info.kind = kind_of(path, more, info.layers > 1);
        if (is_flat(info.kind)) info.extent.height = 1;
    }
    if (info.kind == ArrayKind::array_3d) info.extent.depth = std::max<std::uint32_t>(header.depth, 1);
    check_sides(path, info);
    take_levels(path, header.levels, legacy, contents);
    if (plane_count(info.format) > 1) check_planar(path, contents);
    return contents;
}

bool dds_holds(Format format) noexcept { return row_of(format) != nullptr; }

std::vector<std::byte> dds_headers(const ArrayInfo& info, ImageAlpha alpha) {
    const Header header = header_for(info);
    const Header10 more = header10_for(info, alpha);
    std::vector<std::byte> bytes(sizeof(header) + sizeof(more));
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), &more, sizeof(more));
    return bytes;
}

}  // namespace texton::detail
