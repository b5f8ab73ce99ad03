#pragma once
// The definitions of the filters: functors for launch(). Faster implementations must return bit-identical results.
#include <algorithm>
#include <span>

#include <texton/filter.h>
#include <texton/float4.h>
#include <texton/pixel.h>

#include "kernels/functors/neighborhood.h"

namespace texton::filters {

using detail::NumberedTexels;

// --- sums of rows and columns ----------------------------------------------------------------------------------------
//
// Sums start at 0, and each texel is added with a fused multiply-add. Texels whose weight is 0 do not count, even if
// they are infinite or NaN.

struct Weights {
    std::int32_t radius;
    float weight[kMaxWeights];
};

inline Weights weights_of(std::span<const float> given) {
    Weights weights{static_cast<std::int32_t>(given.size() / 2), {}};
    std::copy(given.begin(), given.end(), weights.weight);
    return weights;
}

/// First pass: pixel (x, y) is the weighted sum of the row of texels around texel (x, y - rows_above).
struct Across {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    NumberedTexels texels;
    std::int32_t rows_above;
    Weights weights;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        Float4 sum{};
        for (std::int32_t i = 0; i <= 2 * weights.radius; ++i) {
            if (weights.weight[i] == 0) continue;
            sum = fma(texels(source, at.z, at.x + i - weights.radius, at.y - rows_above), weights.weight[i], sum);
        }
        return sum;
    }
};

/// The sums that Across wrote to memory.
struct SumsAcross {
    struct alignas(16) Sum {
        Float4 value;
    };
    const Sum* first;
    std::int64_t width;
    std::int64_t height;

    TEXTON_HD const Float4& operator()(std::int32_t x, std::int32_t y, std::int32_t z) const {
        return first[(z * height + y) * width + x].value;
    }
};

/// Second pass: the weighted sum of a column of sums.
struct Down {
    static constexpr unsigned kPixels = 1;
    SumsAcross sums;
    Weights weights;

    TEXTON_HD Float4 operator()(PixelPosition at) const {
        Float4 sum{};
        for (std::int32_t i = 0; i <= 2 * weights.radius; ++i) {
            if (weights.weight[i] != 0) sum = fma(sums(at.x, at.y + i, at.z), weights.weight[i], sum);
        }
        return sum;
    }
};

/// Adds to a texel `amount` times its difference to the blurred texel. Channels whose difference is below `threshold`
/// stay unchanged.
struct Sharpen {
    float amount;
    float threshold;

    TEXTON_HD Float4 operator()(const Float4& texel, const Float4& blurred) const {
        return {sharpened(texel.x, blurred.x), sharpened(texel.y, blurred.y), sharpened(texel.z, blurred.z),
                sharpened(texel.w, blurred.w)};
    }
    TEXTON_HD float sharpened(float value, float blurred) const {
        const float detail = value - blurred;
        return fabsf(detail) < threshold ? value : value + detail * amount;
    }
};

struct Unsharp {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    NumberedTexels texels;
    Down blur;
    Sharpen sharpen;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return sharpen(texels(source, at.z, at.x, at.y), blur(at));
    }
};

/// The parameters of both passes: sums of rows, then sums of columns.
struct Separable {
    NumberedTexels texels;
    Weights across;
    Weights down;
};

// --- the bilateral filter --------------------------------------------------------------------------------------------

// Weights are powers of 2, whose exponents are 0 at most.

constexpr float kLowestExponent = -126;  // lower ones have the weight 0

/// Returns 2^exponent, within 3 units in the last place, for exponents from kLowestExponent to 0.
TEXTON_HD inline float weight_of(float exponent) {
    const float moved = exponent + 0x1.8p23f;  // the fraction's lowest bits are the nearest whole number
    const float f = exponent - (moved - 0x1.8p23f);
    float value = 0.00132647273f;
    value = fmaf(f, value, 0.00967151299f);
    value = fmaf(f, value, 0.0555073358f);
    value = fmaf(f, value, 0.240222424f);
    value = fmaf(f, value, 0.693147004f);
    value = fmaf(f, value, 1.0f);
    return detail::float_of(detail::bits_of(value) + (detail::bits_of(moved) << 23));
}

struct Bilateral {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    NumberedTexels texels;
    std::int32_t radius;
    float space;  // exponent of 2 for a squared distance of 1
    float range;  // exponent of 2 for a squared difference of values of 1

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 center = texels(source, at.z, at.x, at.y);
        Float4 sum{};
        float total = 0;
        for (std::int32_t j = -radius; j <= radius; ++j) {
            for (std::int32_t i = -radius; i <= radius; ++i) {
                const Float4 texel = texels(source, at.z, at.x + i, at.y + j);
                const Float4 apart = texel - center;
                const float squares =
                    fmaf(apart.w, apart.w, fmaf(apart.z, apart.z, fmaf(apart.y, apart.y, apart.x * apart.x)));
                const float exponent = fmaf(squares, range, static_cast<float>(i * i + j * j) * space);
                if (!(exponent >= kLowestExponent)) continue;
                const float weight = weight_of(exponent);
                sum = fma(texel, weight, sum);
                total += weight;
            }
        }
        if (total == 0) {  // the same NaN on all devices; the bits of 0 / 0 differ
            const float nan = detail::float_of(0x7fc00000u);
            return {nan, nan, nan, nan};
        }
        return {sum.x / total, sum.y / total, sum.z / total, sum.w / total};
    }
};

}  // namespace texton::filters
