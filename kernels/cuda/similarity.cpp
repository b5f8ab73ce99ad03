#include <algorithm>
#include <limits>

#include "kernels/cuda/device_comparison.h"
#include "kernels/metrics/parts.h"

namespace texton::detail {
namespace {

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) { return (value + by - 1) / by; }

}  // namespace

void measure_ssim(const DeviceComparison& comparison, Comparison& result) {
    ComparedImages images = comparison.images();
    const std::vector<float> across = ssim_window(images.width), down = ssim_window(images.height);
    SsimWeights weights{};
    std::ranges::copy(across, weights.across);
    std::ranges::copy(down, weights.down);
    weights.across_count = static_cast<unsigned>(across.size());
    weights.down_count = static_cast<unsigned>(down.size());
    weights.scale = 1 / result.peak;
    const Extent windows{images.width - across.size() + 1, images.height - down.size() + 1, images.depth};

    // The windows of planes that do not differ have a similarity of 1.
    const std::uint64_t window_count = windows.width * windows.height * windows.depth;
    std::array<std::int64_t, kSsimPlanes> of_planes;
    of_planes.fill(static_cast<std::int64_t>(window_count) << 30);
    const auto differs = [](const Difference& channel) { return channel.differing != 0; };
    unsigned planes = 0;
    for (unsigned c = 0; c < images.channels; ++c) {
        if (differs(result.channels[c])) weights.planes[planes++] = c;
    }
    if (images.channels >= 3 && std::ranges::any_of(std::span(result.channels).first(3), differs))
        weights.planes[planes++] = kSsimLuma;
    if (planes != 0) {
        // There are fewer tiles than 2^31, the maximum of a grid, unless tiles have a single window.
        const std::uint64_t tiles =
            divide_up(windows.width, kSsimTileWidth) * divide_up(windows.height, kSsimTileHeight) * windows.depth;
        const Linear shared = comparison.zeros<unsigned long long>(kSsimPlanes);
        auto* sums = DeviceComparison::address<unsigned long long>(shared);
        void* arguments[] = {&images, &weights, &sums};
        constexpr std::uint64_t kMaxPitch = std::numeric_limits<unsigned>::max();
        const bool has_full_windows = across.size() == kSsimWindow && down.size() == kSsimWindow &&
                                      std::max(images.a.pitch, images.b.pitch) <= kMaxPitch;
        comparison.launch(similarity_kernel(images.format, has_full_windows), {static_cast<unsigned>(tiles), planes, 1},
                          SsimBlocks::kThreads, arguments, similarity_bytes(has_full_windows));
        const auto found = comparison.read<unsigned long long>(shared, kSsimPlanes);
        for (unsigned i = 0; i < planes; ++i) of_planes[weights.planes[i]] = static_cast<std::int64_t>(found[i]);
    }
    finish_ssim(of_planes, windows, result);
}

}  // namespace texton::detail
