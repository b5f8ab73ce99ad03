// The order of the sums of SSIM's and FLIP's filters, which every device uses.
#pragma once
#include <cmath>
#include <cstddef>

#include <texton/host_device.h>

namespace texton::detail {

/// Returns which of `count` taps a filter adds at a step: the first, the last, the second, and so on to the middle, whose
/// weight is usually the largest. So most sums are small when they are rounded.
TEXTON_HD constexpr std::size_t tap_of_step(std::size_t step, std::size_t count) {
    return step % 2 == 0 ? step / 2 : count - 1 - step / 2;
}

/// Returns the sum of weights[k] * value(k), in the order of tap_of_step(). Each product is fused with the sum. The second
/// half of the weights is not read: weights[count - 1 - k] is weights[k] * mirror.
template <class Value>
TEXTON_HD float weighted_sum(const float* weights, std::size_t count, float mirror, const Value& value) {
    float sum = 0;
    for (std::size_t k = 0; k < count / 2; ++k) {
        const float weight = weights[k];
        sum = std::fma(weight, value(k), sum);
        sum = std::fma(weight * mirror, value(count - 1 - k), sum);
    }
    return count % 2 == 0 ? sum : std::fma(weights[count / 2], value(count / 2), sum);
}

}  // namespace texton::detail
