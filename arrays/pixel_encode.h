// pixel_encode.h: what a fetch returns -> the stored pixel of a picture, the same on host and device.
//
// Floats are clamped and rounded to the nearest code; each product and sum is rounded to float32 by itself. What a
// point read returns becomes the code that it was read from, in every format: but for snorm's lowest code, which reads
// as the one above it, and for NaNs of float16, which become quiet.
#pragma once
#include "arrays/float_bits.h"
#include "arrays/texel_decode.h"

namespace texton::detail {

/// How the pixels of a picture are stored, in a plain or packed format, and what is stored in them.
struct PixelFormat {
    TexelFormat stored;
    bool from_signed;  ///< of integers: those that are fetched have a sign
};

/// 0 to 1 in steps of 1 / largest; what lies outside is clamped, NaN is 0.
TEXTON_HD inline std::uint32_t unorm_code_of(float value, float largest) {
    const float clamped = value > 0 ? (value < 1 ? value : 1) : 0;
    return static_cast<std::uint32_t>(clamped * largest + 0.5f);
}

/// -1 to 1 in the same way, halves away from zero.
TEXTON_HD inline std::uint32_t snorm_code_of(float value, float largest) {
    const std::uint32_t magnitude = unorm_code_of(value < 0 ? -value : value, largest);
    return value < 0 ? 0 - magnitude : magnitude;
}

/// The nearest float16, halves to even; too large is infinite, and NaN keeps its upper bits and becomes quiet.
TEXTON_HD inline std::uint32_t half_code_of(float value) {
    const std::uint32_t bits = bits_of(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u | (magnitude >> 13 & 0x3ffu);
    if (magnitude >= 0x477ff000u) return sign | 0x7c00u;  // half a step above the largest, and more
    if (magnitude >= 0x38800000u) return sign | (((magnitude + 0xfffu + (magnitude >> 13 & 1)) >> 13) - (112u << 10));
    // Float32's steps above 1/2 are those of denormal float16.
    return sign | (bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f));
}

/// The integer of the picture's range that is nearest to a fetched one.
TEXTON_HD inline std::uint32_t integer_code_of(std::uint32_t fetched, const PixelFormat& picture) {
    const bool has_sign = picture.stored.encoding == Encoding::sint;
    const std::int64_t codes = std::int64_t{1} << (picture.stored.bits - (has_sign ? 1 : 0));
    const std::int64_t lowest = has_sign ? -codes : 0;
    const std::int64_t value =
        picture.from_signed ? std::int64_t{static_cast<std::int32_t>(fetched)} : std::int64_t{fetched};
    return static_cast<std::uint32_t>(value < lowest ? lowest : value < codes ? value : codes - 1);
}

/// The code of a channel, in as many of the lowest bits as the picture's channels have.
TEXTON_HD inline std::uint32_t encode_channel(std::uint32_t fetched, const PixelFormat& picture, int channel) {
    const TexelFormat& stored = picture.stored;
    switch (stored.encoding) {
        case Encoding::uint:
        case Encoding::sint: return integer_code_of(fetched, picture);
        case Encoding::floating: return stored.bits == 32 ? fetched : half_code_of(float_of(fetched));
        case Encoding::unorm: return unorm_code_of(float_of(fetched), stored.bits == 8 ? 255.0f : 65535.0f);
        case Encoding::snorm: return snorm_code_of(float_of(fetched), stored.bits == 8 ? 127.0f : 32767.0f);
        case Encoding::srgb:
            return is_linear_channel(stored, channel) ? unorm_code_of(float_of(fetched), 255.0f)
                                                      : srgb_code_of(float_of(fetched));
    }
    return 0;
}

/// A stored pixel: the first of its bytes are the lowest of the first word.
struct Pixel {
    std::uint32_t word[4];
};

/// The pixel that a texel becomes: of its four channels the picture has the first.
TEXTON_HD inline Pixel encode_pixel(const Texel& texel, const PixelFormat& picture) {
    const TexelFormat& stored = picture.stored;
    if (stored.packing == Packing::rgb10a2) {
        std::uint32_t word = unorm_code_of(float_of(texel.channel[3]), 3.0f) << 30;
        for (int c = 0; c < 3; ++c) word |= unorm_code_of(float_of(texel.channel[c]), 1023.0f) << (10 * c);
        return {{word, 0, 0, 0}};
    }
    std::uint32_t code[4] = {};
    for (int c = 0; c < 4; ++c) {
        if (c < stored.channels) code[c] = encode_channel(texel.channel[c], picture, c);
    }
    if (stored.bits == 32) return {{code[0], code[1], code[2], code[3]}};
    if (stored.bits == 16) return {{(code[0] & 0xffffu) | code[1] << 16, (code[2] & 0xffffu) | code[3] << 16, 0, 0}};
    return {{(code[0] & 0xffu) | (code[1] & 0xffu) << 8 | (code[2] & 0xffu) << 16 | code[3] << 24, 0, 0, 0}};
}

}  // namespace texton::detail
