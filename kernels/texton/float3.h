#pragma once
#include <cmath>

#include <texton/float4.h>

namespace texton {

/// A direction, a position or a color without alpha, on which kernels compute. Each operation is rounded separately and
/// has the same result on all devices.
struct Float3 {
    float x = 0;                                     ///< x or red
    float y = 0;                                     ///< y or green
    float z = 0;                                     ///< z or blue
    bool operator==(const Float3&) const = default;  ///< Compares all components. NaN is not equal to NaN.

    /// Returns the value in all components.
    TEXTON_HD static Float3 all(float value) { return {value, value, value}; }
};

/// Returns red, green and blue of a color.
TEXTON_HD inline Float3 rgb_of(const Float4& color) { return {color.x, color.y, color.z}; }
/// Returns a color from red, green, blue and alpha.
TEXTON_HD inline Float4 with_alpha(const Float3& color, float alpha) { return {color.x, color.y, color.z, alpha}; }

/// Returns the sum of each component.
TEXTON_HD inline Float3 operator+(const Float3& a, const Float3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
/// Returns the difference of each component.
TEXTON_HD inline Float3 operator-(const Float3& a, const Float3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
/// Returns the product of each component.
TEXTON_HD inline Float3 operator*(const Float3& a, const Float3& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
/// Returns the quotient of each component.
TEXTON_HD inline Float3 operator/(const Float3& a, const Float3& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
/// Returns each component with the opposite sign.
TEXTON_HD inline Float3 operator-(const Float3& a) { return {-a.x, -a.y, -a.z}; }
/// Returns each component multiplied by `scale`.
TEXTON_HD inline Float3 operator*(const Float3& a, float scale) { return {a.x * scale, a.y * scale, a.z * scale}; }
/// Returns each component multiplied by `scale`.
TEXTON_HD inline Float3 operator*(float scale, const Float3& a) { return a * scale; }
/// Returns each component divided by `divisor`.
TEXTON_HD inline Float3 operator/(const Float3& a, float divisor) {
    return {a.x / divisor, a.y / divisor, a.z / divisor};
}
/// Adds each component of `b` to `a`.
TEXTON_HD inline Float3& operator+=(Float3& a, const Float3& b) { return a = a + b; }
/// Subtracts each component of `b` from `a`.
TEXTON_HD inline Float3& operator-=(Float3& a, const Float3& b) { return a = a - b; }
/// Multiplies each component by `scale`.
TEXTON_HD inline Float3& operator*=(Float3& a, float scale) { return a = a * scale; }

/// Returns the sum of the products of the components, added in the order x, y, z.
TEXTON_HD inline float dot(const Float3& a, const Float3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/// Returns the cross product, which is perpendicular to both vectors.
TEXTON_HD inline Float3 cross(const Float3& a, const Float3& b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// Returns the length of the vector. It is infinite if the squares of the components exceed the range of float.
TEXTON_HD inline float length(const Float3& a) { return sqrtf(dot(a, a)); }
/// Returns the vector divided by its length, or (0, 0, 0) if the length is 0.
TEXTON_HD inline Float3 normalize(const Float3& a) {
    const float size = length(a);
    return size == 0 ? Float3{} : a / size;
}

}  // namespace texton
