// bc_decode.h: decodes one texel of a BC1 to BC7 block, as the hardware does.
//
// BC6H and BC7 follow their specification (bc_partitioned.h). The specification of BC1 to BC5 leaves the rounding of
// interpolated values to the hardware. The rounding below was determined from the recordings that each comment names.
// BC1, BC2, BC3 and BC7 decode to 8 bits per channel, which are widened to 16. BC4 and BC5 decode to 16 bits, and BC6H
// decodes to float16.
#pragma once
#include <cstdint>

#include "arrays/unit/bc_block.h"
#include "arrays/unit/bc_partitioned.h"
#include "arrays/unit/texture_view.h"

namespace texton::detail {

// --- BC1, BC2, BC3 color ---------------------------------------------------------------------------------------------

/// Returns the value a third of the way between two 5-bit endpoints, in 8 bits. Recording: rand_bc1_f0.
TEXTON_HD inline int third_of_5_bits(int from, int to) { return ((2 * from + to) * 22) >> 3; }
/// Returns the value halfway between two 5-bit endpoints, in 8 bits. Recording: rand_bc1_f0.
TEXTON_HD inline int half_of_5_bits(int from, int to) { return ((from + to) * 33) >> 3; }
/// Returns the value a third of the way between two green endpoints, in 8 bits. The 6-bit endpoints must have been
/// widened to 8 bits. Recording: rand_bc1_f0.
TEXTON_HD inline int third_of_8_bits(int from, int to) { return (1024 * from + 321 * (to - from) + 512) >> 10; }
/// Returns the value halfway between two green endpoints, in the same way.
TEXTON_HD inline int half_of_8_bits(int from, int to) { return (1024 * from + 513 * (to - from) + 512) >> 10; }

TEXTON_HD inline int widen_5_bits(int value) { return value << 3 | value >> 2; }
TEXTON_HD inline int widen_6_bits(int value) { return value << 2 | value >> 4; }

/// Returns red, green, blue and alpha in 8 bits. The color block starts at bit `base`. Only BC1 has blocks of three
/// colors, whose fourth code is transparent black.
TEXTON_HD inline BlockTexel decode_bc1_color(const BlockBits& bits, int base, int texel, bool three_color_allowed) {
    const int end0 = static_cast<int>(bits.at(base, 16));
    const int end1 = static_cast<int>(bits.at(base + 16, 16));
    const int code = static_cast<int>(bits.at(base + 32 + 2 * texel, 2));
    const bool four_colors = !three_color_allowed || end0 > end1;
    if (code == 3 && !four_colors) return {{0, 0, 0, 0}};
    const bool swap = code == 1 || (code == 3);
    const int near = swap ? end1 : end0;
    const int far = swap ? end0 : end1;
    const int red = near >> 11, green = widen_6_bits(near >> 5 & 63), blue = near & 31;
    if (code < 2) return {{widen_5_bits(red), green, widen_5_bits(blue), 255}};
    const int far_red = far >> 11, far_green = widen_6_bits(far >> 5 & 63), far_blue = far & 31;
    if (four_colors)
        return {
            {third_of_5_bits(red, far_red), third_of_8_bits(green, far_green), third_of_5_bits(blue, far_blue), 255}};
    return {{half_of_5_bits(red, far_red), half_of_8_bits(green, far_green), half_of_5_bits(blue, far_blue), 255}};
}

// --- BC3 alpha, BC4, BC5 ---------------------------------------------------------------------------------------------

/// Returns the alpha of a BC3 texel in 8 bits. The step between interpolated values is 289/2048 of the range if there
/// are six such values, and 385/2048 if there are four. Recording: rand_bc3_f0.
TEXTON_HD inline int decode_bc3_alpha(const BlockBits& bits, int texel) {
    const int end0 = static_cast<int>(bits.at(0, 8));
    const int end1 = static_cast<int>(bits.at(8, 8));
    const int code = static_cast<int>(bits.at(16 + 3 * texel, 3));
    if (code < 2) return code ? end1 : end0;
    if (end0 <= end1 && code > 5) return code == 7 ? 255 : 0;
    // The steps are counted from the endpoint whose distance is a power of two: 1, 2 or 4 of 7 steps; 1 or 2 of 5.
    const bool eight = end0 > end1;
    const bool from_end0 = code == 2 || code == 3 || (eight && code == 5);
    const int steps = from_end0 ? code - 1 : (eight ? 8 : 6) - code;
    const int from = from_end0 ? end0 : end1;
    const int to = from_end0 ? end1 : end0;
    return (2048 * from + (eight ? 289 : 385) * steps * (to - from) + 1024) >> 11;
}

/// Returns one channel of a BC4 or BC5 texel in 16 bits. The endpoints have weights in 1/64. The low bits are filled
/// from the endpoint with the larger weight. Only the two middle values of an eight-value block (codes 4 and 5) take
/// them from the endpoint with the smaller weight. Recordings: rand_bc4u_f0, rand_bc4s_f0.
TEXTON_HD inline std::int32_t decode_bc4_channel(const BlockBits& bits, int base, int texel, bool is_signed) {
    static constexpr std::uint8_t kWeightOf8[8] = {0, 64, 9, 18, 28, 36, 46, 55};
    static constexpr std::uint8_t kWeightOf6[6] = {0, 64, 12, 24, 40, 52};
    constexpr std::uint8_t kEnd1FillsOf8 = 0b11010010;  // one bit per code
    constexpr std::uint8_t kEnd1FillsOf6 = 0b110010;
    int end0 = static_cast<int>(bits.at(base, 8));
    int end1 = static_cast<int>(bits.at(base + 8, 8));
    if (is_signed) {  // -128 counts as -127, also in the comparison of the endpoints (recording bc4_signed_ends)
        end0 = static_cast<std::int8_t>(end0) == -128 ? -127 : static_cast<std::int8_t>(end0);
        end1 = static_cast<std::int8_t>(end1) == -128 ? -127 : static_cast<std::int8_t>(end1);
    }
    const int code = static_cast<int>(bits.at(base + 16 + 3 * texel, 3));
    const bool eight = end0 > end1;
    if (!eight && code > 5) {
        if (is_signed) return code == 7 ? 32767 : -32767;
        return code == 7 ? 65535 : 0;
    }
    const int weight = eight ? kWeightOf8[code] : kWeightOf6[code];
    const int fill = (eight ? kEnd1FillsOf8 : kEnd1FillsOf6) >> code & 1 ? end1 : end0;
    const int blend = 4 * (end0 * (64 - weight) + end1 * weight);
    if (!is_signed) return blend + fill;
    return blend + 2 * fill + (fill < 0 ? -(-fill >> 6) : fill >> 6);
}

// --- all formats -----------------------------------------------------------------------------------------------------

/// Returns the texel (x, y) of the block. x and y are 0 to 3.
TEXTON_HD inline BlockTexel decode_block_texel(const unsigned char* block, int x, int y, const TexelFormat& format) {
    const BlockBits bits(block, format.bytes);
    const int texel = 4 * y + x;
    const bool is_signed = format.encoding == Encoding::snorm;
    BlockTexel result{{0, 0, 0, 255}};
    switch (format.packing) {
        case Packing::plain:
        case Packing::packed: break;
        case Packing::bc1: result = decode_bc1_color(bits, 0, texel, true); break;
        case Packing::bc2:
            result = decode_bc1_color(bits, 64, texel, false);
            result.channel[3] = static_cast<std::int32_t>(bits.at(4 * texel, 4)) * 17;
            break;
        case Packing::bc3:
            result = decode_bc1_color(bits, 64, texel, false);
            result.channel[3] = decode_bc3_alpha(bits, texel);
            break;
        case Packing::bc4: return {{decode_bc4_channel(bits, 0, texel, is_signed), 0, 0, is_signed ? 32767 : 65535}};
        case Packing::bc5:
            return {{decode_bc4_channel(bits, 0, texel, is_signed), decode_bc4_channel(bits, 64, texel, is_signed), 0,
                     is_signed ? 32767 : 65535}};
        case Packing::bc6h_unsigned: return decode_bc6h(bits, texel, false);
        case Packing::bc6h_signed: return decode_bc6h(bits, texel, true);
        case Packing::bc7: result = decode_bc7(bits, texel); break;
    }
    for (std::int32_t& channel : result.channel) channel *= 257;
    return result;
}

}  // namespace texton::detail
