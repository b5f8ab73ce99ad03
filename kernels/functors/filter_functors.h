#pragma once
// The definitions of the filters: functors for launch(). Faster implementations must return bit-identical results.
#include <algorithm>
#include <span>

#include <texton/filter.h>
#include <texton/float_math.h>
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

struct Bilateral {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    NumberedTexels texels;
    std::int32_t radius;
    float space;  // factor of the squared distance, in the exponent
    float range;  // factor of the squared difference of values, in the exponent

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        const Float4 center = texels(source, at.z, at.x, at.y);
        Float4 sum{};
        float total = 0;
        for (std::int32_t j = -radius; j <= radius; ++j) {
            for (std::int32_t i = -radius; i <= radius; ++i) {
                const Float4 texel = texels(source, at.z, at.x + i, at.y + j);
                const Float4 apart = texel - center;
                const Float4 square = apart * apart;
                const float weight = exp_of(
                    -(static_cast<float>(i * i + j * j) * space + (square.x + square.y + square.z + square.w) * range));
                if (!(weight > 0)) continue;
                sum += texel * weight;
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

// --- the median of 9 or 25 values ------------------------------------------------------------------------------------
//
// Forgetful selection: among any n / 2 + 2 of n values, neither the lowest nor the highest can be the median. The
// filter reads that many values, drops the lowest and the highest, reads one of the remaining values, and so on until
// three values are left. The sequence of comparisons does not depend on the values.

/// Orders two values with one comparison. If a value is NaN, both keep their positions.
struct ByComparison {
    TEXTON_HD void operator()(float& low, float& high) const {
        const bool swap = high < low;
        const float lower = swap ? high : low;
        high = swap ? low : high;
        low = lower;
    }
};

template <class Order>
TEXTON_HD void put_in_order(Float4& low, Float4& high, const Order& order) {
    order(low.x, high.x);
    order(low.y, high.y);
    order(low.z, high.z);
    order(low.w, high.w);
}

/// Moves the lowest value to the front and the highest to the back.
template <int count, class Order>
TEXTON_HD void move_extremes_out(Float4* values, const Order& order) {
    for (int i = 0; i < count / 2; ++i) put_in_order(values[i], values[count - 1 - i], order);
    for (int i = 1; i < (count + 1) / 2; ++i) put_in_order(values[0], values[i], order);
    for (int i = count / 2; i < count - 1; ++i) put_in_order(values[i], values[count - 1], order);
}

/// Returns the median of the `count` values in `values`, which are modified, and of count - 3 further values.
/// next(count) returns the next of these while `count` values are in use.
template <int count, class Next, class Order>
TEXTON_HD Float4 median_of(Float4* values, const Next& next, const Order& order) {
    move_extremes_out<count>(values, order);
    if constexpr (count == 3) {
        return values[1];
    } else {
        values[0] = next(count);
        return median_of<count - 1>(values, next, order);
    }
}

/// The texels of a square neighborhood by their number, counted row by row. Median reads them from the last to the
/// first.
template <int side, class Source>
struct Square {
    const NumberedTexels& texels;
    const Source& source;
    PixelPosition center;

    TEXTON_HD Float4 operator()(int number) const {
        return texels(source, center.z, center.x + number % side - side / 2, center.y + number / side - side / 2);
    }
};

template <int side>
struct Median {
    static constexpr bool kMayBeCalledWithZeros = true;
    static constexpr unsigned kPixels = 1;
    static constexpr int kAtHand = side * side / 2 + 2;
    NumberedTexels texels;

    template <class Source>
    TEXTON_HD Float4 operator()(PixelPosition at, const Source& source) const {
        return in_order(at, source, ByComparison{});
    }
    template <class Source, class Order>
    TEXTON_HD Float4 in_order(PixelPosition at, const Source& source, const Order& order) const {
        const Square<side, Source> square{texels, source, at};
        Float4 values[kAtHand];
        for (int i = 0; i < kAtHand; ++i) values[i] = square(side * side - 1 - i);
        return median_of<kAtHand>(
            values, [&](int count) { return square(count - 4); }, order);
    }
};

}  // namespace texton::filters
