#pragma once
#include <cmath>

#include <texton/host_device.h>

namespace texton {

/// Four channels, on which kernels compute. Each operation, except fma(), is rounded separately. All have the same
/// result on all devices.
struct Float4 {
    float x = 0;                                     ///< red
    float y = 0;                                     ///< green
    float z = 0;                                     ///< blue
    float w = 0;                                     ///< alpha
    bool operator==(const Float4&) const = default;  ///< Compares all channels. NaN is not equal to NaN.

    /// Returns the value in all channels.
    TEXTON_HD static Float4 all(float value) { return {value, value, value, value}; }
};

/// Returns the sum of each channel.
TEXTON_HD inline Float4 operator+(const Float4& a, const Float4& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
/// Returns the difference of each channel.
TEXTON_HD inline Float4 operator-(const Float4& a, const Float4& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
/// Returns the product of each channel.
TEXTON_HD inline Float4 operator*(const Float4& a, const Float4& b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}
/// Returns the quotient of each channel.
TEXTON_HD inline Float4 operator/(const Float4& a, const Float4& b) {
    return {a.x / b.x, a.y / b.y, a.z / b.z, a.w / b.w};
}
/// Returns each channel with the opposite sign.
TEXTON_HD inline Float4 operator-(const Float4& a) { return {-a.x, -a.y, -a.z, -a.w}; }
/// Returns each channel multiplied by `scale`.
TEXTON_HD inline Float4 operator*(const Float4& a, float scale) {
    return {a.x * scale, a.y * scale, a.z * scale, a.w * scale};
}
/// Returns each channel multiplied by `scale`.
TEXTON_HD inline Float4 operator*(float scale, const Float4& a) { return a * scale; }
/// Returns each channel divided by `divisor`.
TEXTON_HD inline Float4 operator/(const Float4& a, float divisor) {
    return {a.x / divisor, a.y / divisor, a.z / divisor, a.w / divisor};
}
/// Adds each channel of `b` to `a`.
TEXTON_HD inline Float4& operator+=(Float4& a, const Float4& b) { return a = a + b; }
/// Subtracts each channel of `b` from `a`.
TEXTON_HD inline Float4& operator-=(Float4& a, const Float4& b) { return a = a - b; }
/// Multiplies each channel of `a` by that of `b`.
TEXTON_HD inline Float4& operator*=(Float4& a, const Float4& b) { return a = a * b; }
/// Multiplies each channel by `scale`.
TEXTON_HD inline Float4& operator*=(Float4& a, float scale) { return a = a * scale; }
/// Divides each channel of `a` by that of `b`.
TEXTON_HD inline Float4& operator/=(Float4& a, const Float4& b) { return a = a / b; }
/// Divides each channel by `divisor`.
TEXTON_HD inline Float4& operator/=(Float4& a, float divisor) { return a = a / divisor; }

/// Returns a * scale + sum of each channel, rounded once.
TEXTON_HD inline Float4 fma(const Float4& a, float scale, const Float4& sum) {
    return {fmaf(a.x, scale, sum.x), fmaf(a.y, scale, sum.y), fmaf(a.z, scale, sum.z), fmaf(a.w, scale, sum.w)};
}

/// Returns the sum of the products of the channels, added in the order x, y, z, w.
TEXTON_HD inline float dot(const Float4& a, const Float4& b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

/// Returns the lower value of each channel. The result is a's channel if either value is NaN.
TEXTON_HD inline Float4 min(const Float4& a, const Float4& b) {
    return {b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z, b.w < a.w ? b.w : a.w};
}
/// Returns the higher value of each channel. The result is a's channel if either value is NaN.
TEXTON_HD inline Float4 max(const Float4& a, const Float4& b) {
    return {b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z, b.w > a.w ? b.w : a.w};
}
/// Returns each channel clamped to 0 to 1. NaN becomes 0.
TEXTON_HD inline Float4 saturate(const Float4& a) { return min(max(Float4{}, a), Float4::all(1)); }
/// Returns the linear interpolation a + (b - a) * share: `a` if share is 0, and `b`, except for rounding, if it is 1.
TEXTON_HD inline Float4 mix(const Float4& a, const Float4& b, float share) { return a + (b - a) * share; }

}  // namespace texton
