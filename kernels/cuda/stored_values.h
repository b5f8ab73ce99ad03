#pragma once
// Stored values of texels and pixels, four at a time, for kernels that do not use the texture unit. For code that nvcc
// compiles.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include <texton/channel_codes.h>
#include <texton/cuda_store.h>
#include <texton/cuda_stored_texels.h>
#include <texton/pixel_target.h>

#include "kernels/cuda/srgb_values.h"

namespace texton::detail {

inline constexpr int kValues = 4;  // that are loaded or stored at the same time

/// The unsigned integer, or vector of them, with this many bytes.
template <unsigned bytes>
using WordOf = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t,
                       std::conditional_t<bytes == 4, std::uint32_t, std::conditional_t<bytes == 8, uint2, uint4>>>>;

/// Returns bits that end with those of unorm_code_of(). A single instruction applies both limits, and floats from 2^23
/// on are integers, whose lowest bits are those of the code. Conversions of floats to integers are slow.
__device__ inline unsigned quick_unorm_code(float value, float largest) {
    return __float_as_uint(__fadd_rd(__saturatef(value) * largest + 0.5f, 0x1p23f));
}

/// Returns 2^23 plus the integer in two bytes of a word, which `bytes` selects, without a slow conversion.
__device__ inline float after_2_23(unsigned word, unsigned bytes) {
    unsigned bits = 0x4b000000u;  // of 2^23
    asm("" : "+r"(bits));         // in a register, so that the compiler puts the selection into the instruction
    return __uint_as_float(__byte_perm(word, bits, 0x7400u + bytes));
}

// Four stored values, as they are loaded, and the conversions of value number i, whose channel is i modulo the number of
// channels.

struct Unorm8 {
    using Stored = unsigned char;
    using Words = unsigned;
    static constexpr int kWords = 1;
    /// The integer 257 * code, divided by 65535 = 2^16 / (1 + 2^-16 + 2^-32 + ...). The product with 2^-16 + 2^-32 is
    /// exact before it is rounded up; as with share_of_byte(), this rounds code / 255 to the nearest float.
    __device__ static float value(const unsigned* words, int i) {
        return __fmaf_ru(after_2_23(words[0], 0x11u * static_cast<unsigned>(i)), 0x1.0001p-16f, -0x1.0001p7f);
    }
    __device__ static Stored stored(float value, int) { return static_cast<Stored>(unorm8_bits_of(value) >> 8); }
    /// Replaces all texels of the four values by the first one or by the last one.
    template <int channels>
    __device__ static void repeat(unsigned* words, bool last) {
        if constexpr (channels == 1) words[0] = __byte_perm(words[0], 0, last ? 0x3333 : 0x0000);
        if constexpr (channels == 2) words[0] = __byte_perm(words[0], 0, last ? 0x3232 : 0x1010);
    }
};

/// Texels with `channels` channels, the last of which is linear if there are several.
template <int channels>
struct Srgb8 : Unorm8 {
    __device__ static float value(const unsigned* words, int i) {
        return is_linear(i) ? Unorm8::value(words, i) : float_of_srgb(words[0] >> 8 * i & 0xffu);
    }
    __device__ static Stored stored(float value, int i) {
        return is_linear(i) ? Unorm8::stored(value, i) : static_cast<Stored>(fast_srgb_code_of(value));
    }

private:
    TEXTON_HD static constexpr bool is_linear(int i) { return channels > 1 && i % channels == channels - 1; }
};

struct Unorm16 {
    using Stored = unsigned short;
    using Words = uint2;
    static constexpr int kWords = 2;
    __device__ static float value(const unsigned* words, int i) {
        return share_of_code16(i % 2 == 0 ? words[i / 2] & 0xffff : words[i / 2] >> 16);
    }
    __device__ static Stored stored(float value, int) { return static_cast<Stored>(quick_unorm_code(value, 65535.0f)); }
    template <int channels>
    __device__ static void repeat(unsigned* words, bool last) {
        if constexpr (channels == 4) return;
        const unsigned word = last ? words[1] : words[0];
        words[0] = words[1] = channels == 2 ? word : __byte_perm(word, 0, last ? 0x3232 : 0x1010);
    }
};

/// NaNs need not have the bits of a fetch, because all NaNs are stored as the same code.
struct Float16 {
    using Stored = unsigned short;
    using Words = uint2;
    static constexpr int kWords = 2;
    __device__ static float value(const unsigned* words, int i) {
        return float_of_number(i % 2 == 0 ? words[i / 2] & 0xffff : words[i / 2] >> 16);
    }
    __device__ static Stored stored(float value, int) { return __half_as_ushort(__float2half_rn(value)); }
    template <int channels>
    __device__ static void repeat(unsigned* words, bool last) {
        Unorm16::repeat<channels>(words, last);
    }
};

struct Float32 {
    using Stored = float;
    using Words = uint4;
    static constexpr int kWords = 4;
    __device__ static float value(const unsigned* words, int i) { return __uint_as_float(words[i]); }
    __device__ static float stored(float value, int) { return __uint_as_float(plain_bits_of(value)); }
    template <int channels>
    __device__ static void repeat(unsigned* words, bool last) {
        if constexpr (channels == 4) return;
        const unsigned first = last ? words[4 - channels] : words[0];
        const unsigned second = last ? words[3] : words[channels - 1];
        words[0] = words[2] = first;
        words[1] = words[3] = second;
    }
};

/// Values of the format are neither infinite nor NaN.
template <class Format>
constexpr bool kIsFinite = std::is_base_of_v<Unorm8, Format> || std::is_same_v<Format, Unorm16>;

/// Colors of texels are sRGB codes.
template <class Format>
constexpr bool kIsSrgb = false;
template <int channels>
constexpr bool kIsSrgb<Srgb8<channels>> = true;

/// Two groups of kValues values, as they are loaded at once.
template <class Words>
using PairOfWords = std::conditional_t<std::is_same_v<Words, unsigned>, uint2, uint4>;

/// Returns the T that starts `byte` bytes after the start of a row. `in` is stored_in(texels), which is computed once,
/// since that takes longer than the load.
template <class T>
__device__ T load_stored(StoredIn in, const PixelTarget& texels, unsigned byte, unsigned y, unsigned z) {
    switch (in) {
        case StoredIn::memory: break;
        case StoredIn::plane: return stored<StoredIn::plane, T>(texels, byte, y, z);
        case StoredIn::layers: return stored<StoredIn::layers, T>(texels, byte, y, z);
    }
    return stored<StoredIn::memory, T>(texels, byte, y, z);
}

/// Returns true if `count` values of a row can be loaded or stored at once, from any multiple of `count` on.
template <class Format>
bool has_aligned_values(const PixelTarget& place, std::size_t count = kValues) {
    const std::size_t bytes = count * sizeof(typename Format::Stored);
    if (place.address == nullptr)
        return static_cast<std::size_t>(place.offset[0]) * place.format.stored.bytes % bytes == 0;
    return reinterpret_cast<std::uintptr_t>(place.address) % bytes == 0 && place.pitch % bytes == 0 &&
           place.slice_pitch % bytes == 0;
}

/// Returns call.operator()<Format, channels>() with the values of a format, or false if there are none.
template <class Call>
bool with_stored_values(const TexelFormat& format, const Call& call) {
    if (format.packing != Packing::plain) return false;
    const auto with_channels = [&]<class Format>(std::type_identity<Format>) -> bool {
        if (format.channels == 1) return call.template operator()<Format, 1>();
        if (format.channels == 2) return call.template operator()<Format, 2>();
        return call.template operator()<Format, 4>();
    };
    switch (format.encoding) {
        case Encoding::unorm:
            return format.bits == 8 ? with_channels(std::type_identity<Unorm8>{})
                                    : with_channels(std::type_identity<Unorm16>{});
        case Encoding::floating:
            return format.bits == 16 ? with_channels(std::type_identity<Float16>{})
                                     : with_channels(std::type_identity<Float32>{});
        case Encoding::srgb: return format.channels == 4 && call.template operator()<Srgb8<4>, 4>();
        case Encoding::uint:
        case Encoding::sint:
        case Encoding::snorm: break;
    }
    return false;
}

}  // namespace texton::detail
