#include "kernels/metrics/filter.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels/metrics/weighted_sum.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/metrics/filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Returns a * b + c, rounded once.
template <class Tag, class V = hn::Vec<Tag>>
HWY_INLINE V fused(Tag tag, V a, V b, V c) {
#if HWY_NATIVE_FMA
    (void)tag;
    return hn::MulAdd(a, b, c);
#else
    HWY_ALIGN float values[3][hn::MaxLanes(Tag())];
    hn::Store(a, tag, values[0]);
    hn::Store(b, tag, values[1]);
    hn::Store(c, tag, values[2]);
    for (std::size_t lane = 0; lane < hn::Lanes(tag); ++lane)
        values[0][lane] = std::fma(values[0][lane], values[1][lane], values[2][lane]);
    return hn::Load(tag, values[0]);
#endif
}

void filter_row(const float* in, std::size_t stride, const float* taps, std::size_t tap_count, std::size_t count,
                float* out) {
    const hn::ScalableTag<float> tag;
    const std::size_t lanes = hn::Lanes(tag);
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        auto sum0 = hn::Zero(tag), sum1 = sum0, sum2 = sum0, sum3 = sum0;
        for (std::size_t step = 0; step < tap_count; ++step) {
            const std::size_t k = tap_of_step(step, tap_count);
            const float* from = in + i + k * stride;
            const auto tap = hn::Set(tag, taps[k]);
            sum0 = fused(tag, tap, hn::LoadU(tag, from), sum0);
            sum1 = fused(tag, tap, hn::LoadU(tag, from + lanes), sum1);
            sum2 = fused(tag, tap, hn::LoadU(tag, from + 2 * lanes), sum2);
            sum3 = fused(tag, tap, hn::LoadU(tag, from + 3 * lanes), sum3);
        }
        hn::StoreU(sum0, tag, out + i);
        hn::StoreU(sum1, tag, out + i + lanes);
        hn::StoreU(sum2, tag, out + i + 2 * lanes);
        hn::StoreU(sum3, tag, out + i + 3 * lanes);
    }
    for (; i < count; ++i) {
        float sum = 0;
        for (std::size_t step = 0; step < tap_count; ++step) {
            const std::size_t k = tap_of_step(step, tap_count);
            sum = std::fma(taps[k], in[i + k * stride], sum);
        }
        out[i] = sum;
    }
}

// Calls `action(tag, i)` for vectors that cover `count` values, of which the last may overlap the one before it, or for
// single values if they are too few.
template <class Action>
HWY_INLINE void for_each_vector(std::size_t count, const Action& action) {
    const hn::ScalableTag<float> tag;
    const std::size_t lanes = hn::Lanes(tag);
    if (count < lanes) {
        const hn::CappedTag<float, 1> single;
        for (std::size_t i = 0; i < count; ++i) action(single, i);
        return;
    }
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) action(tag, i);
    if (i < count) action(tag, count - lanes);
}

void luma_row(const float* red, const float* green, const float* blue, std::size_t count, float* out) {
    for_each_vector(count, [=](auto tag, std::size_t i) HWY_ATTR {
        const auto weighted = [=](const float* values, float weight)
                                  HWY_ATTR { return hn::Mul(hn::Set(tag, weight), hn::LoadU(tag, values + i)); };
        hn::StoreU(hn::Add(hn::Add(weighted(red, kSsimRed), weighted(green, kSsimGreen)), weighted(blue, kSsimBlue)),
                   tag, out + i);
    });
}

void products_row(const float* a, const float* b, float center, float* out) {
    const hn::ScalableTag<float> tag;
    const auto middle = hn::Set(tag, center);
    for (std::size_t i = 0; i < kSsimStride; i += hn::Lanes(tag)) {
        const auto p = hn::Sub(hn::Load(tag, a + i), middle), q = hn::Sub(hn::Load(tag, b + i), middle);
        hn::Store(p, tag, out + i);
        hn::Store(q, tag, out + kSsimStride + i);
        hn::Store(hn::Add(hn::Mul(p, p), hn::Mul(q, q)), tag, out + 2 * kSsimStride + i);
        hn::Store(hn::Mul(p, q), tag, out + 3 * kSsimStride + i);
    }
}

// Calls action(i) for every i below `count` + `more`. If the count is a constant, so is each i, and the loop is unrolled.
template <std::size_t more = 0, class Count, class Action>
HWY_INLINE void for_each(Count count, const Action& action) {
    if constexpr (std::is_same_v<Count, std::size_t>) {
        for (std::size_t i = 0; i < count + more; ++i) action(i);
    } else {
        const auto call = [&]<std::size_t... i>(std::index_sequence<i...>) HWY_ATTR {
            (action(std::integral_constant<std::size_t, i>()), ...);
        };
        call(std::make_index_sequence<Count::value + more>());
    }
}

// Returns a copy of the weights, which the compiler keeps in registers while results are stored.
HWY_INLINE std::array<float, kSsimWindow> copied(const float* weights, std::size_t count) {
    std::array<float, kSsimWindow> copy{};
    std::copy_n(weights, count, copy.begin());
    return copy;
}

// Filters `rows` rows at a time, so that each value is loaded once for all of them. The number of taps may be a constant,
// with which the loops are unrolled.
template <std::size_t rows, class Count>
HWY_INLINE void filter_down(const float* const* products, const float* weights, Count taps, float* out) {
    constexpr std::size_t kValues = kSsimMoments * kSsimStride;
    const hn::ScalableTag<float> tag;
    const std::size_t lanes = hn::Lanes(tag);
    using V = hn::Vec<decltype(tag)>;
    const std::array<float, kSsimWindow> weight = copied(weights, taps);
    for (std::size_t i = 0; i < kValues; i += lanes) {
        V values[rows + kSsimWindow - 1];
        for_each<rows - 1>(taps, [&](auto k) HWY_ATTR { values[k] = hn::Load(tag, products[k] + i); });
        for (std::size_t row = 0; row < rows; ++row) {
            V sum = hn::Zero(tag);
            for_each(taps, [&](auto step) HWY_ATTR {
                const std::size_t k = tap_of_step(step, taps);
                sum = fused(tag, hn::Set(tag, weight[k]), values[row + k], sum);
            });
            hn::Store(sum, tag, out + row * kValues + i);
        }
    }
}

// Calls `action` with the number of taps, as a constant if the window is a full one.
template <class Action>
HWY_INLINE auto with_taps(std::size_t taps, const Action& action) {
    constexpr std::integral_constant<std::size_t, kSsimWindow> kFull;
    return taps == kFull ? action(kFull) : action(taps);
}

void filter_rows(const float* const* products, const float* weights, std::size_t taps, std::size_t rows, float* out) {
    with_taps(taps, [=](auto count) HWY_ATTR {
        rows == 1 ? filter_down<1>(products, weights, count, out)
                  : filter_down<kSsimRows>(products, weights, count, out);
    });
}

// Returns the sum of the similarities of windows. moment(m, i) returns the moments m of a vector of windows from `i` on.
template <class Moment>
HWY_INLINE std::int64_t sum_of_similarities(float center, std::size_t count, const Moment& moment) {
    std::int64_t sum = 0;
#if HWY_TARGET == HWY_SCALAR
    const auto value = [&](std::size_t m, std::size_t i) { return hn::GetLane(moment(m, i)); };
    for (std::size_t i = 0; i < count; ++i)
        sum += fixed_similarity(value(0, i), value(1, i), value(2, i), value(3, i), center);
#else
    const hn::ScalableTag<float> tag;
    const hn::Rebind<std::int32_t, decltype(tag)> integers;
    const hn::Half<decltype(integers)> half;
    const hn::Repartition<std::int64_t, decltype(integers)> wide;
    const std::size_t lanes = hn::Lanes(tag);
    const auto middle = hn::Set(tag, center), two = hn::Set(tag, 2.0f), one = hn::Set(tag, 1.0f);
    const auto c1 = hn::Set(tag, kSsimC1), c2 = hn::Set(tag, kSsimC2), unit = hn::Set(tag, kSsimUnit);
    const auto squares = [&](auto a, auto b) HWY_ATTR { return hn::Add(hn::Mul(a, a), hn::Mul(b, b)); };
    auto lower = hn::Zero(wide), upper = hn::Zero(wide);
    for (std::size_t i = 0; i < count; i += lanes) {
        const auto p = moment(0, i), q = moment(1, i);
        const auto mean_a = hn::Add(p, middle), mean_b = hn::Add(q, middle);
        const auto variances = hn::Sub(moment(2, i), squares(p, q));
        const auto covariance = hn::Sub(moment(3, i), hn::Mul(p, q));
        const auto alike =
            hn::Mul(hn::Add(hn::Mul(two, hn::Mul(mean_a, mean_b)), c1), hn::Add(hn::Mul(two, covariance), c2));
        const auto similar = hn::Div(alike, hn::Mul(hn::Add(squares(mean_a, mean_b), c1), hn::Add(variances, c2)));
        auto fixed = hn::NearestInt(hn::Mul(hn::Min(hn::Max(similar, hn::Neg(one)), one), unit));
        if (i + lanes > count) fixed = hn::IfThenElseZero(hn::FirstN(integers, count - i), fixed);
        lower = hn::Add(lower, hn::PromoteTo(wide, hn::LowerHalf(half, fixed)));
        upper = hn::Add(upper, hn::PromoteTo(wide, hn::UpperHalf(half, fixed)));
    }
    HWY_ALIGN std::int64_t sums[hn::MaxLanes(wide)];
    hn::Store(hn::Add(lower, upper), wide, sums);
    for (std::size_t lane = 0; lane < hn::Lanes(wide); ++lane) sum += sums[lane];
#endif
    return sum;
}

std::int64_t window_row(const float* moments, const float* weights, std::size_t taps, float center, std::size_t count) {
    return with_taps(taps, [=](auto count_of_taps) HWY_ATTR {
        return sum_of_similarities(center, count, [=](std::size_t moment, std::size_t i) HWY_ATTR {
            const hn::ScalableTag<float> tag;
            const float* const from = moments + moment * kSsimStride + i;
            auto sum = hn::Zero(tag);
            for_each(count_of_taps, [&](auto step) HWY_ATTR {
                const std::size_t k = tap_of_step(step, count_of_taps);
                sum = fused(tag, hn::Set(tag, weights[k]), hn::LoadU(tag, from + k), sum);
            });
            return sum;
        });
    });
}

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(filter_row);
HWY_EXPORT(luma_row);
HWY_EXPORT(products_row);
HWY_EXPORT(filter_rows);
HWY_EXPORT(window_row);

void filter(const float* in, std::size_t stride, std::span<const float> taps, std::size_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(filter_row)(in, stride, taps.data(), taps.size(), count, out);
}

void luma(const float* red, const float* green, const float* blue, std::size_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(luma_row)(red, green, blue, count, out);
}

void moment_products(const float* a, const float* b, float center, float* products) {
    HWY_DYNAMIC_DISPATCH(products_row)(a, b, center, products);
}

void filter_columns(std::span<const float* const> products, std::span<const float> weights, std::size_t rows,
                    float* out) {
    HWY_DYNAMIC_DISPATCH(filter_rows)(products.data(), weights.data(), weights.size(), rows, out);
}

std::int64_t sum_of_windows(const float* moments, std::span<const float> weights, float center, std::size_t count) {
    return HWY_DYNAMIC_DISPATCH(window_row)(moments, weights.data(), weights.size(), center, count);
}

}  // namespace texton::detail
#endif
