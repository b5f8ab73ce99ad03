// texel_decode.h: stored texels -> the numbers that the filter adds up.
//
// The filter has three widths. 8- and 16-bit normalized texels become 16-bit integers; float32, float16 and sRGB
// texels become a mantissa and an exponent. Integer texels are filtered along an anisotropic footprint alone.
#pragma once
#include "arrays/bc_decode.h"
#include "arrays/float_bits.h"
#include "arrays/texture_view.h"

namespace texton::detail {

/// A channel as the filter takes it.
///
/// Normalized: `mantissa` in 1/65535 or 1/32767. Floating: mantissa * 2^(exponent - fraction bits of the lane).
/// Integers and float32 that is not filtered: `mantissa` is the 32 bits.
struct Lane {
    std::int32_t mantissa;
    std::int32_t exponent;
};

struct Lanes {
    Lane channel[4];
};

/// The width in which a channel is added up; wide ones have 32 bits.
enum class LaneKind : std::uint8_t {
    integer,
    wide_uint,
    wide_sint,
    unorm10,
    unorm16,
    snorm8,
    snorm16,
    srgb,
    float16,
    float32
};

TEXTON_HD inline bool is_integer(LaneKind kind) { return kind <= LaneKind::wide_sint; }

/// The last of two or four sRGB channels is linear: TextureModelTest on an H200.
TEXTON_HD inline bool is_linear_channel(const TexelFormat& format, int channel) {
    return format.channels > 1 && channel == format.channels - 1;
}

TEXTON_HD inline LaneKind lane_kind(const TexelFormat& format, int channel) {
    switch (format.encoding) {
        case Encoding::uint: return format.bits == 32 ? LaneKind::wide_uint : LaneKind::integer;
        case Encoding::sint: return format.bits == 32 ? LaneKind::wide_sint : LaneKind::integer;
        case Encoding::floating: return format.bits == 32 ? LaneKind::float32 : LaneKind::float16;
        // Of the colour, point reads take 10 bits also of a border, of alpha all: border_rgb10a2.
        case Encoding::unorm:
            return format.packing == Packing::rgb10a2 && channel < 3 ? LaneKind::unorm10 : LaneKind::unorm16;
        case Encoding::snorm:
            return format.bits == 8 && format.packing == Packing::plain ? LaneKind::snorm8 : LaneKind::snorm16;
        case Encoding::srgb: return is_linear_channel(format, channel) ? LaneKind::unorm16 : LaneKind::srgb;
    }
    return LaneKind::integer;
}

TEXTON_HD inline Lane lane_of_float(std::uint32_t bits) {
    const std::int32_t exponent = static_cast<std::int32_t>(bits >> 23 & 255);
    const std::int32_t magnitude = static_cast<std::int32_t>(bits & 0x7fffffu) | (exponent ? 0x800000 : 0);
    return {bits >> 31 ? -magnitude : magnitude, (exponent ? exponent : 1) - 127};
}

TEXTON_HD inline Lane lane_of_half(std::uint32_t bits) {
    const std::int32_t exponent = static_cast<std::int32_t>(bits >> 10 & 31);
    const std::int32_t magnitude = static_cast<std::int32_t>(bits & 1023u) | (exponent ? 1024 : 0);
    return {bits >> 15 & 1 ? -magnitude : magnitude, (exponent ? exponent : 1) - 15};
}

// sRGB decodes to 8 bits of mantissa under an exponent that 8 neighbouring codes share: the exponent of the largest
// of them, at least 2^-7. The mantissa is the nearest to the curve of IEC 61966-2-1: sweep_srgb_point. The filter
// sees that exponent, not the one of the value: rand_srgb_linear_u8x4.
inline constexpr int kSrgbFractionBits = 7;

TEXTON_HD inline Lane lane_of_srgb(std::uint32_t code) {
    constexpr std::uint8_t kMantissa[256] = {
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
    constexpr std::int8_t kExponent[32] = {-7, -7, -7, -7, -6, -6, -5, -5, -4, -4, -4, -4, -3, -3, -3, -3,
                                           -3, -2, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1, -1, -1, -1, 0};
    return {kMantissa[code], kExponent[code >> 3]};
}

/// The code of a linear value: the nearest on the curve, random borders on an H200.
TEXTON_HD inline std::uint32_t srgb_code_of(float linear) {
    constexpr float kSteps[255] = {
        0.000151763496f, 0.000455290487f, 0.000758817478f, 0.00106234441f, 0.0013658714f,  0.00166939839f,
        0.00197292538f,  0.00227645249f,  0.00257997937f,  0.00288350624f, 0.00318830088f, 0.00350925932f,
        0.00384831498f,  0.00420574797f,  0.00458183279f,  0.00497683743f, 0.00539102405f, 0.00582465064f,
        0.00627796957f,  0.00675122766f,  0.00724466844f,  0.00775853032f, 0.00829304848f, 0.00884845294f,
        0.00942497049f,  0.0100228256f,   0.010642237f,    0.011283421f,   0.0119465925f,  0.0126319602f,
        0.0133397318f,   0.0140701123f,   0.0148233026f,   0.0155995032f,  0.0163989104f,  0.0172217153f,
        0.0180681143f,   0.0189382937f,   0.0198324434f,   0.0207507443f,  0.0216933824f,  0.0226605386f,
        0.0236523896f,   0.0246691145f,   0.0257108882f,   0.0267778821f,  0.0278702695f,  0.0289882198f,
        0.0301319025f,   0.0313014798f,   0.0324971229f,   0.0337189883f,  0.0349672437f,  0.0362420455f,
        0.0375435539f,   0.0388719253f,   0.04022732f,     0.041609887f,   0.0430197865f,  0.0444571637f,
        0.0459221713f,   0.0474149622f,   0.0489356853f,   0.0504844859f,  0.0520615056f,  0.0536668971f,
        0.055300802f,    0.0569633618f,   0.0586547181f,   0.0603750125f,  0.0621243827f,  0.0639029741f,
        0.0657109171f,   0.0675483495f,   0.0694154128f,   0.0713122338f,  0.0732389539f,  0.0751957074f,
        0.0771826133f,   0.0791998208f,   0.0812474415f,   0.0833256245f,  0.085434489f,   0.0875741541f,
        0.089744769f,    0.091946438f,    0.0941793025f,   0.0964434743f,  0.098739095f,   0.101066269f,
        0.10342513f,     0.105815805f,    0.108238399f,    0.110693045f,   0.113179862f,   0.115698971f,
        0.118250482f,    0.120834522f,    0.123451203f,    0.126100644f,   0.128782958f,   0.131498262f,
        0.134246677f,    0.137028307f,    0.13984327f,     0.142691687f,   0.145573661f,   0.148489311f,
        0.151438728f,    0.15442206f,     0.157439381f,    0.160490826f,   0.163576499f,   0.166696489f,
        0.169850931f,    0.173039913f,    0.176263571f,    0.179521978f,   0.182815254f,   0.186143503f,
        0.189506829f,    0.192905352f,    0.196339145f,    0.199808344f,   0.203313038f,   0.206853345f,
        0.210429341f,    0.214041144f,    0.217688844f,    0.22137256f,    0.225092396f,   0.228848428f,
        0.232640758f,    0.236469507f,    0.240334779f,    0.244236633f,   0.248175204f,   0.252150565f,
        0.256162852f,    0.260212123f,    0.264298469f,    0.268422037f,   0.272582889f,   0.276781112f,
        0.281016797f,    0.285290092f,    0.289601028f,    0.293949723f,   0.298336297f,   0.30276081f,
        0.30722335f,     0.311724037f,    0.31626296f,     0.32084018f,    0.325455844f,   0.330109984f,
        0.334802747f,    0.339534163f,    0.344304383f,    0.349113464f,   0.353961498f,   0.358848572f,
        0.363774776f,    0.368740231f,    0.373744965f,    0.378789127f,   0.383872777f,   0.388996005f,
        0.3941589f,      0.399361521f,    0.404604018f,    0.40988642f,    0.415208817f,   0.420571357f,
        0.425974041f,    0.431417018f,    0.436900347f,    0.442424119f,   0.447988421f,   0.453593314f,
        0.459238917f,    0.464925289f,    0.470652521f,    0.476420701f,   0.482229918f,   0.488080233f,
        0.493971765f,    0.499904543f,    0.505878687f,    0.511894286f,   0.517951429f,   0.524050117f,
        0.530190527f,    0.536372721f,    0.542596757f,    0.548862696f,   0.555170655f,   0.561520696f,
        0.567912877f,    0.574347317f,    0.580824137f,    0.587343335f,   0.593904972f,   0.600509226f,
        0.607156098f,    0.613845706f,    0.62057811f,     0.62735337f,    0.634171605f,   0.641032875f,
        0.647937238f,    0.654884815f,    0.661875665f,    0.668909788f,   0.675987363f,   0.683108449f,
        0.690273106f,    0.697481334f,    0.704733372f,    0.712029159f,   0.719368815f,   0.72675246f,
        0.734180033f,    0.741651773f,    0.749167681f,    0.756727815f,   0.764332294f,   0.77198112f,
        0.779674411f,    0.787412286f,    0.795194745f,    0.803021908f,   0.810893834f,   0.818810523f,
        0.826772213f,    0.834778786f,    0.842830479f,    0.850927293f,   0.859069228f,   0.867256522f,
        0.875489056f,    0.883767068f,    0.892090559f,    0.900459588f,   0.908874214f,   0.917334557f,
        0.925840616f,    0.934392571f,    0.942990363f,    0.951634169f,   0.960324049f,   0.969060004f,
        0.977842152f,    0.986670554f,    0.995545268f};
    std::uint32_t code = 0;
    for (std::uint32_t step = 128; step > 0; step /= 2) {
        if (linear >= kSteps[code + step - 1]) code += step;
    }
    return code;
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

/// 10 bits in 1/65535, as the filter and gathering take them: the first six again below the last (gathers on an H200).
TEXTON_HD inline std::int32_t widen_unorm10(std::int32_t value) { return value << 6 | value >> 4; }

/// An unsigned normalized value of 8 or 16 bits in 1/65535.
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

/// Channels that a block format has as the hardware's filter sees them; those that it lacks read as 0, alpha as 1.
TEXTON_HD inline Lanes decode_block(const unsigned char* block, int x, int y, const TexelFormat& format) {
    const BlockTexel texel = decode_block_texel(block, x, y, format);
    Lanes lanes{};
    for (int c = 0; c < 4; ++c) {
        if (format.encoding == Encoding::floating)
            lanes.channel[c] = lane_of_half(static_cast<std::uint32_t>(texel.channel[c]));
        else if (format.encoding == Encoding::srgb && c < 3)
            lanes.channel[c] = lane_of_srgb(static_cast<std::uint32_t>(texel.channel[c] / 257));
        else
            lanes.channel[c] = {texel.channel[c], 0};
    }
    return lanes;
}

/// What is stored at `bytes`: a texel, or the block that holds the texel (x, y).
TEXTON_HD inline Lanes decode_texel(const unsigned char* bytes, const TexelFormat& format, int x, int y) {
    if (format.packing >= Packing::bc1) return decode_block(bytes, x & 3, y & 3, format);
    Lanes lanes{};
    if (format.packing == Packing::rgb10a2) {
        const std::uint32_t word = load_bits(bytes, 32);
        for (int c = 0; c < 3; ++c)
            lanes.channel[c] = {widen_unorm10(static_cast<std::int32_t>(word >> (10 * c) & 1023)), 0};
        lanes.channel[3] = {static_cast<std::int32_t>(word >> 30) * 21845, 0};
        return lanes;
    }
    for (int c = 0; c < format.channels; ++c)
        lanes.channel[c] = decode_channel(load_bits(bytes + c * format.bits / 8, format.bits), format, c);
    return lanes;
}

TEXTON_HD inline Lanes load_partial_texel(const LevelView& level, const TexelFormat& format, int x, int y, int z) {
    const unsigned char nothing[16] = {};
    const unsigned char* found = level.partial->find(x, y, z);
    return decode_texel(found != nullptr ? found : nothing, format, x, y);
}

/// The texel at (x, y) of slice, layer or face z, all inside the level.
TEXTON_HD inline Lanes load_texel(const LevelView& level, const TexelFormat& format, int x, int y, int z) {
    if (level.partial != nullptr) return load_partial_texel(level, format, x, y, z);
    const int side = format.packing >= Packing::bc1 ? 2 : 0;  // log2 of the texels along a block
    const unsigned char* stored =
        level.data + z * level.slice_pitch + (y >> side) * level.row_pitch + std::int64_t{x >> side} * format.bytes;
    return decode_texel(stored, format, x, y);
}

}  // namespace texton::detail
