#include "kernels/metrics/filter.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/metrics/filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace texton::detail {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void filter_row(const float* in, std::size_t stride, const float* taps, std::size_t tap_count, std::size_t count,
                float* out) {
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

}  // namespace HWY_NAMESPACE
}  // namespace texton::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace texton::detail {

HWY_EXPORT(filter_row);

void filter(const float* in, std::size_t stride, std::span<const float> taps, std::size_t count, float* out) {
    HWY_DYNAMIC_DISPATCH(filter_row)(in, stride, taps.data(), taps.size(), count, out);
}

}  // namespace texton::detail
#endif
