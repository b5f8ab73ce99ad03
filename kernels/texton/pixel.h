#pragma once
// What a functor is asked for, and what becomes of what it returns.
#include <cstdint>

#include <texton/float4.h>
#include <texton/pixel_encode.h>

namespace texton {

/// A pixel of the picture, counted from its view's corner.
struct PixelPlace {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::int32_t z = 0;  ///< the slice, layer or face

    TEXTON_HD float middle_x() const { return static_cast<float>(x) + 0.5f; }
    TEXTON_HD float middle_y() const { return static_cast<float>(y) + 0.5f; }
    TEXTON_HD float middle_z() const { return static_cast<float>(z) + 0.5f; }
};

namespace detail {

/// The pixels that a block of threads of a CUDA device makes.
struct BlockTile {
    unsigned width;
    unsigned height;
    unsigned slices;
};

/// The whole number nearest to a float, halves away from zero, as a word of 32 bits; NaN is 0.
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

/// What encode_pixel() takes, of what a functor returned. NaN is 0 in every format but those of floats.
TEXTON_HD inline Texel texel_of(const Float4& color, const TexelFormat& format) {
    if (format.encoding == Encoding::floating)
        return {{plain_bits_of(color.x), plain_bits_of(color.y), plain_bits_of(color.z), plain_bits_of(color.w)}};
    if (format.encoding != Encoding::uint && format.encoding != Encoding::sint)
        return {{bits_of(color.x), bits_of(color.y), bits_of(color.z), bits_of(color.w)}};
    const bool is_signed = format.encoding == Encoding::sint;
    return {{nearest_word(color.x, is_signed), nearest_word(color.y, is_signed), nearest_word(color.z, is_signed),
             nearest_word(color.w, is_signed)}};
}

}  // namespace detail
}  // namespace texton
