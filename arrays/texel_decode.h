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
    bool negative = false;  ///< of floating ones, zeros too
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

/// Denormal float32 counts as zero: special_gather_f32.
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

// sRGB decodes to 8 bits of mantissa under an exponent that 8 neighbouring codes share: the exponent of the largest
// of them, at least 2^-7. The mantissa is the nearest to the curve of IEC 61966-2-1: sweep_srgb_point. The filter
// sees that exponent, not the one of the value: rand_srgb_linear_u8x4.
inline constexpr int kSrgbFractionBits = 7;

TEXTON_HD inline Lane lane_of_srgb(std::uint32_t code) {
    static constexpr std::uint8_t kMantissa[256] = {
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
    static constexpr std::int8_t kExponent[32] = {-7, -7, -7, -7, -6, -6, -5, -5, -4, -4, -4, -4, -3, -3, -3, -3,
                                                  -3, -2, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1, -1, -1, -1, 0};
    return {kMantissa[code], kExponent[code >> 3]};
}

/// The code of a linear value: the nearest on a curve whose exponent is 0.41666. Its steps were bisected on an H200:
/// border_srgb_step0, border_srgb_step1.
TEXTON_HD inline std::uint32_t srgb_code_of(float linear) {
    static constexpr float kSteps[255] = {
        0.00015176351f, 0.0004552905f, 0.00075881754f, 0.0010623444f, 0.0013658716f, 0.0016693984f, 0.0019729256f,
        0.0022764525f,  0.0025799798f, 0.0028835065f,  0.0031880087f, 0.003508943f,  0.0038479741f, 0.0042053815f,
        0.0045814393f,  0.004976417f,  0.005390576f,   0.005824173f,  0.0062774634f, 0.006750689f,  0.007244101f,
        0.0077579287f,  0.008292416f,  0.008847784f,   0.009424273f,  0.01002209f,   0.010641468f,  0.0112826135f,
        0.011945751f,   0.012631077f,  0.013338814f,   0.014069156f,  0.01482231f,   0.01559847f,   0.016397838f,
        0.017220603f,   0.01806696f,   0.018937098f,   0.019831207f,  0.020749466f,  0.02169206f,   0.022659173f,
        0.02365098f,    0.02466766f,   0.025709389f,   0.026776342f,  0.027868683f,  0.028986586f,  0.030130222f,
        0.031299755f,   0.032495353f,  0.03371717f,    0.034965377f,  0.03624013f,   0.03754159f,   0.038869914f,
        0.040225267f,   0.04160779f,   0.043017637f,   0.044454966f,  0.045919925f,  0.047412667f,  0.04893334f,
        0.050482087f,   0.05205907f,   0.053664397f,   0.055298265f,  0.056960758f,  0.05865208f,   0.060372323f,
        0.06212166f,    0.06390019f,   0.06570809f,    0.06754546f,   0.069412485f,  0.071309246f,  0.07323593f,
        0.07519261f,    0.077179484f,  0.079196624f,   0.081244215f,  0.083322324f,  0.08543115f,   0.08757077f,
        0.08974135f,    0.09194295f,   0.094175786f,   0.09643989f,   0.098735474f,  0.10106259f,   0.10342142f,
        0.10581202f,    0.10823459f,   0.11068917f,    0.11317596f,   0.11569499f,   0.11824648f,   0.12083047f,
        0.12344712f,    0.1260965f,    0.12877879f,    0.13149403f,   0.13424242f,   0.13702397f,   0.13983892f,
        0.14268726f,    0.14556922f,   0.1484848f,     0.15143421f,   0.15441746f,   0.15743478f,   0.16048618f,
        0.16357182f,    0.16669172f,   0.16984618f,    0.17303507f,   0.17625873f,   0.17951708f,   0.18281034f,
        0.18613853f,    0.18950185f,   0.19290029f,    0.19633411f,   0.1998032f,    0.20330793f,   0.20684813f,
        0.21042415f,    0.21403585f,   0.2176836f,     0.22136723f,   0.22508708f,   0.22884308f,   0.23263544f,
        0.2364641f,     0.2403294f,    0.24423116f,    0.24816978f,   0.25214505f,   0.25615737f,   0.26020655f,
        0.26429296f,    0.26841643f,   0.27257732f,    0.27677545f,   0.2810112f,    0.28528437f,   0.28959537f,
        0.293944f,      0.2983306f,    0.30275503f,    0.30721763f,   0.31171823f,   0.3162572f,    0.32083437f,
        0.32545006f,    0.33010414f,   0.33479697f,    0.3395283f,    0.34429857f,   0.34910765f,   0.35395575f,
        0.35884276f,    0.36376902f,   0.3687344f,     0.3737392f,    0.3787833f,    0.38386703f,   0.38899016f,
        0.39415315f,    0.3993557f,    0.40459827f,    0.40988058f,   0.4152031f,    0.42056555f,   0.42596835f,
        0.43141124f,    0.43689466f,   0.44241837f,    0.44798276f,   0.4535876f,    0.45923328f,   0.4649196f,
        0.47064695f,    0.47641504f,   0.48222438f,    0.48807463f,   0.49396625f,   0.4998991f,    0.5058734f,
        0.5118889f,     0.5179461f,    0.5240448f,     0.53018534f,   0.5363674f,    0.5425916f,    0.54885745f,
        0.5551656f,     0.56151557f,   0.56790787f,    0.5743423f,    0.58081925f,   0.5873383f,    0.5939002f,
        0.60050434f,    0.6071514f,    0.61384094f,    0.6205735f,    0.6273487f,    0.63416713f,   0.64102834f,
        0.6479329f,     0.6548804f,    0.6618714f,     0.6689055f,    0.67598325f,   0.6831044f,    0.6902692f,
        0.6974774f,     0.7047296f,    0.71202534f,    0.71936524f,   0.72674876f,   0.73417664f,   0.7416483f,
        0.7491644f,     0.7567245f,    0.76432914f,    0.77197796f,   0.7796715f,    0.7874093f,    0.795192f,
        0.8030191f,     0.8108912f,    0.81880796f,    0.8267698f,    0.8347764f,    0.8428283f,    0.8509251f,
        0.85906726f,    0.8672545f,    0.8754873f,     0.8837654f,    0.8920891f,    0.90045816f,   0.908873f,
        0.91733336f,    0.9258397f,    0.9343916f,     0.9429897f,    0.9516335f,    0.96032363f,   0.9690596f,
        0.977842f,      0.9866704f,    0.9955453f};
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
[[gnu::noinline]] TEXTON_HD inline Lanes decode_block(const unsigned char* block, int x, int y,
                                                      const TexelFormat& format) {
    const BlockTexel texel = decode_block_texel(block, x, y, format);
    Lanes lanes{};
    for (int c = 0; c < 4; ++c) {
        if (format.encoding == Encoding::floating) {
            lanes.channel[c] = lane_of_half(static_cast<std::uint32_t>(texel.channel[c]));
            lanes.channel[c].negative &= lanes.channel[c].mantissa != 0;  // zeros have no sign: bc6h_zero
        } else if (format.encoding == Encoding::srgb && c < 3)
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
