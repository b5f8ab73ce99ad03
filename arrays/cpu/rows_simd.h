#pragma once
// Plain fetches of a 2D texture in blocks, compiled once for each instruction set that Highway supports.
#include <cstddef>
#include <cstdint>
#include <span>

#include <texton/sample.h>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Number of fetches in a block. It is a whole number of vectors of every instruction set, and small enough that all
/// stages stay in the first-level cache.
inline constexpr std::size_t kRowBlock = 64;

/// Prepared parameters of scale_coordinate() and address_texel() for an axis.
struct AxisPlan {
    std::int32_t size;
    AddressMode mode;
    bool normalized;
    bool clamps;             ///< filtering clamps the coordinate
    bool repeats;            ///< coordinates repeat with `period`
    std::int32_t zero_from;  ///< coordinates whose magnitude has these bits or more read as 0
    /// Coordinates are clamped to this range: to the centers of the first and the last texel if this does not change
    /// what is read; otherwise to a range that ends outside of the texture or, if it repeats, above all coordinates that
    /// do not read as 0.
    float lowest;
    float highest;
    double steps;          ///< steps of a normalized coordinate from 0 to 1
    double period;         ///< period in steps
    double units_of_step;  ///< size of a step in 1/512 of a texel
};

/// Level 0 of a texture whose texels all have memory, and the prepared parameters of its sampler. Non-owning.
struct RowPlan {
    const unsigned char* texels;
    std::int32_t pitch;  ///< texels from a row to the next; the level has fewer than 2^31 texels
    AxisPlan x;
    AxisPlan y;
    unsigned char border[16];  ///< the border color as a stored texel
};

/// Fetches `blocks` blocks. Requires the default floating-point environment: round to nearest, keep denormals.
using BlockFetch = void (*)(const RowPlan& plan, const float* x, const float* y, std::size_t blocks,
                            unsigned char* results);

/// How the texels that the pixels of a block read follow each other.
enum class Neighbors : std::uint8_t {
    any,
    pairs,      ///< the second texel of a pixel follows the first one
    near,       ///< likewise, and the pairs of each step of kNearStep pixels are near each other
    all_pairs,  ///< likewise, and the pairs of all pixels follow each other
};

/// Number of pixels whose pairs are looked up in the same texels of a row.
inline constexpr std::size_t kNearStep = 16;
/// Returns the first of `near` texels of a row in which the pairs of a step of pixels are looked up, if the first texels
/// of the pixels ascend. All these texels are inside the row, which has at least so many.
[[nodiscard]] constexpr std::int32_t first_near(const std::int32_t* first, std::int32_t width, std::int32_t near) {
    return *first < width - near ? *first : width - near;
}

/// The two texels of a row that each pixel reads, for whole blocks of pixels. Non-owning.
struct TexelPairs {
    const std::int32_t* first;  ///< negative: the border
    const std::int32_t* second;
    const std::int32_t* share;   ///< of the second texels, in 1/256
    const Neighbors* neighbors;  ///< one for each block
    std::size_t blocks;
};

/// Two rows: their texels, and their pairs as staged. Blocks of Neighbors::all_pairs are staged only if texels are
/// converted.
struct StagedRows {
    const unsigned char* texels[2];
    const unsigned char* staged[2];
    std::int32_t share;  ///< of the lower row, in 1/256
};

/// Blends staged pairs.
using StagedBlend = void (*)(const StagedRows& rows, const TexelPairs& pairs, unsigned char* results);

/// Functions for a format and a filter. Members are null if they are not available.
struct RowKernels {
    /// Results are pixels of the texture's own format; for point reads, its stored texels.
    BlockFetch pixels = nullptr;
    BlockFetch texels = nullptr;  ///< results are Texels; only for linear filtering

    // For rows of fetches that have their columns in common. Texels of 16 bytes have LatticeKernels instead.
    std::size_t staged_bytes = 0;  ///< of a pair of texels
    std::int32_t near_texels = 0;  ///< texels in which `stage` looks up the pairs of Neighbors::near; 0: it does not
    /// Copies the pairs of a row of texels side by side, or what the format's texels are converted to.
    void (*stage)(const RowPlan& plan, const unsigned char* texels, const TexelPairs& pairs,
                  unsigned char* staged) = nullptr;
    StagedBlend blend_pixels = nullptr;  ///< results are pixels of the texture's own format
    StagedBlend blend_texels = nullptr;  ///< results are Texels
};

/// How the texels of a group of pixels are loaded from a row. A group has as many pixels as a vector has lanes.
enum class Columns : std::uint8_t {
    any,    ///< one load for each texel
    pairs,  ///< one load for each texel; each second texel follows the first one
    run,    ///< adjacent texels
    even,   ///< every second texel
    one,    ///< the texels of each vector of pixels are within one vector of texels
    two     ///< the texels of each vector of pixels are within two vectors of texels
};

/// The texels of a row that pixels read, or the first ones of pairs. Prepared for kLatticeStep pixels at a time.
/// Non-owning.
struct PreparedColumns {
    const std::int32_t* texels;
    const Columns* kinds;        ///< one for each group, at its first pixel
    const std::int32_t* window;  ///< for each vector, at its first pixel: the first texel that is loaded
    const std::int32_t* lanes;   ///< four for each pixel: their lanes in the window
};

/// Results of LatticeKernels::find for positions along an axis: the two texels that linear filtering reads, with the
/// address mode applied, and the share of the second one in 1/256.
struct PositionsToFind {
    std::int32_t* first;
    std::int32_t* second;
    std::int32_t* share;
};

/// Prepared positions along x: the first texels, the second texels and their shares in 1/256. Non-owning.
struct PreparedPositions {
    PreparedColumns first;
    const std::int32_t* second;
    const std::int32_t* share;
};

/// Vertical position of a row of fetches, like PositionsToFind. If the lower row has no share, it equals the upper one.
struct FetchedRow {
    float y;
    std::int32_t top;  ///< kBorderTexel if a row is in the border, or if nothing is known
    std::int32_t bottom;
    std::int32_t share;
};

/// Two rows of texels of four floats, and the share of the lower row in 1/256. The same columns of the rows `soon` are
/// prefetched. If the first of these is null, the second is null too.
struct LatticeRow {
    const float* top;
    const float* bottom;
    std::int32_t share;
    bool past_caches = false;  ///< the results are stored past the caches
    const float* soon[2] = {};
};

/// Number of positions that the functions of LatticeKernels process at a time. Counts are multiples of it.
inline constexpr std::size_t kLatticeStep = 16;
/// Functions for fetches whose positions form rows and columns. All members are null if the CPU has no supported
/// instruction set.
struct LatticeKernels {
    using Find = void (*)(const AxisPlan& axis, const float* positions, std::size_t count,
                          const PositionsToFind& found);
    using Fetch = void (*)(const LatticeRow& row, const PreparedPositions& columns, std::size_t count, float* texels);

    Find find = nullptr;
    /// Finds out how to load texels from rows of `width` texels. `second` contains the second texels that are also
    /// read, or is null.
    void (*find_windows)(const std::int32_t* texels, const std::int32_t* second, std::size_t count, std::int32_t width,
                         Columns* kinds, std::int32_t* window, std::int32_t* lanes) = nullptr;
    Fetch fetch[2][2] = {};  ///< first index: columns have a second texel with a share; second index: rows do
};

/// Returns the functions for the best instruction set of this CPU. Thread-safe.
[[nodiscard]] const LatticeKernels& lattice_kernels();

/// Computes the coordinates of the pixels (i, j), (i + 1, j), ... as position_of_pixel() does. `x` and `y` must have
/// room for a multiple of 16 positions.
void find_row_positions(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count, float* x, float* y);

/// Returns the functions for the best instruction set of this CPU. All members are null if the model must be used: for
/// another packing, for a format that cannot be filtered here, or on a CPU without a supported instruction set.
[[nodiscard]] RowKernels row_kernels(const TexelFormat& format, Filter filter);

}  // namespace texton::detail
