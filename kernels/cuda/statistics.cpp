#include <algorithm>

#include "arrays/texture_state.h"
#include "core/cuda/device.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/statistics.h"
#include "kernels/cuda/stored_texels.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }
unsigned tiles_along(std::int64_t side, std::int64_t tile) { return static_cast<unsigned>(divide_up(side, tile)); }

void collect_codes(const CudaBackend& device, StreamHandle stream, PixelTarget texels, const Texture& texture,
                   HistogramRange range, Statistics* statistics) {
    constexpr std::int64_t kBlocksAtOnce = 2;  // blocks of a multiprocessor: 2048 threads
    constexpr std::int64_t kTileBytes = std::int64_t{CodeTiles::kWidth} * CodeTiles::kUnitBytes;
    TileGrid tiles{tiles_along(std::int64_t{texels.width} * texels.format.stored.bytes, kTileBytes),
                   tiles_along(texels.height, CodeTiles::kHeight), texels.depth};
    const std::int64_t at_once = std::min(tiles.count(), device.properties().multiprocessors * kBlocksAtOnce);
    const auto blocks = static_cast<unsigned>(std::max(at_once, divide_up(tiles.count(), CodeTiles::kMax)));
    bool filters = texture.sampler().filter == Filter::linear;
    const void* kernel = collect_codes_kernel(texels);
    void* arguments[] = {&texels, &tiles, &filters, &range, &statistics};
    call<cudaFuncSetAttribute>(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(CodeTiles::kSharedBytes));
    call<cudaLaunchKernel>(kernel, dim3{blocks, 1, 1}, dim3{CodeTiles::kThreads, 1, 1}, arguments,
                           std::size_t{CodeTiles::kSharedBytes}, native(stream));
}

void collect_fetches(const CudaBackend& device, StreamHandle stream, const Texture& texture, StatisticsSource from,
                     HistogramRange range, Statistics* statistics) {
    constexpr std::int64_t kBlocksAtOnce = 8;  // blocks of a multiprocessor: 2048 threads
    TileGrid tiles{tiles_along(from.shape.width, StatisticsTiles::kWidth),
                   tiles_along(from.shape.height, StatisticsTiles::kHeight),
                   from.layered ? static_cast<unsigned>(from.shape.layers) : 1};
    const auto blocks = static_cast<unsigned>(
        std::min<std::int64_t>(tiles.count(), device.properties().multiprocessors * kBlocksAtOnce));
    const TextureState& state = *texture.state();
    auto handle = static_cast<cudaTextureObject_t>(state.sampling->texture_number(state.handle));
    void* arguments[] = {&handle, &from, &tiles, &range, &statistics};
    call<cudaLaunchKernel>(collect_kernel(from.channels), dim3{blocks, 1, 1}, dim3{StatisticsTiles::kTexels, 1, 1},
                           arguments, std::size_t{0}, native(stream));
}

}  // namespace

bool CudaKernels::collect_statistics(Launch& launch, const StatisticsSource& source,
                                     const HistogramRange& range) const {
    const LaunchState& state = launch.state();
    const Texture& texture = state.textures[0];
    const auto& device = static_cast<const CudaBackend&>(*state.backend);
    const StreamHandle stream = state.stream.state()->handle;
    auto* statistics = reinterpret_cast<Statistics*>(state.target.address);
    const bool has_codes = info(texture.format()).bits == 8 && info(texture.format()).layout == FormatLayout::plain;
    BackingUse use(state.object, state.stream, owners_of(state));
    const Extent extent = texture.extent();
    request(state.backend, state.object, {{"width", extent.width}, {"height", extent.height}}, [&] {
        const DeviceScope scope(device.ordinal());
        const auto texels = has_codes ? stored_texels(texture) : std::nullopt;
        if (texels)
            collect_codes(device, stream, *texels, texture, range, statistics);
        else
            collect_fetches(device, stream, texture, source, range, statistics);
    });
    use.enqueued();
    return true;
}

}  // namespace texton::detail
