#pragma once
// How a thread of a CUDA kernel reads the stored codes of texels, without the texture unit. For code that nvcc
// compiles.
#include <cuda_runtime.h>

#include <texton/float_division.h>
#include <texton/float_math.h>
#include <texton/pixel_target.h>

namespace texton::detail {

/// Returns 2^32 * code / 255, rounded to the nearest float, for the 8-bit code in byte `byte` of the word. The binary
/// digits of code / 255 repeat the code endlessly. The digits that do not fit into a float start with the first 1 of
/// the code, so they are at least half a unit in the last place, and the value is rounded up.
__device__ inline float share_of_byte(std::uint32_t word, int byte) {
    return __uint2float_ru(__byte_perm(word, 0, 0x1111u * static_cast<unsigned>(byte)));
}
/// Factor that converts the result of share_of_byte() to code / 255.
constexpr float kOfShare = 0x1p-32f;

/// Returns code / 65535 for a 16-bit code, rounded once. The product with the upper part of 1 / 65535 is exact.
__device__ inline float share_of_code16(std::uint32_t code) {
    const auto number = static_cast<float>(code);
    return ::fmaf(number, 0x1p-16f, number * 0x1.0001p-32f);
}

/// Returns the value of a float16 code that is not NaN.
__device__ inline float float_of_number(std::uint32_t code) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<std::uint16_t>(code)));
    return value;
}

/// Returns the value of a float16 code, with the bits of a fetch.
__device__ inline float float_of_half(std::uint32_t code) {
    if ((code & 0x7c00u) == 0x7c00u) return float_of((code & 0x8000u) << 16 | 0x7f800000u | (code & 0x3ffu) << 13);
    return float_of_number(code);
}

/// Returns the value of an 8-bit sRGB code, as a fetch returns it: a number of 8 bits with the exponent of the largest
/// of 8 adjacent codes. PointwiseTest compares all codes with fetches.
__device__ inline float value_of_srgb(std::uint32_t code) {
    const auto curve = [](std::uint32_t at) {
        const float value = static_cast<float>(at) * (1.0f / 255.0f);
        return at <= 10 ? quotient_by(value, 12.92f) : pow_of(quotient_by(value + 0.055f, 1.055f), 2.4f);
    };
    const std::uint32_t exponent = bits_of(curve(code | 7)) >> 23;
    const std::uint32_t unit = (exponent > 120 ? exponent : 120) - 7;
    const float mantissa = curve(code) * float_of((254 - unit) << 23) + 0.5f;
    return static_cast<float>(static_cast<std::uint32_t>(mantissa)) * float_of(unit << 23);
}

/// Where texels are stored: in memory, in a 2D array, or in an array with layers.
enum class StoredIn { memory, plane, layers };

__host__ __device__ inline StoredIn stored_in(const PixelTarget& texels) {
    if (texels.address != nullptr) return StoredIn::memory;
    return texels.kind == ArrayKind::array_2d ? StoredIn::plane : StoredIn::layers;
}

/// Returns the T that starts `byte` bytes after the start of a row. `byte` must be a multiple of the size of T, and the
/// row must contain all of T.
template <StoredIn in, class T>
__device__ T stored(const PixelTarget& texels, unsigned byte, unsigned y, unsigned z = 0) {
    if constexpr (in == StoredIn::memory) {
        return *reinterpret_cast<const T*>(texels.address + z * texels.slice_pitch + y * texels.pitch + byte);
    } else {
        const auto surface = static_cast<cudaSurfaceObject_t>(texels.surface);
        const int x = texels.offset[0] * texels.format.stored.bytes + static_cast<int>(byte);
        const int row = texels.offset[1] + static_cast<int>(y);
        if constexpr (in == StoredIn::plane) return surf2Dread<T>(surface, x, row);
        return surf2DLayeredread<T>(surface, x, row, texels.offset[2] + static_cast<int>(z));
    }
}

}  // namespace texton::detail
