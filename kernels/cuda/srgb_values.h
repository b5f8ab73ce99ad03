#pragma once
// Values of sRGB codes, for code that nvcc compiles.
#include <bit>
#include <cstdint>

#include <cuda_fp16.h>

#include "arrays/unit/texel_decode.h"

namespace texton::detail {

/// The values of lane_of_srgb() as float16 codes, which represent them exactly. Threads of a warp that look up different
/// codes read few lines of the cache.
struct SrgbHalves {
    std::uint16_t code[256];

    TEXTON_HD constexpr SrgbHalves() : code{} {
        constexpr SrgbCurve kCurve{};
        for (int i = 1; i < 256; ++i) {
            const unsigned mantissa = kCurve.mantissa[i];
            int highest = 0;
            while (mantissa >> (highest + 1) != 0) ++highest;
            const int exponent = highest + kCurve.exponent[i / 8] - kSrgbFractionBits + 15;
            code[i] = static_cast<std::uint16_t>((static_cast<unsigned>(exponent) << 10) +
                                                 ((mantissa << (10 - highest)) & 1023u));
        }
    }
};

/// Returns the value of an sRGB code.
__device__ inline float float_of_srgb(std::uint32_t code) {
    static constexpr SrgbHalves kHalves{};
    return __half2float(__ushort_as_half(kHalves.code[code]));
}

}  // namespace texton::detail
