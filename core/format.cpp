#include <texton/format.h>

#include <numeric>

#include <fmt/format.h>

#include <texton/error.h>

namespace texton {
namespace {

// Values of cudaChannelFormatKind.
constexpr int kSigned = 0, kUnsigned = 1, kFloat = 2, kNone = 3, kNv12 = 4;
constexpr int kBc1 = 17, kBc1Srgb = 18, kBc2 = 19, kBc2Srgb = 20, kBc3 = 21, kBc3Srgb = 22, kBc4 = 23, kBc4Signed = 24,
              kBc5 = 25, kBc5Signed = 26, kBc6h = 27, kBc6hSigned = 28, kBc7 = 29, kBc7Srgb = 30, kRgb10a2 = 31;

constexpr CudaChannels same(int channels, int bits, int kind) {
    CudaChannels out{{0, 0, 0, 0}, kind};
    for (std::size_t i = 0; i < static_cast<std::size_t>(channels); ++i) out.bits[i] = static_cast<std::uint8_t>(bits);
    return out;
}

// Returns OpenImageIO's name of the type of a channel.
constexpr std::string_view oiio_name(int bits, FormatKind kind) {
    const bool is_signed = kind == FormatKind::sint || kind == FormatKind::snorm;
    switch (bits) {
        case 8: return is_signed ? "int8" : "uint8";
        case 16: return kind == FormatKind::floating ? "half" : is_signed ? "int16" : "uint16";
        case 32: return kind == FormatKind::floating ? "float" : is_signed ? "int" : "uint";
        default: return "";
    }
}

constexpr FormatInfo plain(Format format, std::string_view name, int channels, int bits, FormatKind kind) {
    const bool is_signed = kind == FormatKind::sint || kind == FormatKind::snorm;
    const int cuda = kind == FormatKind::floating ? kFloat : is_signed ? kSigned : kUnsigned;
    return {format,
            name,
            static_cast<std::uint8_t>(channels),
            static_cast<std::uint8_t>(bits),
            kind,
            FormatLayout::plain,
            static_cast<std::uint8_t>(channels * bits / 8),
            same(channels, bits, cuda),
            oiio_name(bits, kind)};
}

constexpr FormatInfo packed(Format format, std::string_view name, int bytes, FormatKind kind, CudaChannels cuda) {
    int channels = 0;
    for (const std::uint8_t bits : cuda.bits) channels += bits != 0 ? 1 : 0;
    return {format,
            name,
            static_cast<std::uint8_t>(channels),
            cuda.bits[0],
            kind,
            FormatLayout::packed,
            static_cast<std::uint8_t>(bytes),
            cuda,
            ""};
}

constexpr FormatInfo block(Format format, std::string_view name, int channels, int bytes, FormatKind kind,
                           CudaChannels cuda) {
    return {format,
            name,
            static_cast<std::uint8_t>(channels),
            0,
            kind,
            FormatLayout::block,
            static_cast<std::uint8_t>(bytes),
            cuda,
            ""};
}

constexpr FormatInfo planar(Format format, std::string_view name, int bits, int cuda) {
    return {format,
            name,
            3,
            static_cast<std::uint8_t>(bits),
            FormatKind::unorm,
            FormatLayout::planar,
            0,
            same(3, bits, cuda),
            ""};
}

using F = Format;
using K = FormatKind;

constexpr std::array kRows{
    plain(F::r8_uint, "r8_uint", 1, 8, K::uint),
    plain(F::rg8_uint, "rg8_uint", 2, 8, K::uint),
    plain(F::rgba8_uint, "rgba8_uint", 4, 8, K::uint),
    plain(F::r8_sint, "r8_sint", 1, 8, K::sint),
    plain(F::rg8_sint, "rg8_sint", 2, 8, K::sint),
    plain(F::rgba8_sint, "rgba8_sint", 4, 8, K::sint),
    plain(F::r16_uint, "r16_uint", 1, 16, K::uint),
    plain(F::rg16_uint, "rg16_uint", 2, 16, K::uint),
    plain(F::rgba16_uint, "rgba16_uint", 4, 16, K::uint),
    plain(F::r16_sint, "r16_sint", 1, 16, K::sint),
    plain(F::rg16_sint, "rg16_sint", 2, 16, K::sint),
    plain(F::rgba16_sint, "rgba16_sint", 4, 16, K::sint),
    plain(F::r32_uint, "r32_uint", 1, 32, K::uint),
    plain(F::rg32_uint, "rg32_uint", 2, 32, K::uint),
    plain(F::rgba32_uint, "rgba32_uint", 4, 32, K::uint),
    plain(F::r32_sint, "r32_sint", 1, 32, K::sint),
    plain(F::rg32_sint, "rg32_sint", 2, 32, K::sint),
    plain(F::rgba32_sint, "rgba32_sint", 4, 32, K::sint),
    plain(F::r16_float, "r16_float", 1, 16, K::floating),
    plain(F::rg16_float, "rg16_float", 2, 16, K::floating),
    plain(F::rgba16_float, "rgba16_float", 4, 16, K::floating),
    plain(F::r32_float, "r32_float", 1, 32, K::floating),
    plain(F::rg32_float, "rg32_float", 2, 32, K::floating),
    plain(F::rgba32_float, "rgba32_float", 4, 32, K::floating),
    plain(F::r8_unorm, "r8_unorm", 1, 8, K::unorm),
    plain(F::rg8_unorm, "rg8_unorm", 2, 8, K::unorm),
    plain(F::rgba8_unorm, "rgba8_unorm", 4, 8, K::unorm),
    plain(F::r16_unorm, "r16_unorm", 1, 16, K::unorm),
    plain(F::rg16_unorm, "rg16_unorm", 2, 16, K::unorm),
    plain(F::rgba16_unorm, "rgba16_unorm", 4, 16, K::unorm),
    plain(F::r8_snorm, "r8_snorm", 1, 8, K::snorm),
    plain(F::rg8_snorm, "rg8_snorm", 2, 8, K::snorm),
    plain(F::rgba8_snorm, "rgba8_snorm", 4, 8, K::snorm),
    plain(F::r16_snorm, "r16_snorm", 1, 16, K::snorm),
    plain(F::rg16_snorm, "rg16_snorm", 2, 16, K::snorm),
    plain(F::rgba16_snorm, "rgba16_snorm", 4, 16, K::snorm),
    plain(F::r8_srgb, "r8_srgb", 1, 8, K::srgb),
    plain(F::rg8_srgb, "rg8_srgb", 2, 8, K::srgb),
    plain(F::rgba8_srgb, "rgba8_srgb", 4, 8, K::srgb),
    packed(F::rgb10a2_unorm, "rgb10a2_unorm", 4, K::unorm, {{10, 10, 10, 2}, kRgb10a2}),
    block(F::bc1_unorm, "bc1_unorm", 4, 8, K::unorm, same(4, 8, kBc1)),
    block(F::bc1_srgb, "bc1_srgb", 4, 8, K::srgb, same(4, 8, kBc1Srgb)),
    block(F::bc2_unorm, "bc2_unorm", 4, 16, K::unorm, same(4, 8, kBc2)),
    block(F::bc2_srgb, "bc2_srgb", 4, 16, K::srgb, same(4, 8, kBc2Srgb)),
    block(F::bc3_unorm, "bc3_unorm", 4, 16, K::unorm, same(4, 8, kBc3)),
    block(F::bc3_srgb, "bc3_srgb", 4, 16, K::srgb, same(4, 8, kBc3Srgb)),
    block(F::bc4_unorm, "bc4_unorm", 1, 8, K::unorm, same(1, 8, kBc4)),
    block(F::bc4_snorm, "bc4_snorm", 1, 8, K::snorm, same(1, 8, kBc4Signed)),
    block(F::bc5_unorm, "bc5_unorm", 2, 16, K::unorm, same(2, 8, kBc5)),
    block(F::bc5_snorm, "bc5_snorm", 2, 16, K::snorm, same(2, 8, kBc5Signed)),
    block(F::bc6h_ufloat, "bc6h_ufloat", 3, 16, K::floating, same(3, 16, kBc6h)),
    block(F::bc6h_sfloat, "bc6h_sfloat", 3, 16, K::floating, same(3, 16, kBc6hSigned)),
    block(F::bc7_unorm, "bc7_unorm", 4, 16, K::unorm, same(4, 8, kBc7)),
    block(F::bc7_srgb, "bc7_srgb", 4, 16, K::srgb, same(4, 8, kBc7Srgb)),
    // Only NV12 has a channel kind in the CUDA runtime. The driver creates the others with a CUarray_format.
    planar(F::nv12, "nv12", 8, kNv12),
    planar(F::p010, "p010", 10, kNone),
    planar(F::p016, "p016", 16, kNone),
    planar(F::nv16, "nv16", 8, kNone),
};

constexpr bool in_order() {
    for (std::size_t i = 0; i < kRows.size(); ++i) {
        if (static_cast<std::size_t>(kRows[i].format) != i) return false;
    }
    return kRows.back().format == F::nv16;
}
static_assert(in_order(), "a row of the format table is missing or out of order");

}  // namespace

const FormatInfo& info(Format format) noexcept { return kRows[static_cast<std::size_t>(format)]; }

std::string_view name(Format format) noexcept { return info(format).name; }

std::span<const FormatInfo> formats() noexcept { return kRows; }

std::optional<Format> format_named(std::string_view name) noexcept {
    for (const FormatInfo& row : kRows) {
        if (row.name == name) return row.format;
    }
    return std::nullopt;
}

Format with_channels(Format like, int channels) {
    const FormatInfo& model = info(like);
    const int widened = channels == 3 ? 4 : channels;
    if (model.layout == FormatLayout::plain) {
        for (const FormatInfo& row : kRows) {
            if (row.layout == FormatLayout::plain && row.bits == model.bits && row.kind == model.kind &&
                row.channels == widened) {
                return row.format;
            }
        }
    }
    throw Error({.code = ErrorCode::bad_argument,
                 .object = "texton::with_channels",
                 .problem = fmt::format("{} has no variant with {} channels", model.name, channels),
                 .remedy = "Use a plain format and 1, 2 or 4 channels; 3 channels give a format with 4.",
                 .numbers = {{"channels", static_cast<std::uint64_t>(channels)}}});
}

int plane_count(Format format) noexcept { return info(format).layout == FormatLayout::planar ? 2 : 1; }

PlaneInfo plane_info(Format format, int plane) {
    if (info(format).layout != FormatLayout::planar || plane < 0 || plane > 1) {
        throw Error({.code = ErrorCode::bad_argument,
                     .object = "texton::plane_info",
                     .problem = fmt::format("{} has no plane {}", name(format), plane),
                     .remedy = "The planar formats nv12, p010, p016 and nv16 have plane 0 (luma) and plane 1 (chroma).",
                     .numbers = {{"plane", static_cast<std::uint64_t>(plane)}}});
    }
    const bool wide = info(format).bits > 8;
    if (plane == 0) return {wide ? Format::r16_unorm : Format::r8_unorm, 1, 1};
    const std::uint8_t divide_height = format == Format::nv16 ? 1 : 2;
    return {wide ? Format::rg16_unorm : Format::rg8_unorm, 2, divide_height};
}

ChannelBits channel_bits(Format format, int channel) noexcept {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::block || row.layout == FormatLayout::planar) return {0, 0};
    if (channel < 0 || channel >= row.channels) return {0, 0};
    const auto at = static_cast<std::size_t>(channel);
    const int first = std::accumulate(row.cuda.bits.begin(), row.cuda.bits.begin() + channel, 0);
    return {static_cast<std::uint8_t>(first), row.cuda.bits[at]};
}

std::size_t block_side(Format format) noexcept { return info(format).layout == FormatLayout::block ? 4 : 1; }

std::size_t row_bytes(Format format, std::size_t width) {
    const std::size_t side = block_side(format);
    return checked_product(width / side + (width % side != 0), info(format).bytes, "texton::row_bytes",
                           "width * bytes per texel");
}

std::size_t row_count(Format format, std::size_t height) noexcept {
    const std::size_t side = block_side(format);
    return height / side + (height % side != 0);
}

std::size_t packed_bytes(Format format, Extent extent) {
    constexpr const char* kObject = "texton::packed_bytes";
    if (info(format).layout == FormatLayout::planar) {
        std::size_t total = 0;
        for (int plane = 0; plane < 2; ++plane) {
            const PlaneInfo part = plane_info(format, plane);
            const auto divided = [](std::size_t side, std::size_t by) { return side / by + (side % by != 0); };
            const std::size_t bytes = packed_bytes(
                part.format,
                {divided(extent.width, part.divide_width), divided(extent.height, part.divide_height), extent.depth});
            total +=
                plane == 0 ? checked_product(bytes, 2, kObject, "bytes of both planes") / 2 : bytes;  // chroma <= luma
        }
        return total;
    }
    const std::size_t slice =
        checked_product(row_bytes(format, extent.width), row_count(format, extent.height), kObject, "width * height");
    return checked_product(slice, extent.depth, kObject, "width * height * depth");
}

Extent tile_extent(Format format, int dimensions) {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::planar || (dimensions != 2 && dimensions != 3)) {
        throw Error(
            {.code = ErrorCode::bad_argument,
             .object = "texton::tile_extent",
             .problem = fmt::format("{} has no tiles for sparse arrays with {} dimensions", row.name, dimensions),
             .remedy = "Use 2 or 3 dimensions and a format that is not planar.",
             .numbers = {{"dimensions", static_cast<std::uint64_t>(dimensions)}}});
    }
    // Measured on an H200 for 1, 4 and 16 bytes, and for 8 bytes in 2D. The other shapes are the standard 64 KiB tiles.
    const auto shape = [&]() -> Extent {
        const bool flat = dimensions == 2;
        switch (row.bytes) {
            case 1: return flat ? Extent{256, 256} : Extent{64, 32, 32};
            case 2: return flat ? Extent{256, 128} : Extent{32, 32, 32};
            case 4: return flat ? Extent{128, 128} : Extent{32, 32, 16};
            case 8: return flat ? Extent{128, 64} : Extent{32, 16, 16};
            default: return flat ? Extent{64, 64} : Extent{16, 16, 16};
        }
    }();
    const std::size_t side = block_side(format);
    return {shape.width * side, shape.height * side, shape.depth};
}

}  // namespace texton
