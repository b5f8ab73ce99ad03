#pragma once
// Rows of texels as a point read returns them, and of pixels as a picture stores them, on vectors: for the formats that
// most pictures have.
#include <cstddef>

#include <texton/pixel_encode.h>

namespace texton::detail {

/// Stored texels -> four floats of each; channels that the format lacks are 0.
using RowDecode = void (*)(const unsigned char* stored, std::size_t count, float* texels);
/// Four floats of each pixel -> stored pixels, as encode_pixel() has them; NaN is one for all.
using RowEncode = void (*)(const float* pixels, std::size_t count, unsigned char* stored);

/// A texel, or a pixel, is four floats as they are.
[[nodiscard]] inline bool is_four_floats(const TexelFormat& format) {
    return format.packing == Packing::plain && format.encoding == Encoding::floating && format.bits == 32 &&
           format.channels == 4;
}

/// Texels and pixels are the same codes of 8 bits, which read as 0 to 1.
[[nodiscard]] inline bool are_alike_codes_of_8_bits(const TexelFormat& texture, const TexelFormat& picture) {
    const auto are_codes = [](const TexelFormat& format) {
        return format.packing == Packing::plain && format.encoding == Encoding::unorm && format.bits == 8;
    };
    return are_codes(texture) && are_codes(picture) && texture.channels == picture.channels;
}

/// The same with each channel by itself: rows of red, of green and so on, which begin `apart` floats after one another.
using PlaneDecode = void (*)(const unsigned char* stored, std::size_t count, float* channels, std::size_t apart);
using PlaneEncode = void (*)(const float* channels, std::size_t apart, std::size_t count, unsigned char* stored);

/// Null for other formats than unorm of 8 or 16 bits and float of 32.
[[nodiscard]] RowDecode row_decoder(const TexelFormat& format);
[[nodiscard]] RowEncode row_encoder(const TexelFormat& format);
[[nodiscard]] PlaneDecode plane_decoder(const TexelFormat& format);
[[nodiscard]] PlaneEncode plane_encoder(const TexelFormat& format);

}  // namespace texton::detail
