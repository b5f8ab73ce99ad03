#include <algorithm>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include "arrays/files/ktx2.h"

// The tables of formats and colors, and the data format descriptor: its size in bytes, then one basic descriptor block
// of 6 words and 4 words per sample. A sample is a channel of a texel, or a part of a block.

namespace texton::detail {
namespace {

using F = Format;
using O = StoredOrder;

constexpr StoredOrder kRgb16 = stored_fields(6, {0, 16}, {16, 16}, {32, 16});
constexpr StoredOrder kRgb32 = stored_fields(12, {0, 32}, {32, 32}, {64, 32});
constexpr StoredOrder kBgr10a2 = stored_fields(4, {20, 10}, {10, 10}, {0, 10}, {30, 2});

// Files are written with the first row of their format.
constexpr VkFormatRow kFormats[] = {
    {9, F::r8_unorm},
    {10, F::r8_snorm},
    {13, F::r8_uint},
    {14, F::r8_sint},
    {15, F::r8_srgb},
    {16, F::rg8_unorm},
    {17, F::rg8_snorm},
    {20, F::rg8_uint},
    {21, F::rg8_sint},
    {22, F::rg8_srgb},
    {37, F::rgba8_unorm},
    {38, F::rgba8_snorm},
    {41, F::rgba8_uint},
    {42, F::rgba8_sint},
    {43, F::rgba8_srgb},
    {64, F::rgb10a2_unorm},
    {70, F::r16_unorm},
    {71, F::r16_snorm},
    {74, F::r16_uint},
    {75, F::r16_sint},
    {76, F::r16_float},
    {77, F::rg16_unorm},
    {78, F::rg16_snorm},
    {81, F::rg16_uint},
    {82, F::rg16_sint},
    {83, F::rg16_float},
    {91, F::rgba16_unorm},
    {92, F::rgba16_snorm},
    {95, F::rgba16_uint},
    {96, F::rgba16_sint},
    {97, F::rgba16_float},
    {98, F::r32_uint},
    {99, F::r32_sint},
    {100, F::r32_float},
    {101, F::rg32_uint},
    {102, F::rg32_sint},
    {103, F::rg32_float},
    {107, F::rgba32_uint},
    {108, F::rgba32_sint},
    {109, F::rgba32_float},
    {133, F::bc1_unorm},
    {134, F::bc1_srgb},
    {135, F::bc2_unorm},
    {136, F::bc2_srgb},
    {137, F::bc3_unorm},
    {138, F::bc3_srgb},
    {139, F::bc4_unorm},
    {140, F::bc4_snorm},
    {141, F::bc5_unorm},
    {142, F::bc5_snorm},
    {143, F::bc6h_ufloat},
    {144, F::bc6h_sfloat},
    {145, F::bc7_unorm},
    {146, F::bc7_srgb},
    // three channels
    {23, F::rgba8_unorm, O::rgb},
    {24, F::rgba8_snorm, O::rgb},
    {27, F::rgba8_uint, O::rgb},
    {28, F::rgba8_sint, O::rgb},
    {29, F::rgba8_srgb, O::rgb},
    {84, F::rgba16_unorm, kRgb16},
    {85, F::rgba16_snorm, kRgb16},
    {88, F::rgba16_uint, kRgb16},
    {89, F::rgba16_sint, kRgb16},
    {90, F::rgba16_float, kRgb16},
    {104, F::rgba32_uint, kRgb32},
    {105, F::rgba32_sint, kRgb32},
    {106, F::rgba32_float, kRgb32},
    // blue first
    {30, F::rgba8_unorm, O::bgr},
    {31, F::rgba8_snorm, O::bgr},
    {34, F::rgba8_uint, O::bgr},
    {35, F::rgba8_sint, O::bgr},
    {36, F::rgba8_srgb, O::bgr},
    {44, F::rgba8_unorm, O::bgra},
    {45, F::rgba8_snorm, O::bgra},
    {48, F::rgba8_uint, O::bgra},
    {49, F::rgba8_sint, O::bgra},
    {50, F::rgba8_srgb, O::bgra},
    {58, F::rgb10a2_unorm, kBgr10a2},
    // words of four bytes, which KTX2 forbids because they are the same as the bytes
    {51, F::rgba8_unorm},
    {52, F::rgba8_snorm},
    {55, F::rgba8_uint},
    {56, F::rgba8_sint},
    {57, F::rgba8_srgb},
    // depth, stencil and alpha
    {124, F::r16_unorm},
    {126, F::r32_float},
    {127, F::r8_uint},
    {1000470001, F::r8_unorm},
    {131, F::bc1_unorm, O::same, true},
    {132, F::bc1_srgb, O::same, true},
};

constexpr bool has_all_formats() {
    for (int i = 0; i < static_cast<int>(F::nv12); ++i) {  // planar formats are the last ones
        const auto is_written = [i](const VkFormatRow& row) { return row.format == F(i) && row.order == O::same; };
        if (std::ranges::none_of(kFormats, is_written)) return false;
    }
    return true;
}
static_assert(has_all_formats(), "a format that is not planar has no number of Vulkan");

struct Family {
    std::uint32_t first, last;
    std::string_view name;
};
constexpr Family kUnread[] = {
    {1, 8, "packed texels of 4 to 6 bits per channel"},
    {110, 121, "64-bit channels"},
    {122, 122, "B10G11R11 floats"},
    {123, 123, "floats with a shared exponent"},
    {125, 130, "depth and stencil in one texel"},
    {147, 156, "ETC2 or EAC"},
    {157, 184, "ASTC"},
    {1000054000, 1000054007, "PVRTC"},
    {1000066000, 1000066013, "ASTC"},
    {1000156000, 1000156033, "YCbCr"},
    {1000288000, 1000288029, "ASTC"},
};

// Indexed by number. Names of color spaces are those of OpenImageIO where it has the color space.
constexpr std::string_view kTransfers[] = {
    "",        "Linear",  "sRGB",  "Rec709",   "NTSC",        "SLOG",  "SLOG2",  "BT1886",  "HLG_OETF", "HLG_EOTF",
    "PQ_EOTF", "PQ_OETF", "DCIP3", "PAL_OETF", "PAL625_EOTF", "ST240", "ACESCC", "ACESCCT", "AdobeRGB"};
constexpr std::string_view kPrimaries[] = {"",     "BT709",  "BT601_EBU", "BT601_SMPTE", "BT2020",    "CIEXYZ",
                                           "ACES", "ACESCC", "NTSC1953",  "PAL525",      "DISPLAYP3", "ADOBERGB"};

std::string_view name_in(std::span<const std::string_view> names, std::uint8_t number) noexcept {
    return number < names.size() ? names[number] : std::string_view{};
}

std::optional<std::uint8_t> number_in(std::span<const std::string_view> names, std::string_view name) noexcept {
    const auto found = std::find(names.begin() + 1, names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<std::uint8_t>(found - names.begin());
}

// --- data format descriptors ---

constexpr std::uint32_t kColorModel = 1;  // red, green, blue, stencil, depth and alpha in texels
constexpr std::uint32_t kAlphaChannel = 15;
constexpr std::uint32_t kIsLinear = 0x10, kIsSigned = 0x40, kIsFloat = 0x80;  // flags beside the channel

std::uint32_t model_of(Format format) noexcept {
    const std::string_view text = name(format);
    if (info(format).layout != FormatLayout::block) return kColorModel;
    return 128 + static_cast<std::uint32_t>(text[2] - '1');  // "bc1_unorm"
}

std::uint32_t flags_of(Format format) noexcept {
    switch (info(format).kind) {
        case FormatKind::unorm:
        case FormatKind::uint:
        case FormatKind::srgb: return 0;
        case FormatKind::snorm:
        case FormatKind::sint: return kIsSigned;
        case FormatKind::floating: return format == F::bc6h_ufloat ? kIsFloat : kIsFloat | kIsSigned;
    }
    return 0;
}

struct Range {
    std::uint32_t lower, upper;
};

// Returns the stored values that stand for 0 or -1, and for 1.
Range range_of(Format format, std::uint32_t bits) noexcept {
    constexpr std::uint32_t kOne = 0x3f800000, kMinusOne = 0xbf800000;  // as floats
    const std::uint32_t largest = bits < 32 ? (1u << bits) - 1 : 0xffffffff;
    const bool blocks = info(format).layout == FormatLayout::block;
    switch (info(format).kind) {
        case FormatKind::unorm:
        case FormatKind::srgb: return {0, largest};
        case FormatKind::snorm: return {blocks ? ~(largest >> 1) : 0 - (largest >> 1), largest >> 1};
        case FormatKind::uint: return {0, 1};
        case FormatKind::sint: return {0xffffffff, 1};
        case FormatKind::floating: return {format == F::bc6h_ufloat ? 0 : kMinusOne, kOne};
    }
    return {};
}

struct Sample {
    std::uint32_t channel, first, bits;
};

std::vector<Sample> samples_of(Format format, bool is_opaque) {
    switch (format) {
        case F::bc1_unorm:
        case F::bc1_srgb: return {{is_opaque ? 0u : 1u, 0, 64}};
        case F::bc2_unorm:
        case F::bc2_srgb:
        case F::bc3_unorm:
        case F::bc3_srgb: return {{kAlphaChannel, 0, 64}, {0, 64, 64}};
        case F::bc5_unorm:
        case F::bc5_snorm: return {{0, 0, 64}, {1, 64, 64}};
        default: break;
    }
    if (info(format).layout == FormatLayout::block) return {{0, 0, info(format).bytes * 8u}};
    std::vector<Sample> samples;
    for (int channel = 0; channel < info(format).channels; ++channel) {
        const ChannelBits bits = channel_bits(format, channel);
        samples.push_back({channel == 3 ? kAlphaChannel : static_cast<std::uint32_t>(channel), bits.first, bits.count});
    }
    return samples;
}

}  // namespace

const VkFormatRow* vk_format(std::uint32_t number) noexcept {
    const auto row = std::ranges::find(kFormats, number, &VkFormatRow::number);
    return row == std::end(kFormats) ? nullptr : row;
}

std::uint32_t vk_number(Format format, bool is_opaque) noexcept {
    const auto same = [&](const VkFormatRow& row) {
        return row.format == format && row.order == O::same && row.is_opaque == is_opaque;
    };
    return std::ranges::find_if(kFormats, same)->number;
}

std::string unread_vk_format(std::uint32_t number) {
    const auto contains = [number](const Family& family) { return family.first <= number && number <= family.last; };
    const auto family = std::ranges::find_if(kUnread, contains);
    if (family == std::end(kUnread)) return fmt::format("VkFormat {}", number);
    return fmt::format("{} (VkFormat {})", family->name, number);
}

std::string_view transfer_name(std::uint8_t number) noexcept { return name_in(kTransfers, number); }
std::optional<std::uint8_t> transfer_named(std::string_view name) noexcept { return number_in(kTransfers, name); }
std::string_view primaries_name(std::uint8_t number) noexcept { return name_in(kPrimaries, number); }
std::optional<std::uint8_t> primaries_named(std::string_view name) noexcept { return number_in(kPrimaries, name); }

std::vector<std::uint32_t> data_format_descriptor(Format format, bool is_opaque, const Ktx2Color& color) {
    constexpr std::uint32_t kVersion = 2;
    const std::vector<Sample> samples = samples_of(format, is_opaque);
    const auto block_bytes = static_cast<std::uint32_t>(24 + 16 * samples.size());
    const std::uint32_t side = static_cast<std::uint32_t>(block_side(format)) - 1;
    const std::uint32_t premultiplied = color.is_premultiplied ? 1 : 0;
    std::vector<std::uint32_t> words{4 + block_bytes,
                                     0,  // vendor and type of the block
                                     kVersion | block_bytes << 16,
                                     model_of(format) | std::uint32_t{color.primaries} << 8 |
                                         std::uint32_t{color.transfer} << 16 | premultiplied << 24,
                                     side | side << 8,
                                     info(format).bytes,
                                     0};
    const bool encoded = color.transfer > kLinearTransfer;
    for (const auto& [channel, first, bits] : samples) {
        const std::uint32_t linear = encoded && channel == kAlphaChannel ? kIsLinear : 0;
        const auto [lower, upper] = range_of(format, bits);
        words.insert(words.end(),
                     {first | (bits - 1) << 16 | (channel | flags_of(format) | linear) << 24, 0, lower, upper});
    }
    return words;
}

Ktx2Color color_of(std::span<const std::byte> descriptor) noexcept {
    std::array<std::uint32_t, 4> words{};  // up to the word of the colors
    if (descriptor.size() < sizeof(words)) return {};
    std::memcpy(words.data(), descriptor.data(), sizeof(words));
    if (words[1] != 0) return {};  // another type of block
    const auto byte = [word = words[3]](int at) { return static_cast<std::uint8_t>(word >> 8 * at); };
    return {byte(0), byte(1), byte(2), (byte(3) & 1) != 0};
}

}  // namespace texton::detail
