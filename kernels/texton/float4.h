#pragma once
#include <texton/host_device.h>

namespace texton {

/// Four channels, on which kernels compute. Each operation is rounded separately, on all devices.
struct Float4 {
    float x = 0;                                     ///< red
    float y = 0;                                     ///< green
    float z = 0;                                     ///< blue
    float w = 0;                                     ///< alpha
    bool operator==(const Float4&) const = default;  ///< Compares all channels. NaN is not equal to NaN.
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
/// Returns each channel multiplied by `scale`.
TEXTON_HD inline Float4 operator*(const Float4& a, float scale) {
    return {a.x * scale, a.y * scale, a.z * scale, a.w * scale};
}
/// Returns each channel multiplied by `scale`.
TEXTON_HD inline Float4 operator*(float scale, const Float4& a) { return a * scale; }
/// Adds each channel of `b` to `a`.
TEXTON_HD inline Float4& operator+=(Float4& a, const Float4& b) { return a = a + b; }

/// Returns the lower value of each channel. The result is a's channel if either value is NaN.
TEXTON_HD inline Float4 min(const Float4& a, const Float4& b) {
    return {b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z, b.w < a.w ? b.w : a.w};
}
/// Returns the higher value of each channel. The result is a's channel if either value is NaN.
TEXTON_HD inline Float4 max(const Float4& a, const Float4& b) {
    return {b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z, b.w > a.w ? b.w : a.w};
}
/// Returns the linear interpolation a + (b - a) * share: `a` if share is 0, and `b`, except for rounding, if it is 1.
TEXTON_HD inline Float4 mix(const Float4& a, const Float4& b, float share) { return a + (b - a) * share; }

}  // namespace texton
