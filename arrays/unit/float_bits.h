// float_bits.h: converts float32 and float16 values with integer arithmetic, with the same results on host and device.
#pragma once
#include <bit>
#include <cstdint>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

TEXTON_HD inline bool is_nan(float value) { return (bits_of(value) & 0x7fffffffu) > 0x7f800000u; }

/// Returns the position of the highest bit that is set, and -1 for 0.
TEXTON_HD inline int highest_bit(std::uint64_t value) {
    if (value == 0) return -1;
#if defined(__CUDA_ARCH__)
    return 63 - __clzll(static_cast<long long>(value));
#else
    return 63 - std::countl_zero(value);
#endif
}

/// Returns floor(value * 2^fraction_bits), saturated at +-2^limit_bits. NaN and denormal values give 0.
TEXTON_HD inline std::int64_t floor_to_fixed(float value, int fraction_bits, int limit_bits) {
    const std::uint32_t bits = bits_of(value);
    const bool negative = bits >> 31;
    const int exponent = static_cast<int>(bits >> 23 & 255);
    const std::int64_t limit = std::int64_t{1} << limit_bits;
    if (is_nan(value)) return 0;
    if (exponent == 0) return 0;  // denormal coordinates count as 0: recordings sweep_special_coords_*
    const std::int64_t mantissa = static_cast<std::int64_t>(bits & 0x7fffffu) | 0x800000;
    const int shift = exponent - 150 + fraction_bits;
    if (shift + 24 > limit_bits) return negative ? -limit : limit;
    if (shift >= 0) return (negative ? -mantissa : mantissa) * (std::int64_t{1} << shift);
    if (shift < -32) return negative ? -1 : 0;
    return (negative ? -mantissa : mantissa) >> -shift;
}

/// Returns the float32 nearest to sign * magnitude * 2^exponent. Halves are rounded away from zero. Overflow gives
/// infinity, and results that would be denormal are 0. Recording: special_3d_f32.
TEXTON_HD inline std::uint32_t round_to_float(bool negative, std::uint64_t magnitude, int exponent) {
    const std::uint32_t sign = negative ? 0x80000000u : 0;
    const int top = highest_bit(magnitude);
    if (top < 0) return sign;
    int biased = top + exponent + 127;
    const int lowest = biased > 0 ? top - 23 : -149 - exponent;  // bit of `magnitude` that becomes the last one
    if (lowest <= 0) {
        magnitude <<= -lowest;
    } else if (lowest > 63) {
        return sign;
    } else {
        magnitude = (magnitude >> lowest) + (magnitude >> (lowest - 1) & 1);
    }
    if (biased <= 0) return sign | (magnitude >> 23 ? 0x00800000u : 0);
    const std::uint64_t packed = (static_cast<std::uint64_t>(biased - 1) << 23) + magnitude;
    return packed >= 0x7f800000u ? sign | 0x7f800000u : sign | static_cast<std::uint32_t>(packed);
}

/// Returns the float16 nearest to the value, converted to float32. Unlike in round_to_float(), results can be denormal.
TEXTON_HD inline std::uint32_t round_to_half(bool negative, std::uint64_t magnitude, int exponent) {
    const int top = highest_bit(magnitude);
    const int lowest = top + exponent >= -14 ? top - 10 : -24 - exponent;
    if (lowest > 0) {
        if (lowest > 63) return negative ? 0x80000000u : 0;
        magnitude = (magnitude >> lowest) + (magnitude >> (lowest - 1) & 1);
        exponent += lowest;
    }
    if (magnitude && highest_bit(magnitude) + exponent > 15) return negative ? 0xff800000u : 0x7f800000u;
    return round_to_float(negative, magnitude, exponent);
}

/// Returns the bits of `value` rounded to float16 toward zero. Finite values stay finite.
TEXTON_HD inline std::uint32_t half_toward_zero(float value) {
    const std::uint32_t sign = bits_of(value) >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits_of(value) & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return sign | 0x7e00u;
    if (magnitude == 0x7f800000u) return sign | 0x7c00u;
    if (magnitude >= 0x47800000u) return sign | 0x7bffu;
    if (magnitude >= 0x38800000u) return sign | (magnitude - 0x38000000u) >> 13;
    const int shift = 126 - static_cast<int>(magnitude >> 23);
    return shift > 24 ? sign : sign | ((magnitude & 0x7fffffu) | 0x800000u) >> shift;
}

}  // namespace texton::detail
