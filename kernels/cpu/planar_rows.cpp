// Chroma is read at multiples of 1/4 between samples, so the texture unit's weights are multiples of 1/16, and sums are
// codes times integers. Only the sum is rounded, as in arrays/cpu/rows_fixed.h, where sums in 256ths of a code become
// 65535ths.
#include "kernels/cpu/planar_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/planar_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 || !HWY_NATIVE_FMA
PlanarKernels kernels_for(int) { return {}; }
#else
namespace {

#include "arrays/cpu/pixel_codes.h"

using Short = hn::Repartition<std::uint16_t, Word>;
using Bytes = hn::Repartition<std::uint8_t, Word>;
using Half = hn::Repartition<std::int16_t, Word>;
constexpr Short kShort;
constexpr Half kHalf;
constexpr Bytes kBytes;

// --- chroma ----------------------------------------------------------------------------------------------------------

/// The type of sums: 16 bits for 8-bit codes, whose sums of sixteenths fit, and 32 bits for 16-bit codes.
template <class Code>
using SumTag = std::conditional_t<sizeof(Code) == 1, Short, Word>;

template <class D>
HWY_INLINE hn::Vec<D> weighted(D d, hn::Vec<D> nearest, hn::Vec<D> other, std::uint16_t share_of_other) {
    using Sum = hn::TFromD<D>;
    return hn::Add(hn::Mul(nearest, hn::Set(d, static_cast<Sum>(4 - share_of_other))),
                   hn::Mul(other, hn::Set(d, static_cast<Sum>(share_of_other))));
}

// Writes the weighted sums of two rows in fourths, and one more sample at each end, which repeats the first or last
// sample.
template <class Code>
HWY_INLINE void sum_down(const ChromaRow& row, hn::TFromD<SumTag<Code>>* sums) {
    using Sum = hn::TFromD<SumTag<Code>>;
    constexpr SumTag<Code> kSum;
    const hn::Rebind<Code, SumTag<Code>> codes;
    const auto* nearest = reinterpret_cast<const Code*>(row.nearest);
    const auto* other = reinterpret_cast<const Code*>(row.other);
    const std::size_t count = 2 * row.samples;
    std::size_t i = 0;
    for (; i + hn::Lanes(kSum) <= count; i += hn::Lanes(kSum)) {
        const auto a = hn::PromoteTo(kSum, hn::LoadU(codes, nearest + i));
        const auto b = hn::PromoteTo(kSum, hn::LoadU(codes, other + i));
        hn::StoreU(weighted(kSum, a, b, row.share_of_other), kSum, sums + 2 + i);
    }
    for (; i < count; ++i)
        sums[2 + i] = static_cast<Sum>(nearest[i] * Sum(4 - row.share_of_other) + other[i] * Sum(row.share_of_other));
    for (std::size_t channel = 0; channel < 2; ++channel) {
        sums[channel] = sums[2 + channel];
        sums[count + 2 + channel] = sums[count + channel];
    }
}

// Converts sums in sixteenths to 65535ths.
HWY_INLINE hn::Vec<Short> in_65535th(Short d, hn::Vec<Short> sum) {
    return hn::Add(hn::ShiftLeft<4>(sum), hn::ShiftRight<4>(hn::Add(sum, hn::Set(d, 8))));
}
HWY_INLINE hn::Vec<Word> in_65535th(Word d, hn::Vec<Word> sum) {
    return hn::ShiftRight<4>(hn::Add(sum, hn::Set(d, 8)));
}

struct EvenAndOdd {
    hn::Vec<Word> even;
    hn::Vec<Word> odd;
};

// Returns pairs of channels of chroma for even and for odd luma samples, from the sums at `sums`.
template <class D>
HWY_INLINE EvenAndOdd sum_across(D d, const hn::TFromD<D>* sums, ChromaShares across) {
    const auto center = hn::LoadU(d, sums);
    const auto even = in_65535th(d, weighted(d, center, hn::LoadU(d, sums - 2), across.before));
    const auto odd = in_65535th(d, weighted(d, center, hn::LoadU(d, sums + 2), across.after));
    return {hn::BitCast(kWord, even), hn::BitCast(kWord, odd)};
}

HWY_INLINE void store_codes(hn::Vec<Word> pairs, std::uint16_t* codes) {
    hn::StoreU(hn::BitCast(kShort, pairs), kShort, codes);
}

// Each word of a result is a channel of an even luma sample and of the odd luma sample after it.
template <class Code>
void blend_chroma(const ChromaRow& row, std::uint16_t* first, std::uint16_t* second) {
    constexpr SumTag<Code> kSum;
    auto* sums = reinterpret_cast<hn::TFromD<SumTag<Code>>*>(row.sums);
    sum_down<Code>(row, sums);
    const hn::Vec<Word> low = hn::Set(kWord, 0xffff);
    const std::size_t words = hn::Lanes(kWord);
    for (std::size_t i = 0; i < row.samples; i += words) {
        if constexpr (sizeof(Code) == 1) {
            const EvenAndOdd codes = sum_across(kSum, sums + 2 + 2 * i, row.across);
            store_codes(hn::Or(hn::And(codes.even, low), hn::ShiftLeft<16>(codes.odd)), first + 2 * i);
            store_codes(hn::Or(hn::ShiftRight<16>(codes.even), hn::AndNot(low, codes.odd)), second + 2 * i);
        } else {
            const EvenAndOdd a = sum_across(kSum, sums + 2 + 2 * i, row.across);
            const EvenAndOdd b = sum_across(kSum, sums + 2 + 2 * i + words, row.across);
            const auto both_a = hn::Or(a.even, hn::ShiftLeft<16>(a.odd));
            const auto both_b = hn::Or(b.even, hn::ShiftLeft<16>(b.odd));
            store_codes(hn::ConcatEven(kWord, both_b, both_a), first + 2 * i);
            store_codes(hn::ConcatOdd(kWord, both_b, both_a), second + 2 * i);
        }
    }
}

// --- colors ----------------------------------------------------------------------------------------------------------

struct Colors {
    FloatVector red;
    FloatVector green;
    FloatVector blue;
};

/// Computes ToRgb::color() on vectors.
class ColorVectors {
public:
    explicit ColorVectors(const ToRgb& to_rgb) : to_rgb_(to_rgb) {}

    HWY_INLINE Colors of(FloatVector luma, FloatVector cb_read, FloatVector cr_read) const {
        const FloatVector y_prime = moved(luma, to_rgb_.luma_scale, to_rgb_.luma_shift);
        const FloatVector cb = moved(cb_read, to_rgb_.chroma_scale, to_rgb_.chroma_shift);
        const FloatVector cr = moved(cr_read, to_rgb_.chroma_scale, to_rgb_.chroma_shift);
        return {added(y_prime, to_rgb_.red_of_cr, cr),
                added(added(y_prime, to_rgb_.green_of_cb, cb), to_rgb_.green_of_cr, cr),
                added(y_prime, to_rgb_.blue_of_cb, cb)};
    }

private:
    static HWY_INLINE FloatVector moved(FloatVector value, float scale, float shift) {
        return hn::MulAdd(value, hn::Set(kFloat, scale), hn::Set(kFloat, shift));
    }
    static HWY_INLINE FloatVector added(FloatVector sum, float factor, FloatVector value) {
        return hn::MulAdd(hn::Set(kFloat, factor), value, sum);
    }

    ToRgb to_rgb_;
};

template <class Code>
HWY_INLINE FloatVector read_codes(const Code* codes) {
    const hn::Rebind<Code, Float> stored;
    const IntVector code = hn::PromoteTo(kInt, hn::LoadU(stored, codes));
    if constexpr (sizeof(Code) == 1) return float_of_unorm8(code);
    return float_of_unorm16(code);
}

struct Planes {
    float* first;
    std::size_t apart;

    HWY_INLINE void store(const Colors& colors, std::size_t at) const {
        hn::StoreU(colors.red, kFloat, first + at);
        hn::StoreU(colors.green, kFloat, first + apart + at);
        hn::StoreU(colors.blue, kFloat, first + 2 * apart + at);
        hn::StoreU(hn::Set(kFloat, 1.0f), kFloat, first + 3 * apart + at);
    }
    void copy(const Planes& from, std::size_t count, std::size_t at) const {
        for (std::size_t c = 0; c < 4; ++c) std::copy_n(from.first + c * from.apart, count, first + c * apart + at);
    }
};

struct RgbaBytes {
    unsigned char* first;

    // Clamps two channels at a time in the 16-bit halves of words. Codes fit, since colors are never NaN and below 16
    // in magnitude; negative codes become 0.
    HWY_INLINE void store(const Colors& colors, std::size_t at) const {
        const auto blue_and_red =
            hn::OddEven(hn::BitCast(kHalf, hn::ShiftLeft<16>(code(colors.blue))), hn::BitCast(kHalf, code(colors.red)));
        const auto alpha_and_green = hn::OddEven(hn::Set(kHalf, 255), hn::BitCast(kHalf, code(colors.green)));
        const auto pixels = hn::Or(clamped(blue_and_red), hn::ShiftLeft<8>(clamped(alpha_and_green)));
        hn::StoreU(hn::BitCast(kBytes, pixels), kBytes, first + 4 * at);
    }
    void copy(const RgbaBytes& from, std::size_t count, std::size_t at) const {
        std::memcpy(first + 4 * at, from.first, 4 * count);
    }

private:
    static HWY_INLINE IntVector code(FloatVector value) {
        return whole_part(kFloat, hn::Add(hn::Mul(value, hn::Set(kFloat, 255.0f)), hn::Set(kFloat, 0.5f)));
    }
    static HWY_INLINE hn::Vec<Half> clamped(hn::Vec<Half> code) {
        return hn::Min(hn::Max(code, hn::Zero(kHalf)), hn::Set(kHalf, 255));
    }
};

// The last pixels, which do not fill a vector, are written to `room` and then copied.
template <class Code, class Pixels>
HWY_INLINE void convert(const ToRgb& to_rgb, const PlanarRow row, const Pixels& pixels, const Pixels& room) {
    const ColorVectors colors(to_rgb);
    const auto* luma = reinterpret_cast<const Code*>(row.luma);
    const std::size_t lanes = hn::Lanes(kFloat);
    std::size_t i = 0;
    for (; i + lanes <= row.count; i += lanes)
        pixels.store(colors.of(read_codes(luma + i), read_codes(row.cb + i), read_codes(row.cr + i)), i);
    if (i == row.count) return;
    Code last[hn::MaxLanes(kFloat)] = {};
    std::copy_n(luma + i, row.count - i, last);
    room.store(colors.of(read_codes(last), read_codes(row.cb + i), read_codes(row.cr + i)), 0);
    pixels.copy(room, row.count - i, i);
}

template <class Code>
void to_planes(const ToRgb& to_rgb, const PlanarRow& row, float* planes, std::size_t apart) {
    float room[4 * hn::MaxLanes(kFloat)];
    convert<Code, Planes>(to_rgb, row, {planes, apart}, {room, hn::MaxLanes(kFloat)});
}

template <class Code>
void to_bytes(const ToRgb& to_rgb, const PlanarRow& row, unsigned char* pixels) {
    unsigned char room[4 * hn::MaxLanes(kFloat)];
    convert<Code, RgbaBytes>(to_rgb, row, {pixels}, {room});
}

template <class Code>
constexpr PlanarKernels kKernels{blend_chroma<Code>, to_planes<Code>, to_bytes<Code>};

}  // namespace

PlanarKernels kernels_for(int bits) { return bits == 8 ? kKernels<std::uint8_t> : kKernels<std::uint16_t>; }
#endif

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(kernels_for);

PlanarKernels planar_kernels(int bits) { return HWY_DYNAMIC_DISPATCH(kernels_for)(bits); }

}  // namespace texton::detail
#endif
