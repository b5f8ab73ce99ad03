#pragma once
// Weights of the separable filters, for CUDA kernels that are compiled once for all filters. For code that nvcc
// compiles.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/functors/resample_functors.h"

namespace texton::resampling {

/// The texels that a pixel reads along an axis.
struct TapSpan {
    std::int32_t first;
    std::int32_t count;
};

/// The weights of a filter before they are divided by their sum, if they are.
template <class Weights>
struct Undivided {
    using Type = Weights;
    static constexpr bool kAreDivided = false;
};
template <class Filter>
struct Undivided<Normalized<Filter>> {
    using Type = Filter;
    static constexpr bool kAreDivided = true;
};

/// Divides the weights of a pixel by their sum, as Normalized does. Returns how many weights there are.
__device__ inline std::int32_t divide_weights(float* weights, std::int32_t distance, std::int32_t count) {
    float total = 0;
    for (std::int32_t tap = 0; tap < count; ++tap) total += weights[tap * distance];
    if (total == 0) {
        for (std::int32_t tap = 0; tap < count; ++tap) weights[tap * distance] = tap == 0 ? 1.0f : 0.0f;
        return 1;
    }
    for (std::int32_t tap = 0; tap < count; ++tap) weights[tap * distance] /= total;
    return count;
}

/// Writes the weights of a pixel to weights[0], weights[distance], ... Not inlined, since the code for all filters is
/// large.
__device__ __noinline__ static TapSpan compute_weights(ResampleFilter filter, const Axis& axis, std::int32_t pixel,
                                                       float* weights, std::int32_t distance) {
    return with_weights(filter, [&]<class Weights>(std::type_identity<Weights>) {
        const typename Undivided<Weights>::Type own(axis, pixel);
        std::int32_t count = own.count();
        for (std::int32_t tap = 0; tap < count; ++tap) weights[tap * distance] = own(tap);
        if constexpr (Undivided<Weights>::kAreDivided) count = divide_weights(weights, distance, count);
        return TapSpan{own.first(), count};
    });
}

/// Writes a weight of a pixel before it is divided, or 0 if the pixel has fewer. Not inlined, for the same reason.
__device__ __noinline__ static TapSpan compute_weight(ResampleFilter filter, const Axis& axis, std::int32_t pixel,
                                                      std::int32_t tap, float* weight) {
    return with_weights(filter, [&]<class Weights>(std::type_identity<Weights>) {
        const typename Undivided<Weights>::Type own(axis, pixel);
        const std::int32_t count = own.count();
        *weight = tap < count ? own(tap) : 0.0f;
        return TapSpan{own.first(), count};
    });
}

/// Returns true if the weights of a filter are divided by their sum.
__device__ inline bool are_divided(ResampleFilter filter) {
    return with_weights(filter,
                        []<class Weights>(std::type_identity<Weights>) { return Undivided<Weights>::kAreDivided; });
}

/// Returns how many texels a pixel reads along an axis, at most.
inline std::int32_t max_taps(ResampleFilter filter, const Axis& axis) {
    return with_weights(filter, [&]<class Weights>(std::type_identity<Weights>) { return Weights::max_count(axis); });
}

/// Returns true if the coordinates of the pixels of an image are rounded by an eighth at most.
inline bool are_nearly_exact(const Axis& axis, std::uint32_t pixels) {
    constexpr float kExact = 1 << 20;
    const float end = axis.begin + axis.step * static_cast<float>(pixels);
    return std::max(std::abs(axis.begin), std::abs(end)) < kExact;
}

/// Does the same as max_taps() for the pixels of an image. The number is smaller where coordinates are nearly exact.
inline std::int32_t max_taps(ResampleFilter filter, const Axis& axis, std::uint32_t pixels) {
    const std::int32_t most = max_taps(filter, axis);
    const bool is_lanczos = filter == ResampleFilter::lanczos3 && axis.step > 1;
    if ((filter != ResampleFilter::area && !is_lanczos) || !are_nearly_exact(axis, pixels)) return most;
    return std::min(most, static_cast<std::int32_t>((is_lanczos ? 6 : 1) * axis.step + 2.25f));
}

}  // namespace texton::resampling
