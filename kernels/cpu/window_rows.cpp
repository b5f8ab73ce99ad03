#include "kernels/cpu/window_rows.h"

#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/window_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// --- the median ------------------------------------------------------------------------------------------------------

// Same as filters::ByComparison. On x86, the minimum and maximum instructions return the second operand if either is
// NaN.
template <class V>
HWY_INLINE void put_in_order(V& low, V& high) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
    const V lower = hn::Min(high, low);
    high = hn::Max(low, high);
    low = lower;
#else
    const auto swap = hn::Lt(high, low);
    const V lower = hn::IfThenElse(swap, high, low);
    high = hn::IfThenElse(swap, low, high);
    low = lower;
#endif
}

// Same as filters::move_extremes_out().
template <int count, class V>
HWY_INLINE void move_extremes_out(V* values) {
    for (int i = 0; i < count / 2; ++i) put_in_order(values[i], values[count - 1 - i]);
    for (int i = 1; i < (count + 1) / 2; ++i) put_in_order(values[0], values[i]);
    for (int i = count / 2; i < count - 1; ++i) put_in_order(values[i], values[count - 1]);
}

// The texels of square neighborhoods, for as many channels as a vector has lanes.
template <int side, class D>
struct Squares {
    using T = hn::TFromD<D>;
    const T* const* rows;
    std::size_t step;
    std::size_t at;

    HWY_INLINE hn::Vec<D> operator()(int number) const {
        const D d;
        const auto row = static_cast<std::size_t>(number / side);
        const auto column = static_cast<std::size_t>(number % side);
        return hn::LoadU(d, rows[row] + at + column * step);
    }
};

// Same as filters::median_of().
template <int count, int side, class D>
HWY_INLINE hn::Vec<D> median_of(hn::Vec<D>* values, const Squares<side, D>& squares) {
    move_extremes_out<count>(values);
    if constexpr (count == 3) {
        return values[1];
    } else {
        values[0] = squares(count - 4);
        return median_of<count - 1, side, D>(values, squares);
    }
}

template <int side, class D>
HWY_INLINE void store_medians(D d, const hn::TFromD<D>* const* rows, std::size_t step, std::size_t at,
                              hn::TFromD<D>* medians) {
    constexpr int kAtHand = side * side / 2 + 2;
    const Squares<side, D> squares{rows, step, at};
    hn::Vec<D> values[kAtHand];
    for (int i = 0; i < kAtHand; ++i) values[i] = squares(side * side - 1 - i);
    hn::StoreU(median_of<kAtHand, side, D>(values, squares), d, medians + at);
}

// The last vector ends at the end of the row and may overlap the previous one.
template <int side, class T>
HWY_INLINE void medians_of_side(const T* const* rows, std::size_t step, std::size_t count, T* medians) {
    constexpr hn::ScalableTag<T> kWhole;
    const std::size_t lanes = hn::Lanes(kWhole);
    if (count >= lanes) {
        for (std::size_t at = 0; at + lanes <= count; at += lanes) store_medians<side>(kWhole, rows, step, at, medians);
        if (count % lanes != 0) store_medians<side>(kWhole, rows, step, count - lanes, medians);
        return;
    }
    constexpr hn::CappedTag<T, 1> kOne;
    for (std::size_t at = 0; at < count; ++at) store_medians<side>(kOne, rows, step, at, medians);
}

template <class T>
HWY_INLINE void medians(const T* const* rows, std::size_t side, std::size_t step, std::size_t count, T* medians) {
    if (side == 3) return medians_of_side<3>(rows, step, count, medians);
    medians_of_side<5>(rows, step, count, medians);
}

// --- the bilateral filter --------------------------------------------------------------------------------------------

template <class D>
HWY_INLINE hn::Vec<D> number(D d, float value) {
    return hn::Set(d, value);
}

// Same as exp2_of() for numbers from -126 to 0.
template <class D>
HWY_INLINE hn::Vec<D> exp2_of(D d, hn::Vec<D> x) {
    const hn::RebindToSigned<D> bits;
    const auto half_up = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), number(d, -0.5f), number(d, 0.5f));
    const auto whole = hn::ConvertTo(bits, hn::Add(x, half_up));
    const auto f = hn::Sub(x, hn::ConvertTo(d, whole));
    constexpr float kFactors[] = {0.00134004282f, 0.00961805668f, 0.0555032723f, 0.240226509f, 0.693147207f, 1.0f};
    auto value = number(d, 0.000154614447f);
    for (const float factor : kFactors) value = hn::Add(number(d, factor), hn::Mul(f, value));
    const auto half = hn::ShiftRight<1>(hn::Sub(whole, hn::ShiftRight<31>(whole)));
    const auto power = [&](auto exponent) HWY_ATTR {
        return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(bits, 127))));
    };
    return hn::Mul(hn::Mul(value, power(half)), power(hn::Sub(whole, half)));
}

template <int channels, class D>
HWY_INLINE void store_bilateral(D d, const PlaneRow* rows, std::size_t radius, float space, float range, std::size_t at,
                                float* const* pixels) {
    hn::Vec<D> center[channels];
    hn::Vec<D> sum[channels];
    for (int c = 0; c < channels; ++c) {
        center[c] = hn::LoadU(d, rows[radius].channel[c] + at + radius);
        sum[c] = hn::Zero(d);
    }
    auto total = hn::Zero(d);
    const auto reach = static_cast<std::int32_t>(radius);
    for (std::int32_t j = -reach; j <= reach; ++j) {
        for (std::int32_t i = -reach; i <= reach; ++i) {
            const std::size_t position = at + static_cast<std::size_t>(i + reach);
            hn::Vec<D> texel[channels];
            hn::Vec<D> square[channels];
            for (int c = 0; c < channels; ++c) {
                texel[c] = hn::LoadU(d, rows[j + reach].channel[c] + position);
                const auto apart = hn::Sub(texel[c], center[c]);
                square[c] = hn::Mul(apart, apart);
            }
            auto squares = square[0];
            for (int c = 1; c < channels; ++c) squares = hn::Add(squares, square[c]);
            const float distance = static_cast<float>(i * i + j * j) * space;
            const auto exponent = hn::Mul(hn::Neg(hn::Add(number(d, distance), hn::Mul(squares, number(d, range)))),
                                          number(d, 1.44269504f));
            const auto counts = hn::Ge(exponent, number(d, -126.0f));  // otherwise the weight is 0 or NaN
            if (hn::AllFalse(d, counts)) continue;
            const auto weight = hn::IfThenElseZero(counts, exp2_of(d, hn::IfThenElseZero(counts, exponent)));
            for (int c = 0; c < channels; ++c)
                sum[c] = hn::Add(sum[c], hn::IfThenElseZero(counts, hn::Mul(texel[c], weight)));
            total = hn::Add(total, weight);
        }
    }
    for (int c = 0; c < channels; ++c) hn::StoreU(hn::Div(sum[c], total), d, pixels[c] + at);
    for (int c = channels; c < 4; ++c) hn::StoreU(hn::Div(hn::Zero(d), total), d, pixels[c] + at);
}

}  // namespace

void median_of_floats_on_vectors(const float* const* rows, std::size_t side, std::size_t step, std::size_t count,
                                 float* result) {
    medians(rows, side, step, count, result);
}

void median_of_codes_on_vectors(const unsigned char* const* rows, std::size_t side, std::size_t step, std::size_t count,
                                unsigned char* result) {
    medians(rows, side, step, count, result);
}

template <int channels>
HWY_INLINE void bilateral_of_channels(const PlaneRow* rows, std::size_t radius, float space, float range,
                                      std::size_t count, float* const* pixels) {
    constexpr hn::ScalableTag<float> kWhole;
    constexpr hn::CappedTag<float, 1> kOne;
    const std::size_t lanes = hn::Lanes(kWhole);
    std::size_t at = 0;
    for (; at + lanes <= count; at += lanes) store_bilateral<channels>(kWhole, rows, radius, space, range, at, pixels);
    for (; at < count; ++at) store_bilateral<channels>(kOne, rows, radius, space, range, at, pixels);
}

void bilateral_on_vectors(const PlaneRow* rows, std::size_t channels, std::size_t radius, float space, float range,
                          std::size_t count, float* const* pixels) {
    if (channels == 1) return bilateral_of_channels<1>(rows, radius, space, range, count, pixels);
    if (channels == 2) return bilateral_of_channels<2>(rows, radius, space, range, count, pixels);
    bilateral_of_channels<4>(rows, radius, space, range, count, pixels);
}

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(median_of_floats_on_vectors);
HWY_EXPORT(median_of_codes_on_vectors);
HWY_EXPORT(bilateral_on_vectors);

void median_of_rows(const float* const* rows, std::size_t side, std::size_t step, std::size_t count, float* medians) {
    HWY_DYNAMIC_DISPATCH(median_of_floats_on_vectors)(rows, side, step, count, medians);
}

void median_of_rows(const unsigned char* const* rows, std::size_t side, std::size_t step, std::size_t count,
                    unsigned char* medians) {
    HWY_DYNAMIC_DISPATCH(median_of_codes_on_vectors)(rows, side, step, count, medians);
}

void bilateral_of_rows(const PlaneRow* rows, std::size_t channels, std::size_t radius, float space, float range,
                       std::size_t count, float* const* pixels) {
    HWY_DYNAMIC_DISPATCH(bilateral_on_vectors)(rows, channels, radius, space, range, count, pixels);
}

}  // namespace texton::detail
#endif
