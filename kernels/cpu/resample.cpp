// Separable resampling filters on the CPU device.
#include "kernels/functors/resample_functors.h"

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <texton/launch.h>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/separable.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

// Appends the weights of a pixel, and returns the first texel.
template <class Weights>
struct PixelWeights {
    static std::int32_t append(const resampling::Axis& axis, std::int32_t pixel, std::vector<float>& weights) {
        const Weights of(axis, pixel);
        const std::int32_t count = of.count();
        for (std::int32_t tap = 0; tap < count; ++tap) weights.push_back(of(tap));
        return of.first();
    }
};

// Does the same as Normalized, and computes each weight once.
template <class Filter>
struct PixelWeights<resampling::Normalized<Filter>> {
    static std::int32_t append(const resampling::Axis& axis, std::int32_t pixel, std::vector<float>& weights) {
        const std::size_t begin = weights.size();
        const std::int32_t first = PixelWeights<Filter>::append(axis, pixel, weights);
        const float total = std::accumulate(weights.begin() + static_cast<std::ptrdiff_t>(begin), weights.end(), 0.0f);
        if (total == 0) {
            weights.resize(begin);
            weights.push_back(1);
        } else {
            for (std::size_t i = begin; i < weights.size(); ++i) weights[i] /= total;
        }
        return first;
    }
};

template <class Weights>
SumAxis sums_along(const resampling::Axis& axis, std::size_t pixels) {
    SumAxis sums;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(pixels); ++i)
        sums.add_pixel(PixelWeights<Weights>::append(axis, i, sums.weights));
    return sums;
}

}  // namespace

bool CpuKernels::resample(Launch& launch, const resampling::Separable& filter) const {
    if (line_sums() == nullptr) return false;
    const Extent& extent = launch.state().image.extent;
    SeparableSums sums = resampling::with_weights(filter.filter, [&]<class Weights>(std::type_identity<Weights>) {
        return SeparableSums{sums_along<Weights>(filter.grid.x, extent.width),
                             sums_along<Weights>(filter.grid.y, extent.height)};
    });
    launch.run_job([sums = std::move(sums)](const CpuJob& job) { sum_separably(job, sums); });
    return true;
}

}  // namespace texton::detail
