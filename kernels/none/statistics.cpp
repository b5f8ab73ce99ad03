#include "kernels/functors/statistics.h"

namespace texton::detail {

// Without CUDA there is no such device.
void collect_on_cuda(Backend&, StreamHandle, const Texture&, const StatisticsSource&, const HistogramRange&,
                     Statistics*) {}

}  // namespace texton::detail
