#pragma once
// Vectorized conversion of rows: from stored texels to the floats of a point read, and from floats to stored pixels.
// Only the most frequent formats are supported.
#include <cstddef>

#include <texton/pixel_encode.h>

namespace texton::detail {

/// Converts stored texels to four floats each. Channels that the format lacks are 0.
using RowDecode = void (*)(const unsigned char* stored, std::size_t count, float* texels);
/// Converts pixels of four floats to stored pixels, as encode_pixel() does. All NaNs are stored as the same NaN.
using RowEncode = void (*)(const float* pixels, std::size_t count, unsigned char* stored);

/// Returns whether the channels of texels or pixels are 32-bit floats in memory.
[[nodiscard]] inline bool has_floats(const TexelFormat& format) {
    return format.packing == Packing::plain && format.encoding == Encoding::floating && format.bits == 32;
}

/// Returns whether a texel or pixel of the format is four floats in memory.
[[nodiscard]] inline bool is_four_floats(const TexelFormat& format) {
    return has_floats(format) && format.channels == 4;
}

/// Returns whether texels and pixels are the same unorm codes of `bits` bits.
[[nodiscard]] inline bool are_alike_codes(const TexelFormat& texture, const TexelFormat& image, int bits) {
    const auto are_codes = [bits](const TexelFormat& format) {
        return format.packing == Packing::plain && format.encoding == Encoding::unorm && format.bits == bits;
    };
    return are_codes(texture) && are_codes(image) && texture.channels == image.channels;
}

/// The places of channels in a row of floats: channel c of texel i is values[c * apart + i * step].
struct ChannelLayout {
    std::size_t apart;
    std::size_t step;
};

/// Does the same as RowDecode with separate channels: a row of red values, a row of green values and so on, which start
/// `apart` floats after one another. Channels that the format lacks are not written.
using PlaneDecode = void (*)(const unsigned char* stored, std::size_t count, float* channels, std::size_t apart);
/// Does the same as RowEncode with separate channels. Channels that the format lacks are not read.
using PlaneEncode = void (*)(const float* channels, std::size_t apart, std::size_t count, unsigned char* stored);

/// Returns the function for a plain format, or null if the format is neither sRGB, nor unorm of 8 or 16 bits, nor float.
/// It is also null for float16 if the CPU cannot convert it.
[[nodiscard]] RowDecode row_decoder(const TexelFormat& format);
/// See row_decoder().
[[nodiscard]] RowEncode row_encoder(const TexelFormat& format);
[[nodiscard]] PlaneDecode plane_decoder(const TexelFormat& format);
[[nodiscard]] PlaneEncode plane_encoder(const TexelFormat& format);

/// Returns the function for interleaved channels, which takes each channel as a texel of a single channel. Also returns
/// null if channels are stored in different ways.
[[nodiscard]] PlaneDecode value_decoder(const TexelFormat& format);
/// See value_decoder().
[[nodiscard]] PlaneEncode value_encoder(const TexelFormat& format);

/// Stores values as PlaneEncode does for a single channel of 32-bit floats. `past_caches` requests streaming stores,
/// after which the caller must call hwy::FlushStream().
void store_floats(const float* values, std::size_t count, float* stored, bool past_caches);

}  // namespace texton::detail
