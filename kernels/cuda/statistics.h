#pragma once
// The CUDA kernels that collect statistics, declared for the code that launches them, which the host compiler compiles.
#include <texton/pixel_target.h>

#include "kernels/functors/statistics.h"

namespace texton::detail {

/// The tiles of the texture that the blocks process, counted row by row and layer by layer.
struct TileGrid {
    unsigned across;
    unsigned down;
    unsigned layers;

    std::int64_t count() const { return std::int64_t{across} * down * layers; }
};

struct StatisticsTiles {
    static constexpr unsigned kWidth = 32;
    static constexpr unsigned kHeight = 8;
    static constexpr unsigned kTexels = kWidth * kHeight;  ///< one thread per texel
};

/// Tiles for texels with 8 bits per channel, whose codes are counted as they are stored. A tile consists of units of 16
/// bytes.
struct CodeTiles {
    static constexpr unsigned kUnitBytes = 16;
    static constexpr unsigned kWidth = 16;
    static constexpr unsigned kHeight = 128;
    static constexpr unsigned kThreads = 1024;
    static constexpr unsigned kUnits = kWidth * kHeight / kThreads;  ///< units of a thread, below each other

    /// Counters have 16 bits, and each byte of a 32-bit word has separate counters. Each lane of a warp has its own
    /// counters, in a bank of their own, so that lanes never conflict.
    static constexpr unsigned kLanes = 32;
    static constexpr unsigned kSharedBytes = 2 * Statistics::kBins * kLanes * 4;
    /// Maximum number of tiles of a block, so that no counter overflows.
    static constexpr std::int64_t kMax = 65535 / (kThreads / kLanes * kUnits * kUnitBytes / 4);
};

/// Returns the CUDA kernel for this number of channels. Its parameters are the texture's handle, StatisticsSource,
/// TileGrid, HistogramRange and Statistics*.
[[nodiscard]] const void* collect_kernel(int channels);
/// Returns the CUDA kernel that counts the codes of these texels. Its parameters are PixelTarget (the texels),
/// TileGrid, a bool (whether fetches filter), HistogramRange and Statistics*.
[[nodiscard]] const void* collect_codes_kernel(const PixelTarget& texels);

}  // namespace texton::detail
