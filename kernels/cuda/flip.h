#pragma once
// The CUDA kernels of FLIP, declared for the code that launches them, which the host compiler compiles. An image is
// processed in strips of rows. Planes of a strip have rows of the image's width, and also contain the rows above and
// below that the filters read; rows beyond the image repeat its edge.
#include "kernels/cuda/comparison.h"
#include "kernels/metrics/flip_color.h"

namespace texton::detail {

/// Weights of a filter, in memory of the device.
struct DeviceTaps {
    const float* weights;
    unsigned count;
    float mirror;  ///< 1, or -1 if the second half of the weights is the negative of the first one
};

/// The filters of FlipFilters. The first four are those of contrast sensitivity.
struct DeviceFilters {
    DeviceTaps across[4], down[4];
    DeviceTaps smooth, edge, point;
};

struct FlipStrip {
    static constexpr unsigned kOpponents = 3;  ///< planes of YCxCz
    static constexpr unsigned kFiltered = 7;   ///< planes that are filtered along the rows

    float* opponents;  ///< of image a, then of image b
    float* filtered;   ///< likewise
    float* errors;
    std::uint64_t z;
    std::uint64_t y;      ///< the first row of the strip
    unsigned rows;        ///< rows of the strip
    unsigned rim;         ///< rows above the strip, and below it
    unsigned all_rows;    ///< rows of a plane
    float exposure;       ///< of float formats
    bool is_first;        ///< true if the strip has no errors of other exposures
    const float* lights;  ///< linear light of each code, or null
};

struct FlipBlocks {
    static constexpr unsigned kThreads = 128;
};

// The parameters of each kernel begin with ComparedImages and FlipStrip. A block processes kThreads columns of a row:
// block (i, row, image).

/// Converts texels to YCxCz. Also has the parameter FlipColors.
[[nodiscard]] const void* flip_opponents_kernel();
/// Filters along the rows. Also has the parameter DeviceFilters.
[[nodiscard]] const void* flip_rows_kernel();
/// Filters down the columns, and computes errors or raises them to those of this exposure. Also has the parameters
/// FlipColors and DeviceFilters.
[[nodiscard]] const void* flip_errors_kernel();

/// Sums of errors, which blocks add to with atomic operations.
struct FlipSums {
    unsigned long long errors;  ///< in units of 2^-32
    unsigned max_bits;          ///< bits of the largest error
};

/// Sets the errors of texels that compare NaN or infinity with another value to 1, and adds up all errors. Also has the
/// parameter FlipSums*.
[[nodiscard]] const void* flip_sums_kernel();

/// Counts of luminances by half of their bits. The upper halves are counted if `upper` is kAll, otherwise the lower
/// halves of the luminances with this upper half.
struct LuminanceCounts {
    static constexpr unsigned kHalves = 65536, kAll = kHalves;
    unsigned counts[kHalves];
    unsigned max_bits;  ///< bits of the largest luminance
};
/// Counts the luminances of image a. Its parameters are ComparedImages, LuminanceWeights, unsigned (upper) and
/// LuminanceCounts*. Any number of blocks process all texels.
[[nodiscard]] const void* count_luminances_kernel();

}  // namespace texton::detail
