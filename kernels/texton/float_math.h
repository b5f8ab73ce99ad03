#pragma once
// Math functions on floats that return the same bits on host and device, because sums and products are computed in a
// fixed order. Results are within 4 units in the last place of the true value, unless a comment states otherwise.
#include <cmath>
#include <cstdint>

#include <texton/float_division.h>
#include <texton/host_device.h>
#include <texton/pixel_encode.h>

namespace texton {

namespace detail {

/// Returns 2^x for -126 <= x < 128.
TEXTON_HD inline float finite_exp2_of(float x) {
    const auto whole = static_cast<std::int32_t>(x + (x < 0 ? -0.5f : 0.5f));
    const float f = x - static_cast<float>(whole);
    const float value =
        1.0f + f * (0.693147207f +
                    f * (0.240226509f +
                         f * (0.0555032723f + f * (0.00961805668f + f * (0.00134004282f + f * 0.000154614447f)))));
    // The product with 2^whole is a normal float: the value is at least 1 for whole = -126 and below 1 for whole = 128.
    return float_of(bits_of(value) + (static_cast<std::uint32_t>(whole) << 23));
}

/// Returns the logarithm to base 2 of a positive float that is neither denormal nor infinite.
TEXTON_HD inline float log2_of_normal(float x) {
    // The mantissa is in the range from sqrt(1/2) to sqrt(2).
    const std::uint32_t moved = bits_of(x) - 0x3f3504f3u;
    const std::int32_t exponent = static_cast<std::int32_t>(moved) >> 23;
    const float mantissa = float_of((moved & 0x7fffffu) + 0x3f3504f3u);
    const float s = quotient(mantissa - 1.0f, mantissa + 1.0f);
    const float t = s * s;
    return static_cast<float>(exponent) +
           s * (2.88539008f + t * (0.961798839f + t * (0.576715186f + t * 0.431717698f)));
}

}  // namespace detail

/// Returns 2^x. The result is infinite if x is 128 or more, 0 if x is below -126, and NaN for NaN.
TEXTON_HD inline float exp2_of(float x) {
    if (!(x == x)) return x;
    if (x >= 128.0f) return detail::float_of(0x7f800000u);
    if (x < -126.0f) return 0;
    return detail::finite_exp2_of(x);
}

/// Returns the logarithm to base 2. The result is minus infinity for zeros and for denormals of either sign, and NaN
/// for other negative values. Near x = 1 it is within 2^-24 of the true value.
TEXTON_HD inline float log2_of(float x) {
    const std::uint32_t bits = detail::bits_of(x);
    if (!(x == x) || (bits >> 31 && x < 0)) return detail::float_of(0x7fc00000u);
    if ((bits & 0x7fffffffu) < 0x00800000u) return detail::float_of(0xff800000u);
    if (bits == 0x7f800000u) return x;
    return detail::log2_of_normal(x);
}

/// Returns base^exponent, computed as exp2_of(exponent * log2_of(base)). The relative error grows with the magnitude of
/// the exponent. The result is 0 if the base is 0 or negative.
TEXTON_HD inline float pow_of(float base, float exponent) {
    // Bases from 2^-40 to 2^40 and usual exponents need no other checks.
    constexpr std::uint32_t kLow = 0x2b800000u, kHigh = 0x53800000u;
    if (detail::bits_of(base) - kLow < kHigh - kLow && exponent >= -3.0f && exponent <= 3.0f)
        return detail::finite_exp2_of(exponent * detail::log2_of_normal(base));
    if (!(base > 0)) return base == base ? 0.0f : base;
    return exp2_of(exponent * log2_of(base));
}

/// Returns e^x, computed as exp2_of(x / ln 2).
TEXTON_HD inline float exp_of(float x) { return exp2_of(x * 1.44269504f); }

/// The sine and the cosine of an angle.
struct SineCosine {
    float sine;    ///< sin(pi x)
    float cosine;  ///< cos(pi x)
};
/// Returns sin(pi x) and cos(pi x) for an angle of x half turns. They are exact at multiples of a quarter turn.
TEXTON_HD inline SineCosine sine_cosine_of(float half_turns) {
    // Reduce the angle to its difference from the nearest multiple of 1/2, which is at most 1/4.
    const float doubled = half_turns * 2.0f;
    const float whole = __builtin_floorf(doubled + 0.5f);
    const float x = half_turns - whole * 0.5f;
    const float t = x * x;
    const float sine = x * (3.14159265f + t * (-5.16770782f + t * (2.54976696f + t * -0.589075099f)));
    const float cosine = 1.0f + t * (-4.93480216f + t * (4.05870726f + t * (-1.33504445f + t * 0.231328785f)));
    const float turns = whole - 4.0f * __builtin_floorf(whole * 0.25f);  // 0 to 3 quarter turns
    if (turns == 0.0f) return {sine, cosine};
    if (turns == 1.0f) return {cosine, -sine};
    if (turns == 2.0f) return {-sine, -cosine};
    return {-cosine, sine};
}

// The next three functions are the steps of half_turns_of(), for callers that share them between several angles.

/// Returns the smaller of |x| and |y| divided by the larger, or 0 if both are 0.
TEXTON_HD inline float slope_of(float y, float x) {
    const float wide = x < 0 ? -x : x;
    const float high = y < 0 ? -y : y;
    const float larger = wide > high ? wide : high;
    return larger == 0 ? 0 : (wide > high ? high : wide) / larger;
}
/// Returns the angle whose slope is `slope`, 0 to 1, in half turns: 0 to 1/4.
TEXTON_HD inline float half_turns_of_slope(float slope) {
    const float t = slope * slope;
    return slope * (0.31830989f +
                    t * (-0.106102351f +
                         t * (0.0636361051f +
                              t * (-0.045192994f +
                                   t * (0.0337993235f +
                                        t * (-0.0237359061f +
                                             t * (0.0134128222f + t * (-0.00500741212f + t * 0.000880535387f))))))));
}
/// Returns half_turns_of(y, x). `angle` must be half_turns_of_slope(slope_of(y, x)). The function reflects it into the
/// eighth of a turn that contains (x, y).
TEXTON_HD inline float half_turns_at(float angle, float y, float x) {
    if ((y < 0 ? -y : y) > (x < 0 ? -x : x)) angle = 0.5f - angle;
    if (x < 0) angle = 1.0f - angle;
    return y < 0 ? -angle : angle;
}

/// Returns the angle of (x, y) from the x axis in half turns, -1 to 1. The result is 0 at the origin.
TEXTON_HD inline float half_turns_of(float y, float x) {
    return half_turns_at(half_turns_of_slope(slope_of(y, x)), y, x);
}

}  // namespace texton
