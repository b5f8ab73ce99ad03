#include "kernels/cuda/blocks.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/backing.h"
#include "core/cuda/call.h"
#include "core/cuda/device.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

constexpr unsigned kGranted = 48 << 10;  // bytes of shared memory that a CUDA kernel gets without a request

int ordinal_of(const Stream& stream) { return static_cast<CudaBackend&>(stream.device().backend()).ordinal(); }

// Raises the limit of the CUDA kernel to all shared memory of the device: the limit is an attribute of the CUDA kernel,
// and another thread may be about to launch it with more than `bytes`.
void ask_for_shared_memory(const void* kernel, unsigned bytes, int device) {
    if (bytes <= kGranted) return;
    int maximum = 0;
    call<cudaDeviceGetAttribute>(&maximum, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    cudaFuncAttributes of_kernel{};
    call<cudaFuncGetAttributes>(&of_kernel, kernel);
    call<cudaFuncSetAttribute>(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               maximum - static_cast<int>(of_kernel.sharedSizeBytes));
}

}  // namespace

unsigned blocks_at_once(const Launch& launch, unsigned threads, unsigned shared_bytes) {
    constexpr unsigned kThreads = 1024;  // of a multiprocessor, with 64 registers each
    const LaunchState& state = launch.state();
    const int device = ordinal_of(state.stream);
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        call<cudaDeviceGetAttribute>(&value, which, device);
        return static_cast<unsigned>(value);
    };
    return request(state.backend, state.object, {}, [&]() -> unsigned {
        const DeviceScope scope(device);
        if (shared_bytes > attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) return 0;
        const unsigned by_memory = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) /
                                   (shared_bytes + attribute(cudaDevAttrReservedSharedMemoryPerBlock));
        const unsigned blocks =
            std::min({by_memory, kThreads / threads, attribute(cudaDevAttrMaxBlocksPerMultiprocessor)});
        return blocks * static_cast<unsigned>(state.backend->properties().multiprocessors);
    });
}

unsigned rows_of_runs(const Launch& launch, const StripBlocks& blocks) {
    constexpr unsigned kBlocks = 6;  // of a multiprocessor
    const unsigned enough = kBlocks * static_cast<unsigned>(launch.state().backend->properties().multiprocessors);
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    unsigned rows = blocks.rows;
    while (rows > blocks.min_rows && blocks.strips * parts(blocks.height, rows * blocks.runs) < enough)
        rows = std::max(rows / 2, blocks.min_rows);
    return rows;
}

void launch_blocks(std::span<const Launch> launches, const void* kernel, void** arguments, const BlockGrid& grid) {
    std::vector<BackingUse::Owner> owners;
    for (const Launch& launch : launches) std::ranges::move(owners_of(launch.state()), std::back_inserter(owners));
    const LaunchState& first = launches[0].state();
    const Stream& stream = first.stream;
    BackingUse use(first.object, stream, owners);
    const Extent& extent = first.image.extent;
    request(first.backend, first.object, {{"width", extent.width}, {"height", extent.height}}, [&] {
        const DeviceScope scope(ordinal_of(stream));
        ask_for_shared_memory(kernel, grid.shared_bytes, ordinal_of(stream));
        call<cudaLaunchKernel>(kernel, dim3{grid.blocks[0], grid.blocks[1], grid.blocks[2]},
                               dim3{grid.threads[0], grid.threads[1], 1}, arguments, std::size_t{grid.shared_bytes},
                               native(stream.state()->handle));
    });
    use.enqueued();
}

}  // namespace texton::detail
