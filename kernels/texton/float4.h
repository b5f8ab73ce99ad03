#pragma once
#include <texton/host_device.h>

namespace texton {

/// Four channels, as a kernel computes with them. Each operation is rounded by itself, on both devices.
struct Float4 {
    float x = 0;
    float y = 0;
    float z = 0;
    float w = 0;
    bool operator==(const Float4&) const = default;
};

TEXTON_HD inline Float4 operator+(const Float4& a, const Float4& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}
TEXTON_HD inline Float4 operator-(const Float4& a, const Float4& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w};
}
TEXTON_HD inline Float4 operator*(const Float4& a, const Float4& b) {
    return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}
TEXTON_HD inline Float4 operator*(const Float4& a, float scale) {
    return {a.x * scale, a.y * scale, a.z * scale, a.w * scale};
}
TEXTON_HD inline Float4 operator*(float scale, const Float4& a) { return a * scale; }
TEXTON_HD inline Float4& operator+=(Float4& a, const Float4& b) { return a = a + b; }

/// The lower and the higher of each channel; NaN where the first is.
TEXTON_HD inline Float4 min(const Float4& a, const Float4& b) {
    return {b.x < a.x ? b.x : a.x, b.y < a.y ? b.y : a.y, b.z < a.z ? b.z : a.z, b.w < a.w ? b.w : a.w};
}
TEXTON_HD inline Float4 max(const Float4& a, const Float4& b) {
    return {b.x > a.x ? b.x : a.x, b.y > a.y ? b.y : a.y, b.z > a.z ? b.z : a.z, b.w > a.w ? b.w : a.w};
}
/// a where share is 0, b where it is 1.
TEXTON_HD inline Float4 mix(const Float4& a, const Float4& b, float share) { return a + (b - a) * share; }

}  // namespace texton
