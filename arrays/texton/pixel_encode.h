#pragma once
// What a fetch returns or a kernel computes -> the stored pixel of a picture, the same on host and device. For Texton's own
// parts, and for the kernels that launch() makes of a user's functor.
//
// Floats are clamped and rounded to the nearest code; each product and sum is rounded to float32 by itself. What a
// point read returns becomes the code that it was read from, in every format: but for snorm's lowest code, which reads
// as the one above it, and for NaNs of float16, which become quiet.
#include <cstdint>

#include <texton/channel_codes.h>
#include <texton/fetch.h>
#include <texton/host_device.h>
#include <texton/packed_texel.h>

namespace texton::detail {

/// How the channels of a texel lie in memory: side by side, as fields of one word, or in a block of 4x4 texels.
enum class Packing : std::uint8_t { plain, packed, bc1, bc2, bc3, bc4, bc5, bc6h_unsigned, bc6h_signed, bc7 };

struct TexelFormat {
    Encoding encoding;
    Packing packing;
    std::uint8_t channels;
    std::uint8_t bits;             ///< of a channel as stored, packed: of the first; BC: of a decoded channel
    std::uint8_t bytes;            ///< of a texel; BC: of a block
    Packed packed = Packed::none;  ///< which of the packed formats
    bool operator==(const TexelFormat&) const = default;
};

template <class Fields>
TEXTON_HD constexpr TexelFormat packed_texel_format() {
    return {Fields::kEncoding,
            Packing::packed,
            static_cast<std::uint8_t>(channel_count<Fields>()),
            static_cast<std::uint8_t>(Fields::bits(0)),
            static_cast<std::uint8_t>(texel_bytes<Fields>()),
            Fields::kPacked};
}

/// The last of two or four sRGB channels is linear: TextureModelTest on an H200.
TEXTON_HD inline bool is_linear_channel(const TexelFormat& format, int channel) {
    return format.channels > 1 && channel == format.channels - 1;
}

/// How the pixels of a picture are stored, in a plain or packed format, and what is stored in them.
struct PixelFormat {
    TexelFormat stored;
    bool from_signed;  ///< of integers: those that are fetched have a sign
};

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

TEXTON_HD inline std::uint32_t encode_packed(const Texel& texel, Packed packed) {
    return with_packed(packed, [&](auto arithmetic) {
        using Fields = decltype(arithmetic);
        std::uint32_t word = 0;
        for (int c = 0; c < 4; ++c) {
            if (Fields::bits(c) != 0) word |= Fields::encode(texel.channel[c], c) << first_bit<Fields>(c);
        }
        return word;
    });
}

/// The pixel that a texel becomes: of its four channels the picture has the first.
TEXTON_HD inline Pixel encode_pixel(const Texel& texel, const PixelFormat& picture) {
    const TexelFormat& stored = picture.stored;
    if (stored.packing == Packing::packed) return {{encode_packed(texel, stored.packed), 0, 0, 0}};
    std::uint32_t code[4] = {};
    for (int c = 0; c < 4; ++c) {
        if (c < stored.channels) code[c] = encode_channel(texel.channel[c], picture, c);
    }
    if (stored.bits == 32) return {{code[0], code[1], code[2], code[3]}};
    if (stored.bits == 16) return {{(code[0] & 0xffffu) | code[1] << 16, (code[2] & 0xffffu) | code[3] << 16, 0, 0}};
    return {{(code[0] & 0xffu) | (code[1] & 0xffu) << 8 | (code[2] & 0xffu) << 16 | code[3] << 24, 0, 0, 0}};
}

}  // namespace texton::detail
