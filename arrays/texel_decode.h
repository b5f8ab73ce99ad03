// texel_decode.h: stored texels -> the numbers that the filter adds up.
//
// The filter has three widths. 8- and 16-bit normalized texels become 16-bit integers; float32, float16 and sRGB
// texels become a mantissa and an exponent. Integer texels are never filtered.
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

/// The width in which a channel is added up.
enum class LaneKind : std::uint8_t { integer, unorm10, unorm16, snorm8, snorm16, srgb, float16, float32 };

/// The last of two or four sRGB channels is linear: TextureModelTest on an H200.
TEXTON_HD inline bool is_linear_channel(const TexelFormat& format, int channel) {
    return format.channels > 1 && channel == format.channels - 1;
}

TEXTON_HD inline LaneKind lane_kind(const TexelFormat& format, int channel) {
    switch (format.encoding) {
        case Encoding::uint:
        case Encoding::sint: return LaneKind::integer;
        case Encoding::floating: return format.bits == 32 ? LaneKind::float32 : LaneKind::float16;
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

/// The code of a linear value: a border colour is stored as a texel is, and rounded on the curve as quantize_border does.
TEXTON_HD inline std::uint32_t srgb_code_of(float linear) {
    constexpr float kSteps[255] = {
        0.000170066996f, 0.000472408341f, 0.000774749671f, 0.00107709097f, 0.00137943227f, 0.00168177369f,
        0.00198411499f,  0.00228645629f,  0.00258879759f,  0.00289113889f, 0.00319493189f, 0.0035149816f,
        0.00385299209f,  0.00420924043f,  0.00458399765f,  0.00497752847f, 0.00541651575f, 0.00584958168f,
        0.00630219933f,  0.0067746141f,   0.00726706581f,  0.00777979009f, 0.0083130179f,  0.00886697881f,
        0.00944189448f,  0.0100379875f,   0.0106554748f,   0.0112945698f,  0.0119554829f,  0.0126384227f,
        0.013343594f,    0.0140711982f,   0.0148690818f,   0.0156435817f,  0.016441118f,   0.0172618832f,
        0.0181060638f,   0.0189738497f,   0.0198654234f,   0.0207809694f,  0.0217206683f,  0.0226846989f,
        0.0236732364f,   0.0246864557f,   0.0257245321f,   0.0267876368f,  0.0278759357f,  0.0289896019f,
        0.0302008465f,   0.0313673466f,   0.0325597189f,   0.0337781161f,  0.0350227058f,  0.0362936407f,
        0.0375910811f,   0.0389151834f,   0.0402661003f,   0.0416439846f,  0.0430489853f,  0.0444812588f,
        0.0459409505f,   0.0474282093f,   0.0489431806f,   0.0504860096f,  0.0521559566f,  0.0537567027f,
        0.0553857461f,   0.0570432283f,   0.058729291f,    0.0604440719f,  0.0621877089f,  0.0639603436f,
        0.0657621026f,   0.0675931275f,   0.0694535524f,   0.0713435113f,  0.0732631311f,  0.0752125531f,
        0.0771919042f,   0.0792013034f,   0.0813693777f,   0.083441183f,   0.0855434388f,  0.0876762643f,
        0.0898397937f,   0.0920341536f,   0.0942594707f,   0.0965158492f,  0.0988034382f,  0.101122335f,
        0.10347268f,     0.105854586f,    0.108268172f,    0.110713556f,   0.113190867f,   0.115700208f,
        0.118401617f,    0.120977409f,    0.123585597f,    0.126226291f,   0.128899604f,   0.13160567f,
        0.134344578f,    0.137116447f,    0.139921412f,    0.142759547f,   0.145630985f,   0.148535848f,
        0.151474223f,    0.154446229f,    0.157451972f,    0.160491571f,   0.163758352f,   0.166868106f,
        0.170012042f,    0.173190251f,    0.176402852f,    0.179649964f,   0.182931662f,   0.186248064f,
        0.18959929f,     0.192985415f,    0.196406573f,    0.199862838f,   0.203354329f,   0.206881136f,
        0.210443377f,    0.214267179f,    0.217902809f,    0.221574157f,   0.225281343f,   0.229024455f,
        0.232803598f,    0.236618876f,    0.24047038f,     0.244358197f,   0.248282447f,   0.252243221f,
        0.256240606f,    0.260274678f,    0.264345586f,    0.268453389f,   0.272598177f,   0.277042687f,
        0.281264067f,    0.285522759f,    0.289818823f,    0.294152379f,   0.298523486f,   0.302932233f,
        0.307378739f,    0.311863095f,    0.316385388f,    0.32094568f,    0.325544119f,   0.330180734f,
        0.334855676f,    0.339568973f,    0.344320744f,    0.349411786f,   0.354243189f,   0.359113365f,
        0.364022374f,    0.368970305f,    0.373957217f,    0.378983259f,   0.384048492f,   0.389152974f,
        0.394296825f,    0.399480104f,    0.404702932f,    0.409965396f,   0.415267527f,   0.420609444f,
        0.425991267f,    0.431753218f,    0.437217504f,    0.442721963f,   0.448266596f,   0.453851551f,
        0.459476888f,    0.465142667f,    0.470849007f,    0.476595968f,   0.482383639f,   0.488212109f,
        0.494081467f,    0.499991775f,    0.50594312f,     0.511935592f,   0.517969251f,   0.524425209f,
        0.530544102f,    0.536704421f,    0.542906284f,    0.549149752f,   0.555434883f,   0.561761796f,
        0.568130553f,    0.574541211f,    0.580993891f,    0.587488651f,   0.594025552f,   0.600604653f,
        0.607226133f,    0.613889933f,    0.62059623f,     0.627768338f,   0.634562433f,   0.641399264f,
        0.648278892f,    0.655201316f,    0.662166715f,    0.669175088f,   0.676226616f,   0.683321238f,
        0.690459073f,    0.69764024f,     0.7048648f,      0.712132752f,   0.719444335f,   0.726799428f,
        0.734198272f,    0.742107451f,    0.749596536f,    0.75712961f,    0.764706612f,   0.772327662f,
        0.779992819f,    0.787702203f,    0.795455813f,    0.803253829f,   0.811096191f,   0.818983078f,
        0.826914489f,    0.834890544f,    0.842911303f,    0.850976825f,   0.859087169f,   0.867753685f,
        0.875956714f,    0.884204865f,    0.892498136f,    0.900836587f,   0.909220338f,   0.917649388f,
        0.926123857f,    0.934643805f,    0.943209291f,    0.951820374f,   0.960477173f,   0.969179749f,
        0.977928102f,    0.98672241f,     0.995562613f};
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
