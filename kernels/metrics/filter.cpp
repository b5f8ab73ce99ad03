#include "kernels/metrics/filter.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/metrics/filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The same as filter_row() for an odd number of taps that are equal from both ends: half as many products. The number may
// be a constant, with which the loops are unrolled.
template <class Count>
HWY_INLINE void filter_symmetric(const float* in, std::size_t stride, const float* taps, Count tap_count,
                                 std::size_t count, float* out) {
    const hn::ScalableTag<float> tag;
    const std::size_t lanes = hn::Lanes(tag), middle = tap_count / 2, last = (tap_count - 1) * stride;
    const auto sum_of_pair = [&](const float* from, std::size_t k) {
        return hn::Add(hn::LoadU(tag, from + k * stride), hn::LoadU(tag, from + last - k * stride));
    };
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        const float* from[4] = {in + i, in + i + lanes, in + i + 2 * lanes, in + i + 3 * lanes};
        const auto center = hn::Set(tag, taps[middle]);
        auto sum0 = hn::Mul(center, hn::LoadU(tag, from[0] + middle * stride));
        auto sum1 = hn::Mul(center, hn::LoadU(tag, from[1] + middle * stride));
        auto sum2 = hn::Mul(center, hn::LoadU(tag, from[2] + middle * stride));
        auto sum3 = hn::Mul(center, hn::LoadU(tag, from[3] + middle * stride));
        for (std::size_t k = 0; k < middle; ++k) {
            const auto tap = hn::Set(tag, taps[k]);
            sum0 = hn::Add(sum0, hn::Mul(tap, sum_of_pair(from[0], k)));
            sum1 = hn::Add(sum1, hn::Mul(tap, sum_of_pair(from[1], k)));
            sum2 = hn::Add(sum2, hn::Mul(tap, sum_of_pair(from[2], k)));
            sum3 = hn::Add(sum3, hn::Mul(tap, sum_of_pair(from[3], k)));
        }
        hn::StoreU(sum0, tag, out + i);
        hn::StoreU(sum1, tag, out + i + lanes);
        hn::StoreU(sum2, tag, out + i + 2 * lanes);
        hn::StoreU(sum3, tag, out + i + 3 * lanes);
    }
    for (; i < count; ++i) {
        float sum = taps[middle] * in[i + middle * stride];
        for (std::size_t k = 0; k < middle; ++k) sum += taps[k] * (in[i + k * stride] + in[i + last - k * stride]);
        out[i] = sum;
    }
}

void filter_row(const float* in, std::size_t stride, const float* taps, std::size_t tap_count, std::size_t count,
                float* out) {
    if (tap_count % 2 == 1 && std::equal(taps, taps + tap_count / 2, std::reverse_iterator(taps + tap_count)))
        return tap_count == kSsimWindow && stride == 1
                   ? filter_symmetric(in, 1, taps, std::integral_constant<std::size_t, kSsimWindow>(), count, out)
                   : filter_symmetric(in, stride, taps, tap_count, count, out);
    const hn::ScalableTag<float> tag;
    const std::size_t lanes = hn::Lanes(tag);
    std::size_t i = 0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
        auto sum0 = hn::Zero(tag), sum1 = sum0, sum2 = sum0, sum3 = sum0;
        for (std::size_t k = 0; k < tap_count; ++k) {
            const float* from = in + i + k * stride;
            const auto tap = hn::Set(tag, taps[k]);
            sum0 = hn::Add(sum0, hn::Mul(tap, hn::LoadU(tag, from)));
            sum1 = hn::Add(sum1, hn::Mul(tap, hn::LoadU(tag, from + lanes)));
            sum2 = hn::Add(sum2, hn::Mul(tap, hn::LoadU(tag, from + 2 * lanes)));
            sum3 = hn::Add(sum3, hn::Mul(tap, hn::LoadU(tag, from + 3 * lanes)));
        }
        hn::StoreU(sum0, tag, out + i);
        hn::StoreU(sum1, tag, out + i + lanes);
        hn::StoreU(sum2, tag, out + i + 2 * lanes);
        hn::StoreU(sum3, tag, out + i + 3 * lanes);
    }
    for (; i < count; ++i) {
        float sum = 0;
        for (std::size_t k = 0; k < tap_count; ++k) sum += taps[k] * in[i + k * stride];
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

void products_row(const float* a, const float* b, float center, std::size_t count, float* out) {
    for_each_vector(count, [=](auto tag, std::size_t i) HWY_ATTR {
        const auto middle = hn::Set(tag, center);
        const auto p = hn::Sub(hn::LoadU(tag, a + i), middle), q = hn::Sub(hn::LoadU(tag, b + i), middle);
        hn::StoreU(p, tag, out + i);
        hn::StoreU(q, tag, out + count + i);
        hn::StoreU(hn::Add(hn::Mul(p, p), hn::Mul(q, q)), tag, out + 2 * count + i);
        hn::StoreU(hn::Mul(p, q), tag, out + 3 * count + i);
    });
}

// Adds the similarities of windows, whose moments `moments(i, load)` returns: of the windows from `i` on, with as many
// lanes as `load` loads.
template <class Moments>
HWY_INLINE std::int64_t sum_of_rows(float center, std::size_t count, const Moments& moments) {
    std::int64_t sum = 0;
    std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const hn::ScalableTag<float> tag;
    const hn::Rebind<std::int32_t, decltype(tag)> integers;
    const hn::Half<decltype(integers)> half;
    const hn::Repartition<std::int64_t, decltype(integers)> wide;
    const std::size_t lanes = hn::Lanes(tag);
    const auto middle = hn::Set(tag, center), two = hn::Set(tag, 2.0f), one = hn::Set(tag, 1.0f);
    const auto c1 = hn::Set(tag, kSsimC1), c2 = hn::Set(tag, kSsimC2), unit = hn::Set(tag, kSsimUnit);
    auto lower = hn::Zero(wide), upper = hn::Zero(wide);
    for (; i + lanes <= count; i += lanes) {
        const auto p = moments(tag, 0, i), q = moments(tag, 1, i);
        const auto mean_a = hn::Add(p, middle), mean_b = hn::Add(q, middle);
        const auto variances = hn::Sub(moments(tag, 2, i), hn::Add(hn::Mul(p, p), hn::Mul(q, q)));
        const auto covariance = hn::Sub(moments(tag, 3, i), hn::Mul(p, q));
        const auto means = hn::Add(hn::Add(hn::Mul(mean_a, mean_a), hn::Mul(mean_b, mean_b)), c1);
        const auto alike =
            hn::Mul(hn::Add(hn::Mul(two, hn::Mul(mean_a, mean_b)), c1), hn::Add(hn::Mul(two, covariance), c2));
        const auto similar = hn::Div(alike, hn::Mul(means, hn::Add(variances, c2)));
        const auto fixed = hn::NearestInt(hn::Mul(hn::Min(hn::Max(similar, hn::Neg(one)), one), unit));
        lower = hn::Add(lower, hn::PromoteTo(wide, hn::LowerHalf(half, fixed)));
        upper = hn::Add(upper, hn::PromoteTo(wide, hn::UpperHalf(half, fixed)));
    }
    HWY_ALIGN std::int64_t sums[hn::MaxLanes(wide)];
    hn::Store(hn::Add(lower, upper), wide, sums);
    for (std::size_t lane = 0; lane < hn::Lanes(wide); ++lane) sum += sums[lane];
#endif
    const hn::CappedTag<float, 1> single;
    const auto value = [&](std::size_t moment) { return hn::GetLane(moments(single, moment, i)); };
    for (; i < count; ++i) sum += fixed_similarity(value(0), value(1), value(2), value(3), center);
    return sum;
}

std::int64_t similarity_row(const float* moments, std::size_t stride, float center, std::size_t count) {
    return sum_of_rows(center, count, [=](auto tag, std::size_t moment, std::size_t i) {
        return hn::LoadU(tag, moments + moment * stride + i);
    });
}

// Filters down the columns of kSsimWindow rows at once, with the sums in the order of filter_symmetric().
std::int64_t window_row(const float* const* rows, const float* weights, std::size_t stride, float center,
                        std::size_t count) {
    constexpr std::size_t kMiddle = kSsimWindow / 2;
    const float* row[kSsimWindow];
    float taps[kMiddle + 1];
    std::copy_n(rows, kSsimWindow, row);
    std::copy_n(weights, kMiddle + 1, taps);
    return sum_of_rows(center, count, [&](auto tag, std::size_t moment, std::size_t i) {
        const std::size_t at = moment * stride + i;
        auto sum = hn::Mul(hn::Set(tag, taps[kMiddle]), hn::LoadU(tag, row[kMiddle] + at));
        for (std::size_t k = 0; k < kMiddle; ++k) {
            const auto pair = hn::Add(hn::LoadU(tag, row[k] + at), hn::LoadU(tag, row[kSsimWindow - 1 - k] + at));
            sum = hn::Add(sum, hn::Mul(hn::Set(tag, taps[k]), pair));
        }
        return sum;
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
HWY_EXPORT(similarity_row);
HWY_EXPORT(window_row);

void filter(const float* in, std::size_t stride, std::span<const float> taps, std::size_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(filter_row)(in, stride, taps.data(), taps.size(), count, out);
}

void luma(const float* red, const float* green, const float* blue, std::size_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(luma_row)(red, green, blue, count, out);
}

void moment_products(const float* a, const float* b, float center, std::size_t count, float* products) {
    HWY_DYNAMIC_DISPATCH(products_row)(a, b, center, count, products);
}

std::int64_t sum_of_similarities(const float* moments, std::size_t stride, float center, std::size_t count) {
    return HWY_DYNAMIC_DISPATCH(similarity_row)(moments, stride, center, count);
}

std::int64_t sum_of_windows(const std::array<const float*, kSsimWindow>& rows, std::span<const float> weights,
                            std::size_t stride, float center, std::size_t count) {
    return HWY_DYNAMIC_DISPATCH(window_row)(rows.data(), weights.data(), stride, center, count);
}

}  // namespace texton::detail
#endif
