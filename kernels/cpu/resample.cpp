// Separable resampling filters on the CPU device.
#include <utility>

#include <texton/launch.h>

#include "kernels/cpu/kernels.h"
#include "kernels/cpu/resample_weights.h"
#include "kernels/cpu/separable.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {

bool CpuKernels::resample(Launch& launch, const resampling::Separable& filter) const {
    if (line_sums() == nullptr) return false;
    const Extent& extent = launch.state().image.extent;
    SeparableSums sums{resampling_sums(filter.filter, filter.grid.x, extent.width),
                       resampling_sums(filter.filter, filter.grid.y, extent.height)};
    launch.run_job([sums = std::move(sums)](const CpuJob& job) { sum_separably(job, sums); });
    return true;
}

}  // namespace texton::detail
