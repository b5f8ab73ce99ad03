#include "core/cpu_texel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace texton::detail {
namespace {

// IEEE binary16, widened exactly.
float from_half(std::uint16_t half) {
    const std::uint32_t sign = static_cast<std::uint32_t>(half >> 15) << 31;
    const std::uint32_t exponent = (half >> 10) & 0x1F;
    const std::uint32_t mantissa = half & 0x3FF;
    if (exponent == 0) {
        const float tiny = static_cast<float>(mantissa) * 0x1p-24F;
        return sign != 0 ? -tiny : tiny;
    }
    const std::uint32_t widened = exponent == 31 ? 255 : exponent + 112;
    return std::bit_cast<float>(sign | widened << 23 | mantissa << 13);
}

// As an H200 decodes sRGB: a mantissa of 8 bits under an exponent that 8 neighbouring codes share, that of the largest of
// them and at least 2^-7; the mantissa is the nearest to the curve.
float from_srgb(std::uint8_t value) {
    static const std::array<float, 256> table = [] {
        const auto curve = [](std::size_t code) {
            const double c = static_cast<double>(code) / 255.0;
            return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
        };
        std::array<float, 256> made{};
        for (std::size_t code = 0; code < made.size(); ++code) {
            const int exponent = std::max(-7, std::ilogb(curve(code | 7)));
            const double mantissa = std::floor(std::ldexp(curve(code), 7 - exponent) + 0.5);
            made[code] = static_cast<float>(std::ldexp(mantissa, exponent - 7));
        }
        return made;
    }();
    return table[value];
}

template <class Stored, FormatKind kind>
float read(const std::byte* at) {
    Stored stored;
    std::memcpy(&stored, at, sizeof(stored));
    if constexpr (kind == FormatKind::floating && sizeof(Stored) == 2) {
        return from_half(stored);
    } else if constexpr (kind == FormatKind::unorm) {
        constexpr auto kMost = static_cast<float>((1U << (8 * sizeof(Stored))) - 1U);
        return static_cast<float>(stored) / kMost;
    } else if constexpr (kind == FormatKind::snorm) {
        constexpr auto kMost = static_cast<float>((1U << (8 * sizeof(Stored) - 1)) - 1U);
        return std::max(static_cast<float>(stored) / kMost, -1.0F);
    } else if constexpr (kind == FormatKind::srgb) {
        return from_srgb(stored);
    } else {
        return static_cast<float>(stored);
    }
}

template <class Stored, FormatKind kind, int channels>
void decode(const std::byte* texel, float* result) {
    result[1] = result[2] = 0.0F;
    result[3] = 1.0F;
    for (int channel = 0; channel < channels; ++channel) {
        const std::byte* at = texel + static_cast<std::size_t>(channel) * sizeof(Stored);
        if constexpr (kind == FormatKind::srgb) {
            // The last of two or four channels is linear, as an H200 reads it.
            const bool linear = channels > 1 && channel == channels - 1;
            result[channel] = linear ? read<Stored, FormatKind::unorm>(at) : read<Stored, kind>(at);
        } else {
            result[channel] = read<Stored, kind>(at);
        }
    }
}

void decode_rgb10a2(const std::byte* texel, float* result) {
    std::uint32_t word = 0;
    std::memcpy(&word, texel, sizeof(word));
    for (int channel = 0; channel < 3; ++channel) {
        result[channel] = static_cast<float>((word >> (10 * channel)) & 1023U) / 1023.0F;
    }
    result[3] = static_cast<float>(word >> 30) / 3.0F;
}

template <class Stored, FormatKind kind>
DecodeTexel by_channels(int channels) {
    switch (channels) {
        case 1: return decode<Stored, kind, 1>;
        case 2: return decode<Stored, kind, 2>;
        default: return decode<Stored, kind, 4>;
    }
}

}  // namespace

DecodeTexel texel_decoder(Format format) {
    const FormatInfo& row = info(format);
    if (row.layout == FormatLayout::packed) return decode_rgb10a2;
    if (row.layout != FormatLayout::plain) return nullptr;
    switch (row.kind) {
        case FormatKind::uint:
            return row.bits == 8    ? by_channels<std::uint8_t, FormatKind::uint>(row.channels)
                   : row.bits == 16 ? by_channels<std::uint16_t, FormatKind::uint>(row.channels)
                                    : by_channels<std::uint32_t, FormatKind::uint>(row.channels);
        case FormatKind::sint:
            return row.bits == 8    ? by_channels<std::int8_t, FormatKind::sint>(row.channels)
                   : row.bits == 16 ? by_channels<std::int16_t, FormatKind::sint>(row.channels)
                                    : by_channels<std::int32_t, FormatKind::sint>(row.channels);
        case FormatKind::floating:
            return row.bits == 16 ? by_channels<std::uint16_t, FormatKind::floating>(row.channels)
                                  : by_channels<float, FormatKind::floating>(row.channels);
        case FormatKind::unorm:
            return row.bits == 8 ? by_channels<std::uint8_t, FormatKind::unorm>(row.channels)
                                 : by_channels<std::uint16_t, FormatKind::unorm>(row.channels);
        case FormatKind::snorm:
            return row.bits == 8 ? by_channels<std::int8_t, FormatKind::snorm>(row.channels)
                                 : by_channels<std::int16_t, FormatKind::snorm>(row.channels);
        case FormatKind::srgb: return by_channels<std::uint8_t, FormatKind::srgb>(row.channels);
    }
    return nullptr;
}

}  // namespace texton::detail
