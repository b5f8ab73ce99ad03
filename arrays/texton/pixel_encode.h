#pragma once
// Encoding of the result of a fetch or a kernel as the stored pixel of an image. Host and device compute the same bits.
// For internal use and for the kernels that launch() generates from functors.
//
// Floats are clamped and rounded to the nearest code. Each product and each sum is rounded to float32 separately. In
// every format, encoding the result of a point read gives the code that was read, with two exceptions: the lowest code
// of snorm becomes the code above it, because both read as -1, and NaNs of float16 become quiet.
#include <cstdint>

#include <texton/channel_codes.h>
#include <texton/fetch.h>
#include <texton/host_device.h>
#include <texton/packed_texel.h>

namespace texton::detail {

/// Memory layout of the channels of a texel: consecutive, as bit fields of one word, or in a block of 4x4 texels.
enum class Packing : std::uint8_t { plain, packed, bc1, bc2, bc3, bc4, bc5, bc6h_unsigned, bc6h_signed, bc7 };

/// Properties of a format for encoding and decoding.
struct TexelFormat {
    Encoding encoding;             ///< interpretation of the codes
    Packing packing;               ///< memory layout
    std::uint8_t channels;         ///< number of channels
    std::uint8_t bits;             ///< of a stored channel; packed: of the first channel; BC: of a decoded channel
    std::uint8_t bytes;            ///< of a texel; BC: of a block of 4x4 texels
    Packed packed = Packed::none;  ///< the packed format, if any
    bool operator==(const TexelFormat&) const = default;  ///< Returns true if all members are equal.
};

/// Returns the properties of a packed format.
template <class Fields>
TEXTON_HD constexpr TexelFormat packed_texel_format() {
    return {Fields::kEncoding,
            Packing::packed,
            static_cast<std::uint8_t>(channel_count<Fields>()),
            static_cast<std::uint8_t>(Fields::bits(0)),
            static_cast<std::uint8_t>(texel_bytes<Fields>()),
            Fields::kPacked};
}

/// Returns true if the channel of an sRGB format is stored linearly: the last of two or four channels. TextureModelTest
/// compares this with the GPU.
TEXTON_HD inline bool is_linear_channel(const TexelFormat& format, int channel) {
    return format.channels > 1 && channel == format.channels - 1;
}

/// How pixels are stored in an image of a plain or packed format.
struct PixelFormat {
    TexelFormat stored;  ///< format of the image
    bool from_signed;    ///< integers only: the fetched integers are signed
};

/// Returns the integer in the image's range that is nearest to a fetched integer.
TEXTON_HD inline std::uint32_t integer_code_of(std::uint32_t fetched, const PixelFormat& image) {
    const bool has_sign = image.stored.encoding == Encoding::sint;
    const std::int64_t codes = std::int64_t{1} << (image.stored.bits - (has_sign ? 1 : 0));
    const std::int64_t lowest = has_sign ? -codes : 0;
    const std::int64_t value =
        image.from_signed ? std::int64_t{static_cast<std::int32_t>(fetched)} : std::int64_t{fetched};
    return static_cast<std::uint32_t>(value < lowest ? lowest : value < codes ? value : codes - 1);
}

/// Returns the code of a channel in the lowest bits. Signed codes extend their sign to the bits above.
TEXTON_HD inline std::uint32_t encode_channel(std::uint32_t fetched, const PixelFormat& image, int channel) {
    const TexelFormat& stored = image.stored;
    switch (stored.encoding) {
        case Encoding::uint:
        case Encoding::sint: return integer_code_of(fetched, image);
        case Encoding::floating: return stored.bits == 32 ? fetched : half_code_of(float_of(fetched));
        case Encoding::unorm: return unorm_code_of(float_of(fetched), stored.bits == 8 ? 255.0f : 65535.0f);
        case Encoding::snorm: return snorm_code_of(float_of(fetched), stored.bits == 8 ? 127.0f : 32767.0f);
        case Encoding::srgb:
            return is_linear_channel(stored, channel) ? unorm_code_of(float_of(fetched), 255.0f)
                                                      : srgb_code_of(float_of(fetched));
    }
    return 0;
}

/// A stored pixel. Its first byte is the lowest byte of the first word.
struct Pixel {
    std::uint32_t word[4];  ///< bytes beyond the size of the pixel are unused
};

/// Returns the word of a pixel in a packed format.
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

/// Returns the stored pixel of a texel. Channels that the image's format lacks are dropped.
TEXTON_HD inline Pixel encode_pixel(const Texel& texel, const PixelFormat& image) {
    const TexelFormat& stored = image.stored;
    if (stored.packing == Packing::packed) return {{encode_packed(texel, stored.packed), 0, 0, 0}};
    std::uint32_t code[4] = {};
    for (int c = 0; c < 4; ++c) {
        if (c < stored.channels) code[c] = encode_channel(texel.channel[c], image, c);
    }
    if (stored.bits == 32) return {{code[0], code[1], code[2], code[3]}};
    if (stored.bits == 16) return {{(code[0] & 0xffffu) | code[1] << 16, (code[2] & 0xffffu) | code[3] << 16, 0, 0}};
    return {{(code[0] & 0xffu) | (code[1] & 0xffu) << 8 | (code[2] & 0xffu) << 16 | code[3] << 24, 0, 0, 0}};
}

}  // namespace texton::detail
