#pragma once
// Functions with which a thread of a CUDA kernel stores pixels, for code that nvcc compiles.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <texton/pixel_target.h>

namespace texton::detail {

/// Writes a stored pixel of type T to the surface of the target. (x, y, z) is relative to the box of the target.
template <class T>
__device__ void write_surface(const PixelTarget& target, T pixel, unsigned x, unsigned y, unsigned z) {
    const auto surface = static_cast<cudaSurfaceObject_t>(target.surface);
    const int at = (target.offset[0] + static_cast<int>(x)) * static_cast<int>(sizeof(T));
    const int row = target.offset[1] + static_cast<int>(y);
    const int slice = target.offset[2] + static_cast<int>(z);
    switch (target.kind) {
        case ArrayKind::array_1d: return surf1Dwrite(pixel, surface, at);
        case ArrayKind::array_2d: return surf2Dwrite(pixel, surface, at, row);
        case ArrayKind::array_3d: return surf3Dwrite(pixel, surface, at, row, slice);
        case ArrayKind::layered_1d: return surf1DLayeredwrite(pixel, surface, at, slice);
        case ArrayKind::layered_2d: return surf2DLayeredwrite(pixel, surface, at, row, slice);
        case ArrayKind::cubemap: return surfCubemapwrite(pixel, surface, at, row, slice);
        case ArrayKind::cubemap_layered: return surfCubemapLayeredwrite(pixel, surface, at, row, slice);
    }
}

/// Stores the first `bytes` bytes of a pixel at an address that is a multiple of `bytes`.
__device__ inline void store_aligned(std::byte* to, const Pixel& pixel, int bytes) {
    switch (bytes) {
        case 1: *reinterpret_cast<std::uint8_t*>(to) = static_cast<std::uint8_t>(pixel.word[0]); break;
        case 2: *reinterpret_cast<std::uint16_t*>(to) = static_cast<std::uint16_t>(pixel.word[0]); break;
        case 4: *reinterpret_cast<std::uint32_t*>(to) = pixel.word[0]; break;
        case 8: *reinterpret_cast<uint2*>(to) = make_uint2(pixel.word[0], pixel.word[1]); break;
        case 16:
            *reinterpret_cast<uint4*>(to) = make_uint4(pixel.word[0], pixel.word[1], pixel.word[2], pixel.word[3]);
            break;
    }
}

/// Returns the code of unorm_code_of() for 16 bits in the lowest 16 bits; the upper bits are undefined. The addition of
/// 2^23, rounded toward zero, leaves the integer part in the lowest bits. It costs a quarter of a conversion.
__device__ inline std::uint32_t unorm16_bits_of(std::uint32_t fetched) {
    return bits_of(__fadd_rz(__saturatef(float_of(fetched)) * 65535.0f + 0.5f, 8388608.0f));
}

/// Returns floor(code + 0.5) in bits 8 to 15, for codes from 0 to 255. The other bits are undefined.
__device__ inline std::uint32_t code_bits_of(float code) { return bits_of(__fadd_rd(code, 32768.5f)); }

/// Returns the code of unorm_code_of() for 8 bits in bits 8 to 15. unorm_code_of() rounds the sum of the product and
/// 0.5 to float32, so a product of 0.5 - 2^-25 becomes 1. The constant added here has the same effect and changes the
/// code of no other float.
__device__ inline std::uint32_t unorm8_bits_of(float value) {
    return code_bits_of(fmaf(__saturatef(value), 255.0f, 0x1p-26f));
}

/// Returns the float16 codes of two floats. A NaN becomes 0x7fff.
__device__ inline std::uint32_t half_pair_of_floats(float low, float high) {
    const __half2 codes = __floats2half2_rn(low, high);
    std::uint32_t word;
    __builtin_memcpy(&word, &codes, sizeof word);
    return word;
}

/// Returns the code of half_code_of(). The hardware conversion gives the same code, except that it returns 0x7fff for
/// each NaN, which is the code of kNanBits.
__device__ inline std::uint32_t fast_half_code_of(std::uint32_t value) {
    const float number = float_of(value);
    if (number == number) return half_pair_of_floats(number, 0);
    return (value >> 16 & 0x8000u) | 0x7e00u | (value >> 13 & 0x3ffu);
}

/// Returns the codes of half_code_of() for two values.
__device__ inline std::uint32_t half_pair_of(std::uint32_t low, std::uint32_t high) {
    const float first = float_of(low), second = float_of(high);
    if (!(first == first) || !(second == second)) return fast_half_code_of(low) | fast_half_code_of(high) << 16;
    return half_pair_of_floats(first, second);
}

/// Maximum error of near_srgb_code_of(), including the distance of the steps of srgb_code_of() from its curve.
inline constexpr float kSrgbError = 0x1p-12f;
/// Returns 255 times the sRGB encoding of a value from 0 to 1, plus 0.5.
__device__ inline float near_srgb_code_of(float linear) {
    float power;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(linear));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(power * 0.41666f));
    return linear <= 0.0031308f ? ::fmaf(linear, 255 * 12.92f, 0.5f) : ::fmaf(power, 255 * 1.055f, 0.5f - 255 * 0.055f);
}

__device__ __noinline__ inline std::uint32_t search_srgb_code(float linear) { return srgb_code_of(linear); }

/// Returns the code of srgb_code_of(). Only values close to a step of the curve are searched in its table.
__device__ inline std::uint32_t fast_srgb_code_of(float linear) {
    const float value = __saturatef(linear);
    const float near = near_srgb_code_of(value);
    const std::uint32_t low = bits_of(__fadd_rd(near - kSrgbError, 8388608.0f));
    const std::uint32_t high = bits_of(__fadd_rd(near + kSrgbError, 8388608.0f));
    return low == high ? low & 0xffu : search_srgb_code(value);
}

/// Returns the first word of encode_pixel() for an sRGB format with this number of channels. If the codes of several
/// pixels were computed at once, more registers would make other formats slower.
template <int channels>
__device__ std::uint32_t encode_srgb_pixel(const uint4& texel) {
    const auto color = [](std::uint32_t fetched) { return fast_srgb_code_of(float_of(fetched)); };
    const auto linear = [](std::uint32_t fetched) { return unorm8_bits_of(float_of(fetched)); };
    const std::uint32_t red = color(texel.x);
    if constexpr (channels == 1) return red;
    if constexpr (channels == 2) return __byte_perm(red, linear(texel.y), 0x0050);
    const std::uint32_t low = __byte_perm(red, color(texel.y), 0x0040);
    return __byte_perm(low, __byte_perm(color(texel.z), linear(texel.w), 0x0050), 0x5410);
}

/// Returns the pixel of encode_pixel() for a plain format. Encoding, bits and channels are constants, so the compiler
/// removes the other cases; the most frequent formats have faster code. Bytes beyond the size of the pixel are
/// undefined.
template <Encoding encoding, int bits, int channels = 4>
__device__ Pixel encode_pixel_as(const uint4& texel, PixelFormat format) {
    if constexpr (encoding == Encoding::unorm && bits == 8) {
        const auto code = [](std::uint32_t fetched) { return unorm8_bits_of(float_of(fetched)); };
        if constexpr (channels == 1) return {{code(texel.x) >> 8, 0, 0, 0}};
        const std::uint32_t low = __byte_perm(code(texel.x), code(texel.y), 0x0051);
        if constexpr (channels == 2) return {{low, 0, 0, 0}};
        const std::uint32_t high = __byte_perm(code(texel.z), code(texel.w), 0x0051);
        return {{__byte_perm(low, high, 0x5410), 0, 0, 0}};
    } else if constexpr (encoding == Encoding::unorm && bits == 16) {
        if constexpr (channels == 1) return {{unorm16_bits_of(texel.x), 0, 0, 0}};
        const std::uint32_t low = __byte_perm(unorm16_bits_of(texel.x), unorm16_bits_of(texel.y), 0x5410);
        if constexpr (channels == 2) return {{low, 0, 0, 0}};
        return {{low, __byte_perm(unorm16_bits_of(texel.z), unorm16_bits_of(texel.w), 0x5410), 0, 0}};
    } else if constexpr (encoding == Encoding::floating && bits == 16) {
        if constexpr (channels == 1) return {{fast_half_code_of(texel.x), 0, 0, 0}};
        const std::uint32_t low = half_pair_of(texel.x, texel.y);
        if constexpr (channels == 2) return {{low, 0, 0, 0}};
        return {{low, half_pair_of(texel.z, texel.w), 0, 0}};
    } else if constexpr (encoding == Encoding::srgb) {
        return {{encode_srgb_pixel<channels>(texel), 0, 0, 0}};
    } else {
        format.stored.encoding = encoding;
        format.stored.bits = bits;
        format.stored.channels = channels;
        format.stored.packing = Packing::plain;
        return encode_pixel({{texel.x, texel.y, texel.z, texel.w}}, format);
    }
}

/// Returns the pixel of encode_pixel(). Bytes beyond the size of the pixel are undefined.
__device__ inline Pixel encode_any_pixel(const uint4& texel, const PixelFormat& format) {
    const TexelFormat& stored = format.stored;
    if (stored.packing == Packing::packed)
        return {{encode_packed({{texel.x, texel.y, texel.z, texel.w}}, stored.packed), 0, 0, 0}};
    switch (stored.encoding) {
        case Encoding::uint:
            if (stored.bits == 8) return encode_pixel_as<Encoding::uint, 8>(texel, format);
            if (stored.bits == 16) return encode_pixel_as<Encoding::uint, 16>(texel, format);
            return encode_pixel_as<Encoding::uint, 32>(texel, format);
        case Encoding::sint:
            if (stored.bits == 8) return encode_pixel_as<Encoding::sint, 8>(texel, format);
            if (stored.bits == 16) return encode_pixel_as<Encoding::sint, 16>(texel, format);
            return encode_pixel_as<Encoding::sint, 32>(texel, format);
        case Encoding::floating:
            if (stored.bits == 16) return encode_pixel_as<Encoding::floating, 16>(texel, format);
            return encode_pixel_as<Encoding::floating, 32>(texel, format);
        case Encoding::unorm:
            if (stored.bits == 8) return encode_pixel_as<Encoding::unorm, 8>(texel, format);
            return encode_pixel_as<Encoding::unorm, 16>(texel, format);
        case Encoding::snorm:
            if (stored.bits == 8) return encode_pixel_as<Encoding::snorm, 8>(texel, format);
            return encode_pixel_as<Encoding::snorm, 16>(texel, format);
        case Encoding::srgb: return encode_pixel({{texel.x, texel.y, texel.z, texel.w}}, format);
    }
    return {};
}

/// Encodes and stores a pixel of any format in an array or in memory.
__device__ inline void store_pixel_anywhere(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                            const uint4& texel) {
    const Pixel pixel = encode_any_pixel(texel, target.format);
    const unsigned bytes = target.format.stored.bytes;
    if (target.address != nullptr) {
        std::byte* to = target.address + z * target.slice_pitch + y * target.pitch + std::size_t{x} * bytes;
        if (target.aligned) return store_aligned(to, pixel, target.format.stored.bytes);
        for (unsigned byte = 0; byte < bytes; ++byte)
            to[byte] = static_cast<std::byte>(pixel.word[byte / 4] >> byte % 4 * 8);
        return;
    }
    const uint4 words = make_uint4(pixel.word[0], pixel.word[1], pixel.word[2], pixel.word[3]);
    switch (bytes) {
        case 1: return write_surface(target, static_cast<unsigned char>(words.x), x, y, z);
        case 2: return write_surface(target, static_cast<unsigned short>(words.x), x, y, z);
        case 4: return write_surface(target, words.x, x, y, z);
        case 8: return write_surface(target, make_uint2(words.x, words.y), x, y, z);
        case 16: return write_surface(target, words, x, y, z);
    }
}

/// Pixels at a constant distance in memory. The first `inside` of them belong to the image.
struct PixelsInMemory {
    std::byte* first;   ///< address of the first pixel
    std::size_t apart;  ///< bytes from pixel to pixel
    unsigned inside;    ///< number of pixels to store
};

/// Encodes and stores pixels with this number of channels.
template <Encoding encoding, int bits, int channels, unsigned kCount>
__device__ void store_run_of(const PixelFormat& format, const PixelsInMemory& run, const uint4 (&texels)[kCount]) {
    std::byte* to = run.first;
#pragma unroll
    for (unsigned i = 0; i < kCount; ++i) {
        if (i >= run.inside) return;
        store_aligned(to, encode_pixel_as<encoding, bits, channels>(texels[i], format), channels * bits / 8);
        to += run.apart;
    }
}

/// Encodes and stores pixels of one, two or four channels. Each number has code of its own, which computes no channel
/// in vain and has a constant store instruction.
template <Encoding encoding, int bits, unsigned kCount>
__device__ void store_run_as(const PixelFormat& format, const PixelsInMemory& run, const uint4 (&texels)[kCount]) {
    if (format.stored.channels == 4) return store_run_of<encoding, bits, 4>(format, run, texels);
    if (format.stored.channels == 1) return store_run_of<encoding, bits, 1>(format, run, texels);
    store_run_of<encoding, bits, 2>(format, run, texels);
}

/// Returns true if store_linear_run() stores pixels of this format: normalized ones without a sign, and floats.
__device__ inline bool has_linear_runs(const TexelFormat& stored) {
    return stored.packing == Packing::plain &&
           (stored.encoding == Encoding::unorm || stored.encoding == Encoding::floating);
}

/// Encodes and stores pixels of a format with has_linear_runs(). Makes no calls.
template <unsigned kCount>
__device__ void store_linear_run(const PixelFormat& format, const PixelsInMemory& run, const uint4 (&texels)[kCount]) {
    const TexelFormat& stored = format.stored;
    if (stored.encoding == Encoding::floating) {
        if (stored.bits == 16) return store_run_as<Encoding::floating, 16>(format, run, texels);
        return store_run_as<Encoding::floating, 32>(format, run, texels);
    }
    if (stored.bits == 8) return store_run_as<Encoding::unorm, 8>(format, run, texels);
    store_run_as<Encoding::unorm, 16>(format, run, texels);
}

/// Returns true if store_run_as() stores pixels of this sRGB format.
__device__ inline bool has_srgb_runs(const TexelFormat& stored) {
    return stored.packing == Packing::plain && stored.encoding == Encoding::srgb;
}

/// Returns true if the target is in memory and the address of every pixel is a multiple of its size.
__device__ inline bool has_aligned_pixels(const PixelTarget& target) {
    return target.address != nullptr && target.aligned;
}

/// Returns the address of a pixel of a target in memory.
__device__ inline std::byte* pixel_address(const PixelTarget& target, unsigned x, unsigned y, unsigned z) {
    return target.address + z * target.slice_pitch + y * target.pitch +
           std::size_t{x} * static_cast<unsigned>(target.format.stored.bytes);
}

/// Returns the pixels (x, y, z), (x, y + step, z), ... of a target in memory, `count` or as many as are inside.
__device__ inline PixelsInMemory pixels_of_column(const PixelTarget& target, unsigned x, unsigned y, unsigned z,
                                                  unsigned step, unsigned count) {
    unsigned inside = 0;
#pragma unroll
    for (unsigned i = 0; i < count; ++i) inside += y + i * step < target.height ? 1 : 0;
    return {pixel_address(target, x, y, z), step * target.pitch, inside};
}

}  // namespace texton::detail
