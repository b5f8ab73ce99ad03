// texel_decode.h: converts stored texels to the numbers that the filter adds up.
//
// Normalized texels become integers of 16 bits; signed texels of 8 bits keep their 8 bits. float32, float16 and sRGB
// texels become a mantissa and an exponent. Integer texels are filtered only along an anisotropic footprint.
#pragma once
#include "arrays/unit/bc_decode.h"
#include "arrays/unit/float_bits.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// A channel of a texel as the filter receives it.
///
/// Normalized: `mantissa` in 1/65535, 1/32767 or, for snorm8, 1/127. Floating-point: mantissa * 2^(exponent - fraction
/// bits of the lane). Integers and float32 that is not filtered: `mantissa` is the 32 bits.
struct Lane {
    std::int32_t mantissa;
    std::int32_t exponent;
    bool negative = false;  ///< sign of floating-point values, including zeros
};

struct Lanes {
    Lane channel[4];
};

/// The number format in which a channel is added up. wide_uint and wide_sint have 32 bits.
enum class LaneKind : std::uint8_t { integer, wide_uint, wide_sint, unorm16, snorm8, snorm16, srgb, float16, float32 };

TEXTON_HD inline bool is_integer(LaneKind kind) { return kind <= LaneKind::wide_sint; }

TEXTON_HD inline LaneKind lane_kind(const TexelFormat& format, int channel) {
    switch (format.encoding) {
        case Encoding::uint: return format.bits == 32 ? LaneKind::wide_uint : LaneKind::integer;
        case Encoding::sint: return format.bits == 32 ? LaneKind::wide_sint : LaneKind::integer;
        case Encoding::floating: return format.bits == 32 ? LaneKind::float32 : LaneKind::float16;
        case Encoding::unorm: return LaneKind::unorm16;
        case Encoding::snorm:
            return format.bits == 8 && format.packing == Packing::plain ? LaneKind::snorm8 : LaneKind::snorm16;
        case Encoding::srgb: return is_linear_channel(format, channel) ? LaneKind::unorm16 : LaneKind::srgb;
    }
    return LaneKind::integer;
}

/// Returns how many upper bits of a 16-bit normalized channel a point read uses.
TEXTON_HD inline int point_bits(const TexelFormat& format, int channel) {
    if (format.packing != Packing::packed) return 16;
    return with_packed(format.packed, [&](auto arithmetic) { return decltype(arithmetic)::point_bits(channel); });
}

/// Denormal float32 values count as 0. Recording: special_gather_f32.
TEXTON_HD inline Lane lane_of_float(std::uint32_t bits) {
    const bool negative = bits >> 31;
    const std::int32_t exponent = static_cast<std::int32_t>(bits >> 23 & 255);
    const std::int32_t magnitude = exponent ? static_cast<std::int32_t>(bits & 0x7fffffu) | 0x800000 : 0;
    return {negative ? -magnitude : magnitude, (exponent ? exponent : 1) - 127, negative};
}

TEXTON_HD inline Lane lane_of_half(std::uint32_t bits) {
    const bool negative = bits >> 15 & 1;
    const std::int32_t exponent = static_cast<std::int32_t>(bits >> 10 & 31);
    const std::int32_t magnitude = static_cast<std::int32_t>(bits & 1023u) | (exponent ? 1024 : 0);
    return {negative ? -magnitude : magnitude, (exponent ? exponent : 1) - 15, negative};
}

// sRGB codes decode to a mantissa of 8 bits. Each group of 8 adjacent codes shares an exponent: that of the group's
// largest value, at least 2^-7. The mantissa is the nearest to the curve of IEC 61966-2-1 (recording sweep_srgb_point).
// The filter uses the shared exponent, not the exponent of the value (recording rand_srgb_linear_u8x4).
inline constexpr int kSrgbFractionBits = 7;

struct SrgbCurve {
    std::uint8_t mantissa[256] = {
        0,   5,   10,  15,  20,  25,  30,  35,  40,  45,  50,  55,  60,  66,  72,  78,  85,  92,  99,  107, 115, 123,
        131, 140, 150, 159, 169, 180, 190, 201, 213, 224, 118, 125, 131, 138, 145, 152, 159, 166, 174, 182, 190, 198,
        206, 215, 224, 233, 121, 126, 131, 136, 141, 146, 151, 156, 162, 168, 173, 179, 185, 191, 197, 204, 105, 108,
        112, 115, 118, 122, 125, 129, 133, 136, 140, 144, 148, 152, 156, 160, 164, 169, 173, 177, 182, 186, 191, 195,
        200, 205, 209, 214, 219, 224, 229, 234, 120, 122, 125, 128, 130, 133, 136, 139, 142, 145, 148, 151, 154, 157,
        160, 163, 166, 169, 172, 176, 179, 182, 186, 189, 192, 196, 199, 203, 206, 210, 214, 217, 221, 225, 229, 232,
        236, 240, 244, 248, 126, 128, 130, 132, 134, 136, 138, 141, 143, 145, 147, 149, 152, 154, 156, 158, 161, 163,
        165, 168, 170, 173, 175, 178, 180, 182, 185, 188, 190, 193, 195, 198, 200, 203, 206, 209, 211, 214, 217, 219,
        222, 225, 228, 231, 234, 237, 240, 242, 123, 124, 126, 127, 129, 130, 132, 133, 135, 137, 138, 140, 141, 143,
        145, 146, 148, 150, 151, 153, 155, 156, 158, 160, 161, 163, 165, 167, 169, 170, 172, 174, 176, 178, 179, 181,
        183, 185, 187, 189, 191, 193, 195, 197, 199, 201, 203, 205, 207, 209, 211, 213, 215, 217, 219, 221, 223, 225,
        227, 229, 232, 234, 236, 238, 120, 121, 122, 123, 125, 126, 127, 128};
    std::int8_t exponent[32] = {-7, -7, -7, -7, -6, -6, -5, -5, -4, -4, -4, -4, -3, -3, -3, -3,
                                -3, -2, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1, -1, -1, -1, 0};
};

TEXTON_HD inline Lane lane_of_srgb(std::uint32_t code) {
    static constexpr SrgbCurve kCurve{};
    return {kCurve.mantissa[code], kCurve.exponent[code >> 3]};
}

TEXTON_HD inline std::uint32_t load_bits(const unsigned char* bytes, int bits) {
    std::uint32_t value = bytes[0];
    if (bits > 8) value |= static_cast<std::uint32_t>(bytes[1]) << 8;
    if (bits > 16) value |= static_cast<std::uint32_t>(bytes[2]) << 16 | static_cast<std::uint32_t>(bytes[3]) << 24;
    return value;
}

TEXTON_HD inline std::int32_t sign_extend(std::uint32_t value, int bits) {
    return static_cast<std::int32_t>(value << (32 - bits)) >> (32 - bits);
}

/// Returns an unsigned normalized value of 8 or 16 bits in 1/65535.
TEXTON_HD inline std::int32_t widen_unorm(std::uint32_t value, int bits) {
    return static_cast<std::int32_t>(bits == 8 ? value * 257 : value);
}

TEXTON_HD inline Lane decode_channel(std::uint32_t raw, const TexelFormat& format, int channel) {
    switch (format.encoding) {
        case Encoding::uint: return {static_cast<std::int32_t>(raw), 0};
        case Encoding::sint: return {sign_extend(raw, format.bits), 0};
        case Encoding::floating: return format.bits == 32 ? lane_of_float(raw) : lane_of_half(raw);
        case Encoding::unorm: return {widen_unorm(raw, format.bits), 0};
        case Encoding::snorm: return {sign_extend(raw, format.bits), 0};
        case Encoding::srgb:
            return is_linear_channel(format, channel) ? Lane{widen_unorm(raw, 8), 0} : lane_of_srgb(raw);
    }
    return {};
}

/// Returns the code of alpha 1 in the 16 bits that the filter receives.
TEXTON_HD inline std::int32_t opaque_code(Encoding encoding) {
    switch (encoding) {
        case Encoding::uint:
        case Encoding::sint: return 1;
        case Encoding::floating: return 0x3c00;
        case Encoding::snorm: return 32767;
        case Encoding::unorm:
        case Encoding::srgb: break;
    }
    return 65535;
}

/// Decodes a texel of a block as the filter receives it. Channels that the format lacks are 0; a missing alpha is 1.
[[gnu::noinline]] TEXTON_HD inline Lanes decode_block(const unsigned char* block, int x, int y,
                                                      const TexelFormat& format) {
    const BlockTexel texel = decode_block_texel(block, x, y, format);
    Lanes lanes{};
    for (int c = 0; c < 4; ++c) {
        if (format.encoding == Encoding::floating) {
            lanes.channel[c] = lane_of_half(static_cast<std::uint32_t>(texel.channel[c]));
            lanes.channel[c].negative &= lanes.channel[c].mantissa != 0;  // zeros have no sign (recording bc6h_zero)
        } else if (format.encoding == Encoding::srgb && c < 3)
            lanes.channel[c] = lane_of_srgb(static_cast<std::uint32_t>(texel.channel[c] / 257));
        else
            lanes.channel[c] = {texel.channel[c], 0};
    }
    return lanes;
}

/// Decodes a texel of a packed format in the same way.
TEXTON_HD inline Lanes decode_packed(std::uint32_t word, const TexelFormat& format) {
    const bool floats = format.encoding == Encoding::floating;
    Lanes lanes{};
    for (int c = 0; c < 4; ++c) {
        const PackedChannel channel = packed_channel(word, format.packed, c);
        if (channel.bits == 0 && c < 3) continue;
        const std::int32_t wide = channel.bits == 0 ? opaque_code(format.encoding) : channel.wide;
        lanes.channel[c] = floats ? lane_of_half(static_cast<std::uint32_t>(wide)) : Lane{wide, 0};
    }
    return lanes;
}

/// Decodes the texel stored at `bytes`. For block formats, `bytes` is the block that contains the texel (x, y).
TEXTON_HD inline Lanes decode_texel(const unsigned char* bytes, const TexelFormat& format, int x, int y) {
    if (format.packing >= Packing::bc1) return decode_block(bytes, x & 3, y & 3, format);
    if (format.packing == Packing::packed) return decode_packed(load_bits(bytes, 8 * format.bytes), format);
    Lanes lanes{};
    for (int c = 0; c < format.channels; ++c)
        lanes.channel[c] = decode_channel(load_bits(bytes + c * format.bits / 8, format.bits), format, c);
    return lanes;
}

/// Returns a texel of a level whose texels may lack memory. Texels without memory decode from zero bytes.
TEXTON_HD inline Lanes load_partial_texel(const LevelView& level, const TexelFormat& format, int x, int y, int z) {
    const unsigned char nothing[16] = {};
    const unsigned char* found = level.partial->find(x, y, z);
    return decode_texel(found != nullptr ? found : nothing, format, x, y);
}

/// Returns the texel at (x, y) of slice, layer or face z. All must be inside the level.
TEXTON_HD inline Lanes load_texel(const LevelView& level, const TexelFormat& format, int x, int y, int z) {
    if (level.partial != nullptr) return load_partial_texel(level, format, x, y, z);
    const int side = format.packing >= Packing::bc1 ? 2 : 0;  // log2 of a block's width and height in texels
    const unsigned char* stored =
        level.data + z * level.slice_pitch + (y >> side) * level.row_pitch + std::int64_t{x >> side} * format.bytes;
    return decode_texel(stored, format, x, y);
}

}  // namespace texton::detail
