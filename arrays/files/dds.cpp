#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/container.h"
#include "arrays/files/convert.h"
#include "arrays/files/oiio.h"

// Layout of a DDS file: the 4 bytes "DDS ", a header of 31 words, a second header of 5 words if the first one has the
// four-character code "DX10", then the tightly packed texels. Layers and faces follow each other, each with all its
// levels. A volume stores level by level, each with all its slices.

namespace texton::detail {
namespace {

constexpr const char* kOpen = "texton::open_image";
constexpr const char* kSave = "texton::save";

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

constexpr std::uint32_t kHasCaps = 0x1, kHasHeight = 0x2, kHasWidth = 0x4, kHasPitch = 0x8, kHasPixels = 0x1000,
                        kHasLevels = 0x20000, kHasLinearSize = 0x80000, kHasDepth = 0x800000;
constexpr std::uint32_t kCode = 0x4, kKinds = 0xe0042;  // pixel format flags: code; mask of the others
constexpr std::uint32_t kAlphaAlone = 0x2, kRgb = 0x40, kLuminance = 0x20000, kSigned = 0x80000;
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
    {65, F::r8_unorm},
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
    {87, F::rgba8_unorm, O::bgra},
    {88, F::rgba8_unorm, O::bgrx},
    {91, F::rgba8_srgb, O::bgra},
    {93, F::rgba8_srgb, O::bgrx},
    {95, F::bc6h_ufloat},
    {96, F::bc6h_sfloat},
    {98, F::bc7_unorm},
    {99, F::bc7_srgb},
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

struct MaskRow {
    std::uint32_t kind, bits, red, green, blue, alpha;
    Format format;
    StoredOrder order = O::same;
};
constexpr MaskRow kMasks[] = {
    {kRgb, 32, 0xff, 0xff00, 0xff0000, 0xff000000, F::rgba8_unorm},
    {kRgb, 32, 0xff, 0xff00, 0xff0000, 0, F::rgba8_unorm, O::rgbx},
    {kRgb, 32, 0xff0000, 0xff00, 0xff, 0xff000000, F::rgba8_unorm, O::bgra},
    {kRgb, 32, 0xff0000, 0xff00, 0xff, 0, F::rgba8_unorm, O::bgrx},
    {kRgb, 24, 0xff0000, 0xff00, 0xff, 0, F::rgba8_unorm, O::bgr},
    {kRgb, 24, 0xff, 0xff00, 0xff0000, 0, F::rgba8_unorm, O::rgb},
    {kRgb, 32, 0x3ff, 0xffc00, 0x3ff00000, 0xc0000000, F::rgb10a2_unorm},
    {kRgb, 32, 0xffff, 0xffff0000, 0, 0, F::rg16_unorm},
    {kLuminance, 16, 0xff, 0, 0, 0xff00, F::rg8_unorm},
    {kLuminance, 16, 0xffff, 0, 0, 0, F::r16_unorm},
    {kLuminance, 8, 0xff, 0, 0, 0, F::r8_unorm},
    {kAlphaAlone, 8, 0, 0, 0, 0xff, F::r8_unorm},
    {kSigned, 16, 0xff, 0xff00, 0, 0, F::rg8_snorm},
    {kSigned, 32, 0xff, 0xff00, 0xff0000, 0xff000000, F::rgba8_snorm},
    {kSigned, 32, 0xffff, 0xffff0000, 0, 0, F::rg16_snorm},
};

struct Contents : ContainerContents {
    std::size_t header_bytes = sizeof(Header);
};

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& why) {
    fail_file(kOpen, path, "is a damaged DDS file: " + why, "The file may be truncated.");
}

[[noreturn]] void unknown(const std::filesystem::path& path, const std::string& what) {
    fail_file(kOpen, path, "is a DDS file with " + what + ", which is not supported",
              "Convert the file to an RGBA or BC format.", ErrorCode::unsupported);
}

void take_dxgi(const std::filesystem::path& path, const Header10& more, Contents& contents) {
    for (const DxgiRow& row : kDxgi) {
        if (row.number != more.format) continue;
        contents.info.format = row.format;
        contents.order = row.order;
        const std::uint32_t alpha = more.alpha & 7;
        if (alpha == 2) contents.alpha = ImageAlpha::premultiplied;
        if (alpha == 3) contents.alpha = ImageAlpha::none;
        return;
    }
    unknown(path, fmt::format("DXGI format {}", more.format));
}

void take_pixels(const std::filesystem::path& path, const PixelFormat& pixels, Contents& contents) {
    if ((pixels.flags & kCode) != 0) {
        for (const CodeRow& row : kCodes) {
            if (row.code != pixels.code) continue;
            contents.info.format = row.format;
            contents.alpha = row.alpha;
            return;
        }
        unknown(path, fmt::format("the code {:#x}", pixels.code));
    }
    for (const MaskRow& row : kMasks) {
        const bool same = row.kind == (pixels.flags & kKinds) && row.bits == pixels.bits && row.red == pixels.red &&
                          row.green == pixels.green && row.blue == pixels.blue && row.alpha == pixels.alpha;
        if (!same) continue;
        contents.info.format = row.format;
        contents.order = row.order;
        return;
    }
    unknown(path, fmt::format("{} bits with the masks {:#x}, {:#x}, {:#x} and {:#x}", pixels.bits, pixels.red,
                              pixels.green, pixels.blue, pixels.alpha));
}

ArrayKind kind_of(const std::filesystem::path& path, const Header10& more) {
    const bool layered = more.layers > 1;
    if ((more.flags & kCube10) != 0) {
        if (more.dimension != kPlane) damaged(path, "it is a cubemap, but its resource dimension is not 2D");
        return layered ? ArrayKind::cubemap_layered : ArrayKind::cubemap;
    }
    switch (more.dimension) {
        case kLine: return layered ? ArrayKind::layered_1d : ArrayKind::array_1d;
        case kPlane: return layered ? ArrayKind::layered_2d : ArrayKind::array_2d;
        case kBlock: return ArrayKind::array_3d;
        default: damaged(path, fmt::format("its resource dimension {} is invalid", more.dimension));
    }
}

Contents contents_of(const std::filesystem::path& path, std::span<const std::byte> bytes) {
    Header header{};
    if (bytes.size() < sizeof(header)) damaged(path, fmt::format("the header ends after {} bytes", bytes.size()));
    std::memcpy(&header, bytes.data(), sizeof(header));
    if (header.bytes != 124 || header.pixels.bytes != 32) damaged(path, "the size fields of the header are invalid");
    Contents contents;
    ArrayInfo& info = contents.info;
    info.extent = {header.width, header.height, 1};
    if ((header.pixels.flags & kCode) != 0 && header.pixels.code == code("DX10")) {
        Header10 more{};
        if (bytes.size() < sizeof(header) + sizeof(more)) damaged(path, "the DX10 header is truncated");
        std::memcpy(&more, bytes.data() + sizeof(header), sizeof(more));
        contents.header_bytes += sizeof(more);
        take_dxgi(path, more, contents);
        info.kind = kind_of(path, more);
        info.layers = more.layers;
        if (is_flat(info.kind)) info.extent.height = 1;
    } else {
        take_pixels(path, header.pixels, contents);
        info.kind = ArrayKind::array_2d;
        if ((header.caps2 & kVolume) != 0) info.kind = ArrayKind::array_3d;
        if ((header.caps2 & kCube) != 0) {
            if ((header.caps2 & kAllFaces) != kAllFaces) unknown(path, "a cubemap with missing faces");
            info.kind = ArrayKind::cubemap;
        }
    }
    if (info.kind == ArrayKind::array_3d) info.extent.depth = header.depth;
    info.levels = header.levels == 0 ? 1 : static_cast<int>(std::min<std::uint32_t>(header.levels, 64));
    return contents;
}

void check_sides(const std::filesystem::path& path, const ArrayInfo& info) {
    const Extent& extent = info.extent;
    const std::string sides = to_string(extent);
    if (extent.width == 0 || extent.height == 0 || extent.depth == 0 || info.layers == 0) {
        damaged(path, fmt::format("the header specifies {} texels and {} layers", sides, info.layers));
    }
    if (!is_possible(extent)) damaged(path, "the header specifies a size of " + sides);
    if (is_cube(info.kind) && extent.width != extent.height) damaged(path, "its faces are not square: " + sides);
    if (info.levels > full_levels(info)) {
        damaged(path, fmt::format("the header specifies {} levels for {} texels", info.levels, sides));
    }
    if (is_flat(info.kind) && block_side(info.format) > 1) {
        unknown(path, fmt::format("{} in one dimension", name(info.format)));
    }
}

// Returns the location of each level. Everything is checked against the length of the file before memory is allocated.
std::vector<StoredLevel> locations(const std::filesystem::path& path, const Contents& contents,
                                   std::uint64_t file_bytes) {
    const ArrayInfo& info = contents.info;
    const std::size_t side = block_side(info.format);
    const bool volume = info.kind == ArrayKind::array_3d;
    const std::size_t slices = volume ? 1 : slice_count(info, 0);
    const std::uint64_t available =
        (std::max<std::uint64_t>(file_bytes, contents.header_bytes) - contents.header_bytes) / slices;
    const auto too_short = [&] {
        damaged(path, fmt::format("it has {} bytes, which are too few for {} texels of {} in {} slices and {} levels",
                                  file_bytes, to_string(info.extent), name(info.format), slices, info.levels));
    };
    std::vector<StoredLevel> levels;
    std::uint64_t used = 0;
    for (int level = 0; level < info.levels; ++level) {
        const Extent extent = level_extent(info, level);
        const std::uint64_t rows = (extent.height + side - 1) / side;
        const std::uint64_t row = (extent.width + side - 1) / side * stored_bytes(info.format, contents.order);
        if (row > available / rows) too_short();
        const std::uint64_t slice = rows * row;
        if (slice > (available - used) / extent.depth) too_short();
        levels.push_back({extent, contents.header_bytes + used, slice});
        used += slice * extent.depth;
    }
    if (volume) return levels;
    for (StoredLevel& level : levels) {
        level.stride = used;
        level.extent.depth = slices;
    }
    return levels;
}

Header header_for(const ArrayInfo& info) {
    Header header{};
    header.magic = code("DDS ");
    header.bytes = 124;
    const bool blocks = block_side(info.format) > 1;
    const std::size_t pitch = blocks ? packed_bytes(info.format, {info.extent.width, info.extent.height})
                                     : row_bytes(info.format, info.extent.width);
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

Header10 header10_for(const ArrayInfo& info, std::uint32_t dxgi, ImageAlpha alpha) {
    Header10 header{};
    header.format = dxgi;
    header.dimension = is_flat(info.kind) ? kLine : info.kind == ArrayKind::array_3d ? kBlock : kPlane;
    header.flags = is_cube(info.kind) ? kCube10 : 0;
    header.layers = is_layered(info.kind) ? static_cast<std::uint32_t>(info.layers) : 1;
    header.alpha = alpha == ImageAlpha::premultiplied ? 2 : 0;
    return header;
}

}  // namespace

OpenedImage open_dds(const std::filesystem::path& path, ImageColor color) {
    const FileIdentity identity = identity_of(path);
    Contents contents = contents_of(path, bytes_at(kOpen, path, 0, sizeof(Header) + sizeof(Header10)));
    check_sides(path, contents.info);
    std::vector<StoredLevel> levels = locations(path, contents, identity.bytes);
    if (!is_possible(contents.info.format, levels.front().extent)) fail_too_large(kOpen, path, contents.info.extent);

    const Format stored = contents.info.format;
    if (info(stored).kind == FormatKind::srgb) contents.color_space = "sRGB";
    const Format format = color == ImageColor::by_metadata ? stored : with_srgb(stored, color == ImageColor::srgb);
    OpenedImage opened = described("dds", contents, levels);
    const bool srgb = info(format).kind == FormatKind::srgb || color == ImageColor::srgb;
    opened.file = stored_file(path, identity, format, srgb, contents.order, std::move(levels));
    return opened;
}

void save_dds(const std::filesystem::path& path, const ImageState& image, const OnImageProgress& progress) {
    const ArrayInfo& info = image.info;
    const auto row = std::find_if(std::begin(kDxgi), std::end(kDxgi), [&](const DxgiRow& row) {
        return row.format == info.format && row.order == O::same;
    });
    if (row == std::end(kDxgi)) {
        fail_file(kSave, path, "is of a kind that cannot hold " + std::string(name(info.format)),
                  "Use .ktx2, or convert the texels to a format of DXGI first.");
    }
    require_countable(path, info);
    const Header header = header_for(info);
    const Header10 more = header10_for(info, row->number, image.metadata.alpha);
    NewFile writer(kSave, path);
    writer.write(std::as_bytes(std::span(&header, 1)));
    writer.write(std::as_bytes(std::span(&more, 1)));
    ImageBands bands(image, packed_bytes(info), progress);
    const bool volume = info.kind == ArrayKind::array_3d;
    const std::size_t items = volume ? 1 : slice_count(info, 0);
    for (std::size_t item = 0; item < items; ++item) {
        for (int level = 0; level < info.levels; ++level) {
            Region region = whole(image.file->level(level));
            if (!volume) region = {{0, 0, item}, {region.extent.width, region.extent.height, 1}};
            for (const Region& box :
                 cut(info.format, region, {region.extent.width, block_side(info.format), 1}, kBandBytes)) {
                const auto texels = bands.read(*image.file, level, box);
                writer.write(texels);
                bands.report(texels.size());
            }
        }
    }
    writer.complete();
}

}  // namespace texton::detail
