#pragma once
// Weights of the separable filters, for CUDA kernels that are compiled once for all filters. For code that nvcc
// compiles.
#include <cstdint>
#include <type_traits>

#include "kernels/functors/resample_functors.h"

namespace texton::resampling {

/// The texels that a pixel reads along an axis.
struct TapSpan {
    std::int32_t first;
    std::int32_t count;
};

/// Writes the weights of a pixel to weights[0], weights[distance], ... Not inlined, since the code for all filters is
/// large.
__device__ __noinline__ static TapSpan compute_weights(ResampleFilter filter, const Axis& axis, std::int32_t pixel,
                                                       float* weights, std::int32_t distance) {
    return with_weights(filter, [&]<class Weights>(std::type_identity<Weights>) {
        const Weights own(axis, pixel);
        for (std::int32_t tap = 0; tap < own.count(); ++tap) weights[tap * distance] = own(tap);
        return TapSpan{own.first(), own.count()};
    });
}

/// Returns how many texels a pixel reads along an axis, at most.
inline std::int32_t max_taps(ResampleFilter filter, const Axis& axis) {
    return with_weights(filter, [&]<class Weights>(std::type_identity<Weights>) { return Weights::max_count(axis); });
}

}  // namespace texton::resampling
