#include "arrays/files/texel_values.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "arrays/files/oiio.h"

namespace texton::detail {
namespace {

float linear_of(float encoded) noexcept {
    const double value = encoded;
    return static_cast<float>(value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
}

float encoded_of(float linear) noexcept {
    const double value = linear;
    return static_cast<float>(value <= 0.0031308 ? value * 12.92 : 1.055 * std::pow(value, 1 / 2.4) - 0.055);
}

// The last of two or four channels is alpha, which is never sRGB-encoded.
void change_colors(std::span<float> values, int channels, float (*change)(float) noexcept) {
    const auto count = static_cast<std::size_t>(channels);
    for (std::size_t at = 0; at < values.size(); ++at) {
        const bool alpha = count % 2 == 0 && at % count == count - 1;
        if (!alpha) values[at] = change(values[at]);
    }
}

// Converts codes of unorm, or of snorm if the type is signed. The lowest code of snorm is -1, too.
template <class Code>
void from_codes(const std::byte* texels, std::span<float> values) noexcept {
    for (std::size_t at = 0; at < values.size(); ++at) {
        Code stored;
        std::memcpy(&stored, texels + at * sizeof(Code), sizeof(Code));
        values[at] = std::max(static_cast<float>(stored) / static_cast<float>(std::numeric_limits<Code>::max()), -1.0f);
    }
}

// Returns the nearest code of a value that is clamped to 0 to 1.
double nearest_code(double value, double most) noexcept {
    return std::floor((value > 0 ? std::min(1.0, value) : 0.0) * most + 0.5);
}

template <class Code>
void to_codes(std::span<const float> values, std::byte* texels) noexcept {
    constexpr double kMost = std::numeric_limits<Code>::max();
    for (std::size_t at = 0; at < values.size(); ++at) {
        const double value = values[at];
        const bool negative = std::is_signed_v<Code> && value < 0;
        const auto stored = static_cast<Code>(negative ? -nearest_code(-value, kMost) : nearest_code(value, kMost));
        std::memcpy(texels + at * sizeof(Code), &stored, sizeof(Code));
    }
}

struct Field {
    unsigned first;
    std::uint32_t most;  // largest code
};

Field field_of(Format format, std::size_t channel) noexcept {
    const ChannelBits bits = channel_bits(format, static_cast<int>(channel));
    return {bits.first, (1u << bits.count) - 1};
}

void from_fields(Format format, const std::byte* texels, std::span<float> values) noexcept {
    const std::size_t channels = info(format).channels;
    for (std::size_t at = 0; at < values.size(); ++at) {
        std::uint32_t word = 0;
        std::memcpy(&word, texels + at / channels * info(format).bytes, info(format).bytes);
        const Field field = field_of(format, at % channels);
        values[at] = static_cast<float>(word >> field.first & field.most) / static_cast<float>(field.most);
    }
}

void to_fields(std::span<const float> values, Format format, std::byte* texels) noexcept {
    const std::size_t channels = info(format).channels;
    for (std::size_t texel = 0; texel < values.size() / channels; ++texel) {
        std::uint32_t word = 0;
        for (std::size_t c = 0; c < channels; ++c) {
            const Field field = field_of(format, c);
            const double code = nearest_code(values[texel * channels + c], field.most);
            word |= static_cast<std::uint32_t>(code) << field.first;
        }
        std::memcpy(texels + texel * info(format).bytes, &word, info(format).bytes);
    }
}

// Converts values between float and another type of floats. OpenImageIO counts in int.
void convert_floats(OIIO::TypeDesc from_type, const void* from, OIIO::TypeDesc to_type, void* to, std::size_t count) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    for (std::size_t at = 0; at < count; at += kPiece) {
        OIIO::convert_pixel_values(from_type, static_cast<const std::byte*>(from) + at * from_type.size(), to_type,
                                   static_cast<std::byte*>(to) + at * to_type.size(),
                                   static_cast<int>(std::min(kPiece, count - at)));
    }
}

}  // namespace

bool has_values(Format format) noexcept {
    const FormatInfo& row = info(format);
    const bool normalized = row.kind == FormatKind::unorm || row.kind == FormatKind::srgb;
    if (row.layout == FormatLayout::packed) return row.kind == FormatKind::unorm;
    return row.layout == FormatLayout::plain &&
           (normalized || row.kind == FormatKind::snorm || row.kind == FormatKind::floating);
}

void to_floats(Format format, bool decode, const std::byte* texels, std::span<float> values) {
    const FormatInfo& row = info(format);
    const bool is_signed = row.kind == FormatKind::snorm;
    if (row.layout == FormatLayout::packed) {
        from_fields(format, texels, values);
    } else if (row.kind == FormatKind::floating) {
        convert_floats(channel_type(format), texels, OIIO::TypeDesc::FLOAT, values.data(), values.size());
    } else if (row.bits == 8) {
        is_signed ? from_codes<std::int8_t>(texels, values) : from_codes<std::uint8_t>(texels, values);
    } else {
        is_signed ? from_codes<std::int16_t>(texels, values) : from_codes<std::uint16_t>(texels, values);
    }
    if (decode) change_colors(values, row.channels, linear_of);
}

void store_floats(std::span<float> values, Format format, bool encode, std::byte* texels) {
    const FormatInfo& row = info(format);
    const bool is_signed = row.kind == FormatKind::snorm;
    if (encode) change_colors(values, row.channels, encoded_of);
    if (row.layout == FormatLayout::packed) {
        to_fields(values, format, texels);
    } else if (row.kind == FormatKind::floating) {
        convert_floats(OIIO::TypeDesc::FLOAT, values.data(), channel_type(format), texels, values.size());
    } else if (row.bits == 8) {
        is_signed ? to_codes<std::int8_t>(values, texels) : to_codes<std::uint8_t>(values, texels);
    } else {
        is_signed ? to_codes<std::int16_t>(values, texels) : to_codes<std::uint16_t>(values, texels);
    }
}

}  // namespace texton::detail
