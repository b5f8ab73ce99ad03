// pixel_codes.h: conversions between codes and floats, on vectors.
//
// Included by vectorized sources once for each instruction set, inside its namespace. So there is no include guard.

namespace hn = hwy::HWY_NAMESPACE;

using Float = hn::CappedTag<float, 16>;
using Int = hn::Rebind<std::int32_t, Float>;
using Word = hn::Rebind<std::uint32_t, Float>;
using FloatVector = hn::Vec<Float>;
using IntVector = hn::Vec<Int>;

constexpr Float kFloat;
constexpr Int kInt;
constexpr Word kWord;

#include "arrays/cpu/pixel_vectors.h"

// Returns code / 255, rounded once. The product with the upper part of 1 / 255 is exact, so the result is the same
// whether or not the operations are fused.
HWY_INLINE FloatVector float_of_unorm8(IntVector code) {
    constexpr float kUpper = 0x1.01p-8f;
    constexpr float kLower = 0x1.010102p-24f;
    const FloatVector value = hn::ConvertTo(kFloat, code);
    return hn::MulAdd(value, hn::Set(kFloat, kUpper), hn::Mul(value, hn::Set(kFloat, kLower)));
}

// Returns code / 65535 in the same way. CpuPlanarTest.RgbOfEveryCodeIsAsTheFunctor tests all codes.
HWY_INLINE FloatVector float_of_unorm16(IntVector code) {
    constexpr float kUpper = 0x1p-16f;
    constexpr float kLower = 0x1.0001p-32f;
    const FloatVector value = hn::ConvertTo(kFloat, code);
    return hn::MulAdd(value, hn::Set(kFloat, kUpper), hn::Mul(value, hn::Set(kFloat, kLower)));
}

// Returns the same as unorm_code_of().
template <int largest>
HWY_INLINE IntVector unorm_of_float(FloatVector value) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    const FloatVector positive = hn::Max(value, hn::Zero(kFloat));  // 0 for NaN
#else
    const FloatVector positive = hn::IfThenElseZero(hn::Gt(value, hn::Zero(kFloat)), value);
#endif
    const FloatVector clamped = hn::Min(positive, hn::Set(kFloat, 1.0f));
    return whole_part(kFloat, hn::Add(hn::Mul(clamped, hn::Set(kFloat, largest)), hn::Set(kFloat, 0.5f)));
}

// Returns the same, except that the code of a negative value or of NaN may be any number that is not positive.
template <int largest>
HWY_INLINE IntVector unlimited_unorm_of_float(FloatVector value) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX2
    const FloatVector limited = hn::Min(hn::Set(kFloat, 1.0f), value);  // NaN if the value is NaN
    return whole_part(kFloat, hn::Add(hn::Mul(limited, hn::Set(kFloat, largest)), hn::Set(kFloat, 0.5f)));
#else
    return unorm_of_float<largest>(value);
#endif
}
