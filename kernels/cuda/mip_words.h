#pragma once
// Means of stored texels, in words of 4, 8 or 16 bytes. A word is one texel, or two or four texels of a row.
//
// A word of a level is computed from two adjacent words and the two words below them. The mean of four 8-bit codes is
// the code of the mean of their values (kernels/cpu/halves.h). Floats are added in the order of
// kernels/functors/mip_functors.h, except that the operands of an addition may be swapped: the device returns the same
// NaN in both orders. The mean of four negative zeros is a positive zero, since sums begin with zero.
#include <cstdint>
#include <type_traits>

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <texton/cuda_store.h>
#include <texton/pixel_encode.h>

#include "kernels/cuda/srgb_values.h"

namespace texton::mip {

// The contents of 32 bits of a word, and the mean of four of them.

struct CodesOf8Bits {
    /// Rounds halves up.
    __device__ static std::uint32_t mean(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
        constexpr std::uint32_t kEven = 0x00ff00ffu;
        constexpr std::uint32_t kHalf = 0x00020002u;
        const auto odd = [](std::uint32_t codes) { return __byte_perm(codes, 0, 0x4341); };
        const std::uint32_t even_sums = (a & kEven) + (b & kEven) + (c & kEven) + (d & kEven) + kHalf;
        const std::uint32_t odd_sums = odd(a) + odd(b) + odd(c) + odd(d) + kHalf;
        return (even_sums >> 2 & kEven) | (odd_sums << 6 & ~kEven);
    }
};

/// A texel of four channels of sRGB codes, the last of which is linear. Sums of the values of codes are exact.
struct CodesOfSrgb {
    __device__ static std::uint32_t mean(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
        const auto color = [&](int shift) {
            const auto value = [&](std::uint32_t codes) { return detail::float_of_srgb(codes >> shift & 0xffu); };
            return detail::fast_srgb_code_of((value(a) + value(b) + (value(c) + value(d))) * 0.25f) << shift;
        };
        const std::uint32_t alpha = ((a >> 24) + (b >> 24) + (c >> 24) + (d >> 24) + 2) >> 2;
        return color(0) | color(8) | color(16) | alpha << 24;
    }
};

struct OneFloat {
    __device__ static float mean(float a, float b, float c, float d) { return (a + b + (c + d) + 0.0f) * 0.25f; }
    __device__ static std::uint32_t mean(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
        using detail::float_of;
        return detail::bits_of(mean(float_of(a), float_of(b), float_of(c), float_of(d)));
    }
};

struct TwoHalves {
    __device__ static std::uint32_t mean(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
        const float2 w = floats_of(a), x = floats_of(b), y = floats_of(c), z = floats_of(d);
        const __half2 means = __floats2half2_rn(OneFloat::mean(w.x, x.x, y.x, z.x), OneFloat::mean(w.y, x.y, y.y, z.y));
        std::uint32_t bits;
        __builtin_memcpy(&bits, &means, sizeof bits);
        return bits;
    }

private:
    __device__ static float2 floats_of(std::uint32_t bits) {
        __half2 halves;
        __builtin_memcpy(&halves, &bits, sizeof bits);
        return __half22float2(halves);
    }
};

template <class Lane>
__device__ std::uint32_t mean_of_words(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return Lane::mean(a, b, c, d);
}
template <class Lane>
__device__ uint2 mean_of_words(const uint2& a, const uint2& b, const uint2& c, const uint2& d) {
    return {Lane::mean(a.x, b.x, c.x, d.x), Lane::mean(a.y, b.y, c.y, d.y)};
}
template <class Lane>
__device__ uint4 mean_of_words(const uint4& a, const uint4& b, const uint4& c, const uint4& d) {
    return {Lane::mean(a.x, b.x, c.x, d.x), Lane::mean(a.y, b.y, c.y, d.y), Lane::mean(a.z, b.z, c.z, d.z),
            Lane::mean(a.w, b.w, c.w, d.w)};
}

/// A format whose texels are stored as `Texel`, an unsigned integer or a vector of unsigned integers.
template <class Lane, class TexelOf>
struct StoredFormat {
    using Texel = TexelOf;
    using Word = std::conditional_t<(sizeof(Texel) < sizeof(std::uint32_t)), std::uint32_t, Texel>;

    /// Returns the word of the next level, computed from two adjacent words of a row and the two words below them.
    __device__ static Word half(const Word& top_left, const Word& top_right, const Word& bottom_left,
                                const Word& bottom_right) {
        if constexpr (sizeof(Texel) == sizeof(Word)) {
            return mean_of_words<Lane>(top_left, top_right, bottom_left, bottom_right);
        } else {  // texels of even and of odd columns
            constexpr unsigned kEven = sizeof(Texel) == 1 ? 0x6420 : 0x5410;
            constexpr unsigned kOdd = sizeof(Texel) == 1 ? 0x7531 : 0x7632;
            return Lane::mean(__byte_perm(top_left, top_right, kEven), __byte_perm(top_left, top_right, kOdd),
                              __byte_perm(bottom_left, bottom_right, kEven),
                              __byte_perm(bottom_left, bottom_right, kOdd));
        }
    }
};

}  // namespace texton::mip
