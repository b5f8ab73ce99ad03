#pragma once
// Blocks of plain fetches of a 2D texture, compiled once for each instruction set that Highway knows.
#include <cstddef>
#include <cstdint>
#include <span>

#include <texton/sample.h>

#include "arrays/unit/texture_view.h"

namespace texton::detail {

/// Fetches of a block: whole vectors everywhere, and little enough that all stages stay in the first cache.
inline constexpr std::size_t kRowBlock = 64;

/// What coordinates along an axis mean: scale_coordinate() and address_texel(), prepared.
struct AxisPlan {
    std::int32_t size;
    AddressMode mode;
    bool normalized;
    bool clamps;             ///< filtering clamps the coordinate
    bool repeats;            ///< only the part of a coordinate below `period` counts
    std::int32_t zero_from;  ///< bits of the least magnitude that reads as 0
    float limit;  ///< coordinates are clamped to +-limit, outside of the texture; above all that count where it repeats
    double steps;          ///< of a normalized coordinate from 0 to 1
    double period;         ///< in steps
    double units_of_step;  ///< in 1/512 of a texel
};

/// Level 0 of a texture without holes, and what its sampler makes of coordinates.
struct RowPlan {
    const unsigned char* texels;
    std::int32_t pitch;  ///< texels from a row to the next; there are fewer than 2^31
    AxisPlan x;
    AxisPlan y;
    unsigned char border[16];  ///< the border colour as a stored texel
};

/// Fetches blocks one after the other. The default rounding and denormals are presumed.
using BlockFetch = void (*)(const RowPlan& plan, const float* x, const float* y, std::size_t blocks,
                            unsigned char* results);

struct RowKernels {
    BlockFetch pixels = nullptr;  ///< as pixels of the texture's own format; point reads: its stored texels
    BlockFetch texels = nullptr;  ///< as Texels; linear filtering alone
};

/// How the pixels of a row are found among its texels, in groups of as many as a vector has lanes.
enum class Columns : std::uint8_t {
    any,    ///< one by one
    pairs,  ///< one by one, with those after them
    run,    ///< all one after the other
    even,   ///< every second one
    one,    ///< those of a vector of pixels within one vector of texels
    two     ///< within two
};

/// Texels of a row that pixels are, or begin with: kLatticeStep pixels at a time.
struct PreparedColumns {
    const std::int32_t* texels;
    const Columns* kinds;        ///< of groups: of their first pixels
    const std::int32_t* window;  ///< of vectors: the first texel that is read, at their first pixels
    const std::int32_t* lanes;   ///< four of each pixel, in the window
};

/// Of each place along an axis the two texels that linear filtering reads, addressed, and the second one's share, in
/// 1/256.
struct PlacesToFind {
    std::int32_t* first;
    std::int32_t* second;
    std::int32_t* share;
};

struct PreparedPlaces {
    PreparedColumns first;
    const std::int32_t* second;
    const std::int32_t* share;
};

/// Where a row of fetches lies, as PlacesToFind; the lower row is the upper one where it has no share.
struct FetchedRow {
    float y;
    std::int32_t top;  ///< kBorderTexel: one is the border, or nothing is known
    std::int32_t bottom;
    std::int32_t share;
};

/// The texels of two rows, of four floats each, and the share of the lower row. The same columns of the rows `soon`, if
/// there are such, are asked for ahead: where the first is null, so is the second.
struct LatticeRow {
    const float* top;
    const float* bottom;
    std::int32_t share;
    bool past_caches = false;  ///< what is fetched is written to memory, and need not be read before
    const float* soon[2] = {};
};

/// One of the fetches whose weighed sum pixels are.
struct LatticeTap {
    PreparedPlaces places;
    PreparedColumns taken;  ///< from `fetched`; none: it is fetched pixel by pixel
    const float* weights;   ///< of each pixel
    bool two_columns;       ///< as of LatticeKernels::fetch
};

struct LatticeTaps {
    std::span<const LatticeTap> taps;
    const float* fetched;  ///< a row of texels, if the second row has a share
};

/// What fetches have in common that lie in rows and columns. Of each kLatticeStep places at a time.
inline constexpr std::size_t kLatticeStep = 16;
struct LatticeKernels {
    using Find = void (*)(const AxisPlan& axis, const float* places, std::size_t count, const PlacesToFind& found);
    using Fetch = void (*)(const LatticeRow& row, const PreparedPlaces& columns, std::size_t count, float* texels);
    using Sum = void (*)(const LatticeRow& row, const LatticeTaps& taps, std::size_t count, float* sums);

    Find find = nullptr;
    /// Of rows of `width` texels. `second`: those that are read besides, or null.
    void (*find_windows)(const std::int32_t* texels, const std::int32_t* second, std::size_t count, std::int32_t width,
                         Columns* kinds, std::int32_t* window, std::int32_t* lanes) = nullptr;
    Fetch fetch[2][2] = {};  ///< by whether a column has a second texel with a share, and the row
    /// Tap after tap, each product and each sum rounded by itself; by whether the second row has a share.
    Sum sum[2] = {};
};

/// Those of the best instruction set of this CPU, or none.
[[nodiscard]] const LatticeKernels& lattice_kernels();

/// Where the pixels of a row from (i, j) on lead: place_of_pixel(). Both have room for a whole number of 16 places.
void find_row_places(const AffineMap& map, std::uint32_t i, std::uint32_t j, std::size_t count, float* x, float* y);

/// sRGB codes and what the filter makes of them.
struct SrgbTables {
    /// float32 of a texel, with the filter's exponent, plus 7, in the lowest three bits.
    std::uint32_t colour[256];
    std::uint32_t linear[256];                   ///< the same of a channel that is linear: 128ths, of exponent 0
    unsigned char code_of_half[(15 << 10) + 1];  ///< of a filtered colour, which is a float16 from 0 to 1
};

[[nodiscard]] const SrgbTables& srgb_tables();

/// Those of the best instruction set of this CPU. None where the model must do: another packing, a format that is not
/// filtered here, or a CPU that is too old.
[[nodiscard]] RowKernels row_kernels(const TexelFormat& format, Filter filter);

}  // namespace texton::detail
