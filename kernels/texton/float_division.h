#pragma once
// Divisions of floats in a range in which no step of the algorithm overflows or loses bits. They return the bits of the
// operator. A GPU computes them with a third of the instructions, because it need not look for other operands.
#include <texton/host_device.h>

namespace texton::detail {

/// Returns a / b. The magnitudes of both must be in the range from 2^-60 to 2^60, or a must be 0.
TEXTON_HD inline float quotient(float a, float b) {
#if defined(__CUDA_ARCH__)
    float near;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(near) : "f"(b));
    const float reciprocal = ::fmaf(::fmaf(-b, near, 1.0f), near, near);
    const float first = a * reciprocal;
    const float second = ::fmaf(::fmaf(-b, first, a), reciprocal, first);
    return ::fmaf(::fmaf(-b, second, a), reciprocal, second);
#else
    return a / b;
#endif
}

/// Does the same for a divisor that is a compile-time constant, after inlining. FloatDivisionTest compares the results
/// with those of the operator for the divisors that are used, for all mantissas of `a`.
TEXTON_HD inline float quotient_by(float a, float divisor) {
#if defined(__CUDA_ARCH__)
    const float reciprocal = 1.0f / divisor;
    const float near = a * reciprocal;
    return ::fmaf(::fmaf(-near, divisor, a), reciprocal, near);
#else
    return a / divisor;
#endif
}

}  // namespace texton::detail
