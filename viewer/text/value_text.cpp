#include "viewer/text/value_text.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "arrays/unit/texel_format.h"

namespace texton::viewer {
namespace {

float float16(std::uint32_t bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const auto mantissa = static_cast<float>(bits & 1023);
    float value = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25);
    if (exponent == 31) value = mantissa == 0 ? std::numeric_limits<float>::infinity() : std::nanf("");
    return bits >> 15 & 1 ? -value : value;
}

// Returns the bits of one channel of a packed floating-point format, widened to float16.
std::uint32_t packed_half(Format format, int channel, std::span<const std::byte> texel) {
    std::uint32_t word = 0;
    std::memcpy(&word, texel.data(), info(format).bytes);
    return static_cast<std::uint32_t>(detail::packed_channel(word, detail::texel_format(format).packed, channel).wide);
}

std::string decimal_of(const FormatInfo& format, std::uint32_t bits, int width) {
    switch (format.kind) {
        case FormatKind::floating: return float_text(width == 16 ? float16(bits) : std::bit_cast<float>(bits));
        case FormatKind::sint:
        case FormatKind::snorm:
            return fmt::format("{}", static_cast<std::int32_t>(bits << (32 - width)) >> (32 - width));
        case FormatKind::uint:
        case FormatKind::unorm:
        case FormatKind::srgb: break;
    }
    return fmt::format("{}", bits);
}

}  // namespace

std::uint32_t stored_code(Format format, int channel, std::span<const std::byte> texel) {
    const auto [first, width] = channel_bits(format, channel);
    const std::size_t bytes = (first % 8u + width + 7u) / 8u;
    std::uint32_t code = 0;
    std::memcpy(&code, texel.data() + first / 8u, bytes);
    return width == 32 ? code : code >> first % 8u & ((1u << width) - 1);
}

std::vector<StoredChannel> stored_channels(Format format, std::span<const std::byte> texel) {
    const FormatInfo& row = info(format);
    std::vector<StoredChannel> channels;
    if (row.layout == FormatLayout::block || row.layout == FormatLayout::planar || texel.size() < row.bytes)
        return channels;
    for (int channel = 0; channel < row.channels; ++channel) {
        const auto [first, width] = channel_bits(format, channel);
        const std::uint32_t code = stored_code(format, channel, texel);
        const std::string decimal = row.layout == FormatLayout::packed && row.kind == FormatKind::floating
                                        ? float_text(float16(packed_half(format, channel, texel)))
                                        : decimal_of(row, code, width);
        channels.push_back({code, width, decimal, fmt::format("0x{:0{}x}", code, (width + 3) / 4)});
    }
    return channels;
}

std::string float_text(float value) { return std::isnan(value) ? "nan" : fmt::format("{}", value); }

std::string channel_text(const Texel& texel, int channel, Format read_as) {
    const std::uint32_t bits = texel.channel[channel];
    if (!reads_integers(read_as)) return float_text(std::bit_cast<float>(bits));
    return info(read_as).kind == FormatKind::sint ? fmt::format("{}", static_cast<std::int32_t>(bits))
                                                  : fmt::format("{}", bits);
}

std::string channel_hexadecimal(const Texel& texel, int channel) {
    return fmt::format("0x{:08x}", texel.channel[channel]);
}

std::string size_text(std::size_t bytes) {
    constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
    const bool whole = value == std::floor(value);
    return whole ? fmt::format("{:.0f} {}", value, kUnits[unit]) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string byte_text(std::span<const std::byte> bytes) {
    std::string out;
    for (const std::byte byte : bytes)
        out += fmt::format("{}{:02x}", out.empty() ? "" : " ", std::to_integer<int>(byte));
    return out;
}

char channel_letter(int channel) { return "RGBA"[channel]; }

double share_of(std::size_t texel, std::size_t side) {
    return (static_cast<double>(texel) + 0.5) / static_cast<double>(side);
}

bool reads_integers(Format format) {
    return info(format).kind == FormatKind::uint || info(format).kind == FormatKind::sint;
}

}  // namespace texton::viewer
