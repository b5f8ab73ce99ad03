#pragma once
// Stores a pixel and returns its value as a fetch would return it, so that the CUDA kernel can continue with that
// value.
#include <cuda_fp16.h>

#include <texton/cuda_pixels.h>
#include <texton/cuda_store.h>
#include <texton/cuda_stored_texels.h>
#include <texton/pixel.h>

#include "arrays/unit/texel_decode.h"
#include "kernels/cuda/srgb_values.h"

namespace texton::detail {

/// Returns code / largest, correctly rounded, for integers up to 65535.
__device__ inline float fraction_of(float code, float largest) {
    const float near = code * (1.0f / largest);
    return fmaf(fmaf(-near, largest, code), 1.0f / largest, near);
}

/// Returns the value of the code of a channel.
__device__ inline float channel_value(std::uint32_t code, const TexelFormat& format, int channel) {
    switch (format.encoding) {
        case Encoding::uint: return static_cast<float>(code);
        case Encoding::sint: return static_cast<float>(sign_extend(code, format.bits));
        case Encoding::floating: return format.bits == 32 ? float_of(code) : float_of_half(code);
        case Encoding::unorm: return fraction_of(static_cast<float>(code), format.bits == 8 ? 255.0f : 65535.0f);
        case Encoding::snorm: {
            const float largest = format.bits == 8 ? 127.0f : 32767.0f;
            return fraction_of(static_cast<float>(sign_extend(code, format.bits)), largest);
        }
        case Encoding::srgb:
            return is_linear_channel(format, channel) ? fraction_of(static_cast<float>(code), 255.0f)
                                                      : float_of_srgb(code);
    }
    return 0;
}

/// Returns the value of a channel of a packed texel. Alpha is 1 if the format has no alpha.
__device__ inline float packed_value(std::uint32_t word, const TexelFormat& format, int index) {
    const PackedChannel channel = packed_channel(word, format.packed, index);
    if (channel.bits == 0) return index == 3 ? 1.0f : 0.0f;
    const auto largest = [](int bits) { return static_cast<float>((1u << bits) - 1); };
    switch (format.encoding) {
        case Encoding::floating: return float_of_half(static_cast<std::uint32_t>(channel.wide));
        case Encoding::unorm: return fraction_of(static_cast<float>(channel.code), largest(channel.bits));
        case Encoding::snorm:
            return fraction_of(static_cast<float>(sign_extend(channel.code, channel.bits)), largest(channel.bits - 1));
        case Encoding::uint:
        case Encoding::sint:
        case Encoding::srgb: break;
    }
    return static_cast<float>(channel.wide);
}

/// Inverse of encode_pixel(). Channels that the format lacks are 0. No snorm code below -1 is handled, since
/// encode_pixel() never returns one.
__device__ inline Float4 stored_value(const Pixel& pixel, const TexelFormat& format) {
    if (format.packing == Packing::packed) {
        const auto value_of = [&](int c) { return packed_value(pixel.word[0], format, c); };
        return {value_of(0), value_of(1), value_of(2), value_of(3)};
    }
    float value[4] = {};
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        if (c >= format.channels) continue;
        const int word = c * format.bits / 32;
        const std::uint32_t bits = pixel.word[word] >> (c * format.bits % 32);
        value[c] = channel_value(format.bits == 32 ? bits : bits & ((1u << format.bits) - 1), format, c);
    }
    return {value[0], value[1], value[2], value[3]};
}

// How the pixels of a level are encoded and read back. A format class has these functions:
//     Pixel encode(const Float4& value, const PixelFormat& format)
//     Float4 read(const Pixel& pixel, const PixelFormat& format)
//     unsigned bytes(const PixelFormat& format)

/// Not inlined, since the code for all formats is large.
__device__ __noinline__ inline Pixel encode_any(Float4 value, const PixelFormat& format) {
    return encode_pixel(texel_of(value, format.stored), format);
}
__device__ __noinline__ inline Float4 read_any(Pixel pixel, const PixelFormat& format) {
    return stored_value(pixel, format.stored);
}

struct AnyFormat {
    __device__ static Pixel encode(const Float4& value, const PixelFormat& format) { return encode_any(value, format); }
    __device__ static Float4 read(const Pixel& pixel, const PixelFormat& format) { return read_any(pixel, format); }
    __device__ static unsigned bytes(const PixelFormat& format) { return format.stored.bytes; }
};

/// Returns the first `channels` of four values, and 0 for the others.
template <int channels>
__device__ Float4 first_of(float x, float y, float z, float w) {
    return {x, channels > 1 ? y : 0, channels > 2 ? z : 0, channels > 3 ? w : 0};
}

template <int channels>
struct Float32Format {
    __device__ static Pixel encode(const Float4& value, const PixelFormat&) {
        return {{plain_bits_of(value.x), plain_bits_of(value.y), plain_bits_of(value.z), plain_bits_of(value.w)}};
    }
    __device__ static Float4 read(const Pixel& pixel, const PixelFormat&) {
        return first_of<channels>(float_of(pixel.word[0]), float_of(pixel.word[1]), float_of(pixel.word[2]),
                                  float_of(pixel.word[3]));
    }
    __device__ static unsigned bytes(const PixelFormat&) { return 4 * channels; }
};

/// The conversion instruction rounds like half_code_of(): ties to even, one NaN.
template <int channels>
struct Float16Format {
    __device__ static Pixel encode(const Float4& value, const PixelFormat&) {
        return {{pair_of(value.x, value.y), pair_of(value.z, value.w), 0, 0}};
    }
    __device__ static Float4 read(const Pixel& pixel, const PixelFormat&) {
        return first_of<channels>(float_of_half(pixel.word[0] & 0xffff), float_of_half(pixel.word[0] >> 16),
                                  float_of_half(pixel.word[1] & 0xffff), float_of_half(pixel.word[1] >> 16));
    }
    __device__ static unsigned bytes(const PixelFormat&) { return 2 * channels; }

private:
    __device__ static std::uint32_t pair_of(float low, float high) {
        const __half2 pair = __floats2half2_rn(low, high);
        std::uint32_t bits;
        __builtin_memcpy(&bits, &pair, sizeof bits);
        return bits;
    }
};

template <int channels>
struct Unorm8Format {
    __device__ static Pixel encode(const Float4& value, const PixelFormat&) {
        const std::uint32_t low = __byte_perm(bits_of_code(value.x), bits_of_code(value.y), 0x0040);
        const std::uint32_t high = __byte_perm(bits_of_code(value.z), bits_of_code(value.w), 0x0040);
        return {{__byte_perm(low, high, 0x5410), 0, 0, 0}};
    }
    __device__ static Float4 read(const Pixel& pixel, const PixelFormat&) {
        const std::uint32_t codes = pixel.word[0];
        return first_of<channels>(
            value_of(__byte_perm(codes, kWhole, 0x7440)), value_of(__byte_perm(codes, kWhole, 0x7441)),
            value_of(__byte_perm(codes, kWhole, 0x7442)), value_of(__byte_perm(codes, kWhole, 0x7443)));
    }
    __device__ static unsigned bytes(const PixelFormat&) { return channels; }

private:
    /// 2^23: from there on floats are integers, and the lowest bits of the float are the bits of the integer.
    static constexpr std::uint32_t kWhole = 0x4b000000u;

    /// Returns bits whose lowest byte is unorm_code_of().
    __device__ static std::uint32_t bits_of_code(float value) {
        return bits_of(__fadd_rd(__saturatef(value) * 255.0f + 0.5f, 8388608.0f));
    }
    __device__ static float value_of(std::uint32_t bits) { return fraction_of(float_of(bits) - 8388608.0f, 255.0f); }
};

/// Stores a pixel as launch() does, and returns what a point fetch of that pixel returns.
template <class Format>
__device__ Float4 store_and_read(const PixelTarget& target, PixelPosition at, const Float4& value) {
    const Pixel pixel = Format::encode(value, target.format);
    const auto x = static_cast<unsigned>(at.x);
    const auto y = static_cast<unsigned>(at.y);
    const auto z = static_cast<unsigned>(at.z);
    if (target.address != nullptr && target.aligned) {
        const unsigned bytes = Format::bytes(target.format);
        store_aligned(target.address + z * target.slice_pitch + y * target.pitch + std::size_t{x} * bytes, pixel,
                      static_cast<int>(bytes));
    } else {
        store_color_anywhere(target, x, y, z, packed(value));
    }
    return Format::read(pixel, target.format);
}

}  // namespace texton::detail
