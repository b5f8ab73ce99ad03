#pragma once
// The position of a pixel, and the conversion of a functor's result to the format of the destination image.
#include <cstdint>

#include <texton/float4.h>
#include <texton/pixel_encode.h>

namespace texton {

/// The position of a pixel in the destination image, relative to the upper left corner of its view.
struct PixelPosition {
    std::int32_t x = 0;  ///< column
    std::int32_t y = 0;  ///< row
    std::int32_t z = 0;  ///< slice, layer or face

    TEXTON_HD float center_x() const { return static_cast<float>(x) + 0.5f; }  ///< Returns x of the pixel's center.
    TEXTON_HD float center_y() const { return static_cast<float>(y) + 0.5f; }  ///< Returns y of the pixel's center.
    TEXTON_HD float center_z() const { return static_cast<float>(z) + 0.5f; }  ///< Returns z of the pixel's center.
};

/// The position of the first of several adjacent pixels of a row that a functor computes together. Its column is a
/// multiple of the length of the run.
struct RunPosition : PixelPosition {
    std::int32_t count = 1;  ///< number of the pixels that the image has: fewer than the run has at the end of a row
};

/// The results of a functor for adjacent pixels of a row, whose number is a power of two.
template <int pixels>
struct PixelRun {
    static_assert(pixels >= 1 && pixels <= 64 && (pixels & (pixels - 1)) == 0, "a run has 1, 2, 4, ... or 64 pixels");
    Float4 of[pixels];  ///< the colors, from left to right

    TEXTON_HD Float4& operator[](int pixel) { return of[pixel]; }              ///< Returns a color.
    TEXTON_HD const Float4& operator[](int pixel) const { return of[pixel]; }  ///< Returns a color.
};

namespace detail {

/// The extent of the pixels that a block of threads of a CUDA device computes.
struct BlockTile {
    unsigned width;
    unsigned height;
    unsigned slices;
};

/// Returns the integer nearest to a float as a 32-bit word. Halves are rounded away from zero. Values beyond the range
/// are clamped. NaN becomes 0.
TEXTON_HD inline std::uint32_t nearest_word(float value, bool is_signed) {
    const float low = is_signed ? -2147483648.0f : 0.0f;
    const float high = is_signed ? 2147483648.0f : 4294967296.0f;
    if (!(value == value)) return 0;
    if (value <= low) return is_signed ? 0x80000000u : 0;
    if (value >= high) return is_signed ? 0x7fffffffu : 0xffffffffu;
    const auto whole = static_cast<std::int64_t>(value);  // toward zero
    const float rest = value - static_cast<float>(whole);
    const std::int64_t step = rest >= 0.5f ? 1 : rest <= -0.5f ? -1 : 0;
    return static_cast<std::uint32_t>(whole + step);
}

/// Converts the result of a functor to the argument of encode_pixel(), for formats that do not store integers. Float
/// formats keep NaN, as one canonical NaN; all other formats store 0 for NaN.
TEXTON_HD inline Texel texel_of_floats(const Float4& color, const TexelFormat& format) {
    if (format.encoding == Encoding::floating)
        return {{plain_bits_of(color.x), plain_bits_of(color.y), plain_bits_of(color.z), plain_bits_of(color.w)}};
    return {{bits_of(color.x), bits_of(color.y), bits_of(color.z), bits_of(color.w)}};
}

/// Converts the result of a functor to the argument of encode_pixel(), for all formats.
TEXTON_HD inline Texel texel_of(const Float4& color, const TexelFormat& format) {
    if (format.encoding != Encoding::uint && format.encoding != Encoding::sint) return texel_of_floats(color, format);
    const bool is_signed = format.encoding == Encoding::sint;
    return {{nearest_word(color.x, is_signed), nearest_word(color.y, is_signed), nearest_word(color.z, is_signed),
             nearest_word(color.w, is_signed)}};
}

}  // namespace detail
}  // namespace texton
