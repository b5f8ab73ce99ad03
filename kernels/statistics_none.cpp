#include "kernels/statistics.h"

namespace texton::detail {

// Without CUDA there is no such device.
void collect_on_cuda(Backend&, StreamHandle, std::uint64_t, const StatisticsSource&, const HistogramRange&,
                     Statistics*) {}

}  // namespace texton::detail
