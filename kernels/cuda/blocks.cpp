#include "kernels/cuda/blocks.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "core/backing.h"
#include "core/cuda/call.h"
#include "core/cuda/device.h"
#include "kernels/launch/image_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::detail {
namespace {

constexpr unsigned kGranted = 48 << 10;  // bytes of shared memory that a CUDA kernel gets without a request
constexpr unsigned kMaxRounds = 4;       // of blocks; more rounds overlap

int ordinal_of(const Stream& stream) { return static_cast<CudaBackend&>(stream.device().backend()).ordinal(); }

// Limits of the blocks of a device.
struct BlockLimits {
    unsigned opt_in_memory;             // bytes of shared memory that a block gets after a request
    unsigned multiprocessor_memory;     // bytes of shared memory of a multiprocessor
    unsigned reserved_memory;           // bytes that each block needs in addition
    unsigned blocks_of_multiprocessor;  // blocks that a multiprocessor runs at the same time
};

BlockLimits read_limits(int device) {
    const auto attribute = [device](cudaDeviceAttr which) {
        int value = 0;
        call<cudaDeviceGetAttribute>(&value, which, device);
        return static_cast<unsigned>(value);
    };
    return {attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
            attribute(cudaDevAttrReservedSharedMemoryPerBlock), attribute(cudaDevAttrMaxBlocksPerMultiprocessor)};
}

// Writes the attribute of the result, which must exist while the result is used.
cudaLaunchConfig_t launch_config(const BlockGrid& grid, cudaLaunchAttribute& attribute) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = grid.cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = {grid.blocks[0], grid.blocks[1], grid.blocks[2]};
    config.blockDim = {grid.threads[0], grid.threads[1], 1};
    config.dynamicSmemBytes = grid.shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = grid.cluster > 1 ? 1 : 0;  // devices without clusters refuse the attribute
    return config;
}

// What was asked of the devices. The calls of the driver would take as long as a launch.
class Answers {
public:
    BlockLimits limits(int device) {
        const std::lock_guard lock(mutex_);
        const auto found = limits_.find(device);
        return found != limits_.end() ? found->second : limits_.emplace(device, read_limits(device)).first->second;
    }
    // Raises the limit of the CUDA kernel to all shared memory of the device: the limit is an attribute of the CUDA
    // kernel, and another thread may be about to launch it with more than `bytes`.
    void ask_for_shared_memory(const void* kernel, unsigned bytes, int device) {
        if (bytes <= kGranted) return;
        const unsigned maximum = limits(device).opt_in_memory;
        const std::lock_guard lock(mutex_);
        if (raised_.contains({kernel, device})) return;
        cudaFuncAttributes of_kernel{};
        call<cudaFuncGetAttributes>(&of_kernel, kernel);
        call<cudaFuncSetAttribute>(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(maximum - of_kernel.sharedSizeBytes));
        raised_.emplace(kernel, device);
    }

    unsigned clusters(const void* kernel, const BlockGrid& grid, int device) {
        ask_for_shared_memory(kernel, grid.shared_bytes, device);
        const std::lock_guard lock(mutex_);
        const auto found = clusters_.find({kernel, device});
        if (found != clusters_.end()) return found->second;
        return clusters_.emplace(std::pair(kernel, device), count_clusters(kernel, grid)).first->second;
    }

private:
    static unsigned count_clusters(const void* kernel, const BlockGrid& grid) {
        constexpr int kFirstVersion = 90;  // of PTX code that knows clusters
        cudaFuncAttributes of_kernel{};
        call<cudaFuncGetAttributes>(&of_kernel, kernel);
        if (of_kernel.ptxVersion < kFirstVersion) return 0;
        cudaLaunchAttribute attribute{};
        const cudaLaunchConfig_t config = launch_config(grid, attribute);
        int count = 0;
        return ask<cudaOccupancyMaxActiveClusters>(&count, kernel, &config) == cudaSuccess
                   ? static_cast<unsigned>(count)
                   : 0;
    }

    std::mutex mutex_;
    std::map<int, BlockLimits> limits_;
    std::map<std::pair<const void*, int>, unsigned> clusters_;
    std::set<std::pair<const void*, int>> raised_;  // the CUDA kernels whose limit was raised
};

Answers& answers() {
    static Answers kAnswers;
    return kAnswers;
}

}  // namespace

unsigned blocks_at_once(const Launch& launch, unsigned threads, unsigned shared_bytes) {
    constexpr unsigned kThreads = 1024;  // of a multiprocessor, with 64 registers each
    const LaunchState& state = launch.state();
    return request(state.backend, state.object, {}, [&]() -> unsigned {
        const BlockLimits limits = answers().limits(ordinal_of(state.stream));
        if (shared_bytes > limits.opt_in_memory) return 0;
        const unsigned by_memory = limits.multiprocessor_memory / (shared_bytes + limits.reserved_memory);
        const unsigned blocks = std::min({by_memory, kThreads / threads, limits.blocks_of_multiprocessor});
        return blocks * static_cast<unsigned>(state.backend->properties().multiprocessors);
    });
}

unsigned clusters_at_once(const Launch& launch, const void* kernel, const BlockGrid& grid) {
    const LaunchState& state = launch.state();
    return request(state.backend, state.object, {}, [&] {
        const int device = ordinal_of(state.stream);
        const DeviceScope scope(device);
        return answers().clusters(kernel, grid, device);
    });
}

unsigned first_row_of(const Launch& launch) {
    const ImageRows* const rows = ImageRowsScope::of(launch.state().image);
    return rows != nullptr ? static_cast<unsigned>(rows->first) : 0;
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

unsigned rows_of_block(const RestartedBlocks& blocks) {
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    unsigned best = 0;
    std::uint64_t minimum = 0;
    const unsigned maximum =
        std::min(parts(blocks.height, blocks.step), kMaxRounds * blocks.at_once / blocks.strips + 1);
    for (unsigned pieces = 1; pieces <= maximum; ++pieces) {
        const unsigned rows = parts(parts(blocks.height, pieces), blocks.step) * blocks.step;
        const unsigned rounds = parts(blocks.strips * parts(blocks.height, rows), blocks.at_once);
        const std::uint64_t time = std::uint64_t{rounds} * (rows + blocks.before);
        if (best != 0 && time >= minimum) continue;
        minimum = time;
        best = rows;
    }
    return best;
}

unsigned rows_of_block(const RestartedBlocks& blocks, unsigned min_rows, unsigned max_rows) {
    const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
    unsigned best = max_rows;
    std::uint64_t minimum = ~std::uint64_t{0};
    for (unsigned rows = max_rows; rows >= min_rows; rows -= blocks.step) {
        const unsigned rounds = parts(blocks.strips * parts(blocks.height, rows), blocks.at_once);
        if (rounds > kMaxRounds) break;
        const std::uint64_t time = std::uint64_t{rounds} * (rows + blocks.before);
        if (time >= minimum) continue;
        minimum = time;
        best = rows;
    }
    return best;
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
        answers().ask_for_shared_memory(kernel, grid.shared_bytes, ordinal_of(stream));
        cudaLaunchAttribute attribute{};
        cudaLaunchConfig_t config = launch_config(grid, attribute);
        config.stream = native(stream.state()->handle);
        call<cudaLaunchKernelExC>(&config, kernel, arguments);
    });
    use.enqueued();
}

}  // namespace texton::detail
