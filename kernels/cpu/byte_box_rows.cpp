#include <algorithm>
#include <cstring>

#include <texton/channel_codes.h>

#include "kernels/cpu/byte_rows.h"

#include "arrays/cpu/stores.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/byte_box_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

// Without vectors the plain implementation is as fast (see arrays/cpu/rows_simd.cpp).
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
const ByteBoxKernels* kernels_for_boxes() { return nullptr; }
#else
namespace {

#include "kernels/cpu/byte_windows.h"

HWY_INLINE FloatVector fraction(WordVector code) { return float_of_unorm8(hn::BitCast(kInt, code)); }

void widen(const ByteColumns& columns, const ByteSpan& span, const ByteRow& row, std::size_t apart, float* texels) {
    const Positions positions(columns, span);
    for_each_run(positions, span.count, [=](auto kind, std::size_t begin, std::size_t end) HWY_ATTR {
        for (std::size_t i = begin; i < end; i += lanes()) {
            const WordVector word =
                row.texels == nullptr ? hn::Set(kWord, row.border) : load_two<kind.value>(positions, row, i).left;
            const WordVector low = hn::Set(kWord, 255);
            float* const to = texels + i;
            hn::StoreU(fraction(hn::And(word, low)), kFloat, to);
            hn::StoreU(fraction(hn::And(hn::ShiftRight<16>(word), low)), kFloat, to + apart);
            hn::StoreU(fraction(hn::And(hn::ShiftRight<8>(word), low)), kFloat, to + 2 * apart);
            hn::StoreU(fraction(hn::ShiftRight<24>(word)), kFloat, to + 3 * apart);
        }
    });
}

// Returns a quotient that is rounded like a division, for divisors whose remainders lose no bits. With fused
// multiply-adds the remainders are exact. The second correction rounds like a division because the inverse is correctly
// rounded (Markstein's theorem).
HWY_INLINE FloatVector quotient(FloatVector dividend, FloatVector divisor, FloatVector inverse) {
    const FloatVector first = hn::Mul(dividend, inverse);
    const FloatVector second = hn::MulAdd(hn::NegMulAdd(first, divisor, dividend), inverse, first);
    return hn::MulAdd(hn::NegMulAdd(second, divisor, dividend), inverse, second);
}

// Computes half of the quotients by division and half by multiplication, since CPUs do both at the same time.
HWY_INLINE void divide(FloatVector (&sum)[4], FloatVector total) {
    sum[0] = hn::Div(sum[0], total);
    sum[1] = hn::Div(sum[1], total);
#if HWY_NATIVE_FMA
    const FloatVector inverse = hn::Div(hn::Set(kFloat, 1.0f), total);
    sum[2] = quotient(sum[2], total, inverse);
    sum[3] = quotient(sum[3], total, inverse);
#else
    sum[2] = hn::Div(sum[2], total);
    sum[3] = hn::Div(sum[3], total);
#endif
}

// The definition skips products whose weight is 0; here they add zero, which changes nothing.
void store_boxes(std::span<const ByteBoxRow> rows, std::span<const float* const> columns, const ByteBoxSteps& steps,
                 const BytePixels& pixels) {
    const std::size_t to_channel = steps.channel;
    const std::size_t to_tap = steps.tap;
    store_words(pixels, [=](std::size_t i) HWY_ATTR {
        FloatVector sum[4];
        for (FloatVector& channel : sum) channel = hn::Zero(kFloat);
        FloatVector total = hn::Zero(kFloat);
        for (const ByteBoxRow& row : rows) {
            const FloatVector of_row = hn::Set(kFloat, row.weight);
            for (std::size_t tap = 0; tap < columns.size(); ++tap) {
                const FloatVector weight = hn::Mul(hn::LoadU(kFloat, columns[tap] + i), of_row);
                add_product(row.texels + tap * to_tap + i, to_channel, weight, sum);
                total = hn::Add(total, weight);
            }
        }
        divide(sum, total);
        return words_of(sum);
    });
}

constexpr ByteBoxKernels kKernels{widen, store_boxes};

}  // namespace

const ByteBoxKernels* kernels_for_boxes() { return &kKernels; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(kernels_for_boxes);

const ByteBoxKernels* byte_box_kernels() { return HWY_DYNAMIC_DISPATCH(kernels_for_boxes)(); }

}  // namespace texton::detail
#endif
