// Computes a level of a mip chain with the box filter from texels as they are stored. A side of the level above may be
// odd; then pixels cover parts of three texels, with weights of their own.
//
// A thread computes four adjacent values of a row, or several rows of them. The last texel that it needs is the first one
// of the next lane. The weights along x are the same in all
// rows, so the sum of a row of texels that belongs to two rows of pixels is computed once. Terms are added in the order
// of kernels/functors/mip_functors.h.
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/cuda/blocks.h"
#include "kernels/cuda/fused_mips.h"
#include "kernels/cuda/mip_rows.h"
#include "kernels/launch/launch_state.h"

namespace texton::mip {
namespace {

constexpr unsigned kThreadsAcross = 32;  // of a block: a warp
constexpr unsigned kThreadsDown = 8;

struct Job {
    StoredRows above;
    StoredRows level;
    Halving x;
    Halving y;
    float total;  // of the weights of a pixel
    bool layered;
};

/// Rows of pixels that a thread computes.
template <class Format>
constexpr unsigned kRows = sizeof(typename Format::Words) == sizeof(uint4) ? 1 : 2;

template <class Format, int channels>
__global__ void __launch_bounds__(kThreadsAcross* kThreadsDown) make_level(const __grid_constant__ Job job) {
    using Texels = RowTexels<Format, channels>;
    using Stored = typename Format::Stored;
    constexpr unsigned kOwnRows = kRows<Format>;
    constexpr unsigned kLoaded = 2 * kOwnRows + 1;
    const unsigned lanes = computing_lanes(job.x);
    const unsigned pixel = (blockIdx.x * lanes + threadIdx.x) * Texels::kPixels;
    const unsigned begin = (blockIdx.y * kThreadsDown + threadIdx.y) * kOwnRows;
    if (begin >= job.level.texels.height) return;
    const unsigned layer = job.layered ? blockIdx.z : 0;
    const int taps = taps_along(job.y);
    // All rows are loaded before the first one is summed, so that many loads are in flight.
    Texels texels[kLoaded];
    with_memory_of(job.above, [&]<StoredIn in>(std::integral_constant<StoredIn, in>) {
#pragma unroll
        for (unsigned i = 0; i < kLoaded; ++i) {
            const unsigned row = ::min(2 * begin + i, static_cast<unsigned>(job.y.from) - 1);
            if (i < 2 * kOwnRows || taps > 2) texels[i].template load<in>(job.above, 2 * pixel, row, layer);
        }
    });
#pragma unroll
    for (unsigned i = 0; i < kLoaded; ++i) texels[i].take_last();
    if (threadIdx.x >= lanes) return;
    const AcrossWeights<Texels> across(job.x, pixel);
    auto first = across.sum(texels[0]);
#pragma unroll
    for (unsigned row = 0; row < kOwnRows; ++row) {
        const unsigned y = begin + row;
        if (y >= job.level.texels.height) return;
        const Taps<Box::kMax> down = Box{}.taps(job.y, static_cast<std::int32_t>(y));
        const auto second = across.sum(texels[2 * row + 1]);
        const auto third = across.sum(texels[2 * row + 2]);
        Stored results[kValues];
        store_means<Format>(first, second, third, down, taps, job.total, results);
        typename Format::Words words;
        ::memcpy(&words, results, sizeof words);
        write_words<typename Texels::Texel>(job.level, pixel * static_cast<unsigned>(sizeof(typename Texels::Texel)), y,
                                            blockIdx.z, words);
        first = third;
    }
}

}  // namespace

bool enqueue_level(const Step& step, const detail::Launch& launch) {
    const std::optional<StoredRows> above = rows_above(step);
    const std::optional<StoredRows> level = stored_rows(launch.target());
    if (!above || !level || above->texels.format.stored != level->texels.format.stored) return false;
    const Sides sides = sides_between(step.from, step.level.extent());
    const auto total = [](const Halving& axis) { return Box{}.taps(axis, 0).total; };
    Job job{*above, *level, sides.x, sides.y, total(sides.x) * total(sides.y), step.from.depth > 1};
    return detail::with_stored_values(level->texels.format.stored, [&]<class Format, int channels>() {
        const auto parts = [](unsigned side, unsigned part) { return (side + part - 1) / part; };
        const detail::PixelTarget& target = level->texels;
        void* arguments[] = {&job};
        detail::launch_blocks({&launch, 1}, reinterpret_cast<const void*>(&make_level<Format, channels>), arguments,
                              {{parts(target.width * channels, computing_lanes(job.x) * kValues),
                                parts(target.height, kThreadsDown * kRows<Format>), target.depth},
                               {kThreadsAcross, kThreadsDown}});
        return true;
    });
}

}  // namespace texton::mip
