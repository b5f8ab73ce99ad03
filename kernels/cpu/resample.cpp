// Separable resampling filters on the CPU device.
#include "kernels/functors/resample_functors.h"

#include <utility>

#include <texton/launch.h>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/separable.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

template <class Weights>
SumAxis sums_along(const resampling::Axis& axis, std::size_t pixels) {
    SumAxis sums;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(pixels); ++i) {
        const Weights weights(axis, i);
        for (std::int32_t tap = 0; tap < weights.count(); ++tap) sums.weights.push_back(weights(tap));
        sums.add_pixel(weights.first());
    }
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
