#pragma once
// The kernels that collect statistics on a CUDA device, for the host compiler to launch.
#include <texton/pixel_target.h>

#include "kernels/functors/statistics.h"

namespace texton::detail {

/// What the blocks of threads go through: tiles of the texture, row by row and layer by layer.
struct TileGrid {
    unsigned across;
    unsigned down;
    unsigned layers;

    std::int64_t count() const { return std::int64_t{across} * down * layers; }
};

struct StatisticsTiles {
    static constexpr unsigned kWidth = 32;
    static constexpr unsigned kHeight = 8;
    static constexpr unsigned kTexels = kWidth * kHeight;  ///< a thread each
};

/// The same for texels of 8 bits a channel, whose bytes are counted as they are stored: tiles of units of 16 bytes.
struct CodeTiles {
    static constexpr unsigned kUnitBytes = 16;
    static constexpr unsigned kWidth = 16;
    static constexpr unsigned kHeight = 128;
    static constexpr unsigned kThreads = 1024;
    static constexpr unsigned kUnits = kWidth * kHeight / kThreads;  ///< of a thread, below each other

    /// Counts of 16 bits, of each byte of a word apart; those of a lane are in a bank of its own, whatever the bytes are.
    static constexpr unsigned kLanes = 32;
    static constexpr unsigned kSharedBytes = 2 * Statistics::kBins * kLanes * 4;
    /// A block's, so that no count overflows.
    static constexpr std::int64_t kMost = 65535 / (kThreads / kLanes * kUnits * kUnitBytes / 4);
};

/// A kernel that takes the texture's handle, StatisticsSource, TileGrid, HistogramRange and Statistics*, for so
/// many channels.
[[nodiscard]] const void* collect_kernel(int channels);
/// Where the texels lie, TileGrid, whether the fetches filter, HistogramRange and Statistics*.
[[nodiscard]] const void* collect_codes_kernel(const PixelTarget& texels);

}  // namespace texton::detail
