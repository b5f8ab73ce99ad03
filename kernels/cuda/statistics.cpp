#include <algorithm>
#include <functional>

#include "arrays/texture_state.h"
#include "core/cuda/device.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/key_counts.h"
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

TileGrid fetched_tiles(const StatisticsSource& from) {
    return {tiles_along(from.shape.width, StatisticsTiles::kWidth),
            tiles_along(from.shape.height, StatisticsTiles::kHeight),
            from.layered ? static_cast<unsigned>(from.shape.layers) : 1};
}

void collect_fetches(const CudaBackend& device, StreamHandle stream, const Texture& texture, StatisticsSource from,
                     HistogramRange range, Statistics* statistics) {
    constexpr std::int64_t kBlocksAtOnce = 8;  // blocks of a multiprocessor: 2048 threads
    TileGrid tiles = fetched_tiles(from);
    const auto blocks = static_cast<unsigned>(
        std::min<std::int64_t>(tiles.count(), device.properties().multiprocessors * kBlocksAtOnce));
    const TextureState& state = *texture.state();
    auto handle = static_cast<cudaTextureObject_t>(state.sampling->texture_number(state.handle));
    void* arguments[] = {&handle, &from, &tiles, &range, &statistics};
    call<cudaLaunchKernel>(collect_kernel(from.channels), dim3{blocks, 1, 1}, dim3{StatisticsTiles::kTexels, 1, 1},
                           arguments, std::size_t{0}, native(stream));
}

/// Enqueues kernels that read the texture of a launch.
void enqueue(Launch& launch, const std::function<void(const CudaBackend&, StreamHandle, const Texture&)>& kernels) {
    const LaunchState& state = launch.state();
    const Texture& texture = state.textures[0];
    const auto& device = static_cast<const CudaBackend&>(*state.backend);
    BackingUse use(state.object, state.stream, owners_of(state));
    const Extent extent = texture.extent();
    request(state.backend, state.object, {{"width", extent.width}, {"height", extent.height}}, [&] {
        const DeviceScope scope(device.ordinal());
        kernels(device, state.stream.state()->handle, texture);
    });
    use.enqueued();
}

}  // namespace

bool CudaKernels::collect_statistics(Launch& launch, const StatisticsSource& source,
                                     const HistogramRange& range) const {
    auto* statistics = reinterpret_cast<Statistics*>(launch.state().target.address);
    enqueue(launch, [&](const CudaBackend& device, StreamHandle stream, const Texture& texture) {
        const bool has_codes = info(texture.format()).bits == 8 && info(texture.format()).layout == FormatLayout::plain;
        const auto texels = has_codes ? stored_texels(texture) : std::nullopt;
        if (texels)
            collect_codes(device, stream, *texels, texture, range, statistics);
        else
            collect_fetches(device, stream, texture, source, range, statistics);
    });
    return true;
}

bool CudaKernels::count_keys(Launch& launch, const StatisticsSource& source, const KeyHalf& half) const {
    auto* counts = reinterpret_cast<KeyCounts*>(launch.state().target.address);
    enqueue(launch, [&](const CudaBackend&, StreamHandle stream, const Texture& texture) {
        const TextureState& state = *texture.state();
        auto handle = static_cast<cudaTextureObject_t>(state.sampling->texture_number(state.handle));
        StatisticsSource from = source;
        KeyHalf counted = half;
        TileGrid tiles = fetched_tiles(from);
        void* arguments[] = {&handle, &from, &tiles, &counted, &counts};
        call<cudaLaunchKernel>(count_keys_kernel(from.channels), dim3{static_cast<unsigned>(tiles.count()), 1, 1},
                               dim3{StatisticsTiles::kTexels, 1, 1}, arguments, std::size_t{0}, native(stream));
    });
    return true;
}

}  // namespace texton::detail
