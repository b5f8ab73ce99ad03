#include <algorithm>

#include "core/cuda_backend.h"
#include "kernels/statistics.h"

namespace texton::detail {

void collect_on_cuda(Backend& device, StreamHandle stream, std::uint64_t texture, const StatisticsSource& source,
                     const HistogramRange& range, Statistics* statistics) {
    constexpr std::int64_t kBlocksAtOnce = 8;  // of a multiprocessor: 2048 threads
    constexpr auto kWidth = static_cast<std::int32_t>(StatisticsTiles::kWidth);
    constexpr auto kHeight = static_cast<std::int32_t>(StatisticsTiles::kHeight);
    StatisticsTiles tiles{};
    tiles.across = (source.shape.width + kWidth - 1) / kWidth;
    tiles.down = (source.shape.height + kHeight - 1) / kHeight;
    tiles.count = tiles.across * tiles.down * (source.layered ? source.shape.layers : 1);
    const auto blocks =
        static_cast<unsigned>(std::min<std::int64_t>(tiles.count, device.properties().multiprocessors * kBlocksAtOnce));
    auto handle = static_cast<cudaTextureObject_t>(texture);
    StatisticsSource from = source;
    HistogramRange bins = range;
    void* arguments[] = {&handle, &from, &tiles, &bins, &statistics};
    const DeviceScope scope(static_cast<CudaBackend&>(device).ordinal());
    call<cudaLaunchKernel>(collect_kernel(source.channels), dim3{blocks, 1, 1}, dim3{StatisticsTiles::kTexels, 1, 1},
                           arguments, std::size_t{0}, native(stream));
}

}  // namespace texton::detail
