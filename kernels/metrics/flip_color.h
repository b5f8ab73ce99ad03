// The colors of FLIP, on all devices.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <texton/channel_codes.h>

#include "kernels/metrics/codes.h"

namespace texton::detail {

struct Rgb {
    float channel[3];
    TEXTON_HD float operator[](std::size_t i) const { return channel[i]; }
    TEXTON_HD float& operator[](std::size_t i) { return channel[i]; }
};

struct Matrix {
    float at[3][3];
    TEXTON_HD Rgb operator*(const Rgb& v) const {
        Rgb out;
        for (std::size_t i = 0; i < 3; ++i) out[i] = at[i][0] * v[0] + at[i][1] * v[1] + at[i][2] * v[2];
        return out;
    }
};

TEXTON_HD inline float clamped(float value, float low, float high) {
    return value < low ? low : high < value ? high : value;
}

/// Returns linear light of an sRGB value.
TEXTON_HD inline float light_of_srgb(double encoded) {
    const double light = encoded <= 0.04045 ? encoded / 12.92 : pow((encoded + 0.055) / 1.055, 2.4);
    return static_cast<float>(light);
}

/// Returns the linear light of a code, for formats that are not float formats: value / largest value, clamped to 0 to 1
/// and read as sRGB.
TEXTON_HD inline float light_of_code(const CodeFormat& format, std::uint32_t code) {
    const double encoded = format.value(code, 0) / format.value(format.largest(0), 0);
    return light_of_srgb(encoded < 0 ? 0 : encoded > 1 ? 1 : encoded);
}

/// Returns the cube root of a positive normal number, with an error of at most 4 ulp. std::cbrt() takes four times as
/// long.
TEXTON_HD inline float cube_root(float t) {
    constexpr std::uint32_t kThirdOfBias = 0x2a5137a0;  // dividing the exponent by 3 gives a root within 4 %
    float root = float_of(bits_of(t) / 3 + kThirdOfBias);
    for (int step = 0; step < 2; ++step) {  // of Halley's method, which triples the correct digits
        const float cube = root * root * root;
        root *= (cube + 2 * t) / (2 * cube + t);
    }
    return root;
}

/// Maps L*a*b* distances to errors of 0 to 1. Distances up to the knee, which are the common ones, have errors up to 0.95.
struct ColorScale {
    static constexpr float kPower = 0.7f, kKnee = 0.4f, kAtKnee = 0.95f;

    float largest;  ///< the distance of green and blue, raised to kPower
    float knee;

    TEXTON_HD float error(float distance) const {
        const float power = powf(distance, kPower);
        if (power < knee) return kAtKnee / knee * power;
        const float beyond = kAtKnee + (power - knee) / (largest - knee) * (1 - kAtKnee);
        return beyond < 1 ? beyond : 1;
    }
};

/// What FLIP computes from the colors of a texel.
struct FlipColors {
    Matrix to_xyz;    ///< linear sRGB to XYZ in units of the white point
    Matrix from_xyz;  ///< its inverse
    ColorScale scale{};

    /// Returns YCxCz of linear RGB.
    TEXTON_HD Rgb opponent(const Rgb& rgb) const {
        const Rgb xyz = to_xyz * rgb;
        return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
    }
    /// Returns hunt_lab() of the color that has this YCxCz.
    TEXTON_HD Rgb lab(const Rgb& opponent) const {
        const float luminance = luminance_of(opponent[0]);
        const float red_green = opponent[1] / 500, blue_yellow = opponent[2] / 200;
        Rgb rgb = from_xyz * Rgb{luminance + red_green, luminance, luminance - blue_yellow};
        for (std::size_t c = 0; c < 3; ++c) rgb[c] = clamped(rgb[c], 0, 1);
        return hunt_lab(rgb);
    }
    /// Returns the luminance of the Y of YCxCz.
    TEXTON_HD static float luminance_of(float y) { return (y + 16) / 116; }
    /// Returns L*a*b* of linear RGB, with a* and b* multiplied by 0.01 L* (Hunt effect: dark colors look less
    /// colorful).
    TEXTON_HD Rgb hunt_lab(const Rgb& rgb) const {
        const Rgb xyz = to_xyz * rgb;
        const float x = bent(xyz[0]), y = bent(xyz[1]), z = bent(xyz[2]);
        const float lightness = 116 * y - 16;
        return {lightness, 0.01f * lightness * 500 * (x - y), 0.01f * lightness * 200 * (y - z)};
    }
    TEXTON_HD static float hyab(const Rgb& one, const Rgb& other) {
        const float a = one[1] - other[1], b = one[2] - other[2];
        return fabsf(one[0] - other[0]) + sqrtf(a * a + b * b);
    }
    /// Returns the error of a texel from the L*a*b* of both images and the differences of their edges and points.
    TEXTON_HD float error(const Rgb& one, const Rgb& other, float edges, float points) const {
        constexpr float kRootOfTwo = 1.41421356f;
        const float color = scale.error(hyab(one, other));
        const float feature = sqrtf((edges > points ? edges : points) / kRootOfTwo);
        return powf(color, 1 - feature);
    }

private:
    TEXTON_HD static float bent(float t) {
        constexpr float kEdge = 6.0f / 29;
        return t > kEdge * kEdge * kEdge ? cube_root(t) : t / (3 * kEdge * kEdge) + 4.0f / 29;
    }
};

/// Returns the constants of the colors.
[[nodiscard]] FlipColors flip_colors();

// --- high dynamic range ---------------------------------------------------------------------------------------------

// Narkowicz's fit of the ACES curve, with an exposure factor of 0.6 multiplied into the coefficients.
inline constexpr double kTop2 = 2.51 * 0.36, kTop1 = 0.03 * 0.6, kBottom2 = 2.43 * 0.36, kBottom1 = 0.59 * 0.6,
                        kBottom0 = 0.14;

TEXTON_HD inline float tone_mapped(float light) {
    constexpr auto a = static_cast<float>(kTop2), b = static_cast<float>(kTop1), c = static_cast<float>(kBottom2),
                   d = static_cast<float>(kBottom1), e = static_cast<float>(kBottom0);
    constexpr float kBright = 1e6f;  // far beyond the light that maps to 1; squares stay finite
    const float x = kBright < light ? kBright : light;
    return clamped(x * (a * x + b) / (x * (c * x + d) + e), 0, 1);
}

/// Returns the light clamped to 0 to 2^120; 0 for NaN.
TEXTON_HD inline float light_of(double value) {
    constexpr double kInfiniteLight = 0x1p120;
    if (!(value > 0)) return 0;
    return static_cast<float>(value < kInfiniteLight ? value : kInfiniteLight);
}

/// The weights of red, green and blue in the luminance.
struct LuminanceWeights {
    double of[3];
};

/// Returns the luminance of finite values of a texel, of which `values` returns a channel.
template <class Value>
TEXTON_HD float luminance_of_light(const LuminanceWeights& weights, std::size_t channels, const Value& value) {
    double luminance = 0;
    for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t channel = channels == 1 ? 0 : c;
        if (channel < channels) luminance += weights.of[c] * static_cast<double>(light_of(value(channel)));
    }
    return static_cast<float>(luminance);
}

}  // namespace texton::detail
