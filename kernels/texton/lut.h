#pragma once
// Colors through lookup tables.
#include <span>

#include <texton/array.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Range of the colors that a table maps. Colors outside of it read the table's first or last entry.
struct LutDomain {
    float low[3] = {0, 0, 0};                           ///< red, green and blue of the first entry
    float high[3] = {1, 1, 1};                          ///< red, green and blue of the last entry
    bool operator==(const LutDomain&) const = default;  ///< Returns true if all members are equal.
};

/// Interpolation between the entries of a table.
enum class LutFilter : std::uint8_t {
    hardware,  ///< linear filtering of the texture unit, with 8-bit weights
    exact      ///< float32: linear between 2 entries of 1D tables, tetrahedral between 4 entries of 3D tables
};

/// Which channels of a 1D table are read.
enum class LutChannels : std::uint8_t {
    each,   ///< red, green and blue each read their own channel of the table
    shared  ///< all three read the table's red channel
};

/// Options of lut_1d().
struct Lut1dOptions {
    LutDomain domain{};                        ///< range of the colors that the table maps
    LutFilter filter = LutFilter::hardware;    ///< interpolation between entries
    LutChannels channels = LutChannels::each;  ///< which channels of the table are read
};

/// Enqueues the mapping of colors through a 1D table: a texture of a 1D array of any width. Alpha is unchanged.
///
/// `texture` must be 2D or layered 2D. The image has its width and height and one slice per layer, and must not share
/// memory with either texture. LutFilter::hardware needs a table with Filter::linear. The texels of `texture` are read
/// exactly, whichever filter its sampler has. Returns without waiting for the work. The caller must keep the memory of
/// the image and of both textures until the work is done, as for launch(). Several threads may call this function at
/// once. If it throws, nothing was enqueued.
///
/// Throws Error{bad_argument} if
/// - `texture` or `table` is of another kind, size or filter, or returns integers,
/// - the table lacks the green and blue channels that LutChannels::each needs,
/// - the domain is not finite, or its low is not below its high.
///
/// Also throws the errors of launch().
void lut_1d(const Stream& stream, const View& image, const Texture& texture, const Texture& table,
            const Lut1dOptions& options = {});

/// Options of lut_3d().
struct Lut3dOptions {
    LutDomain domain{};                      ///< range of the colors that the table maps
    LutFilter filter = LutFilter::hardware;  ///< interpolation between entries
    /// 0: the entries are evenly spaced over the domain. Otherwise they are evenly spaced within each octave of
    /// value + octave_offset, with the same number in each octave, so that a small table covers a large range with
    /// finer steps for dark values. To have entries at the ends of octaves, choose domain.low + octave_offset and
    /// domain.high + octave_offset as powers of two, and as many steps between entries as a multiple of the octaves.
    /// domain.low + octave_offset must be positive.
    float octave_offset = 0;
};

/// Enqueues the mapping of colors through a 3D table: a texture of a 3D array, whose x is red, y is green and z is
/// blue. Otherwise like lut_1d(). Also throws Error{bad_argument} if the domain, shifted by octave_offset, is empty or
/// begins below the smallest normal number.
void lut_3d(const Stream& stream, const View& image, const Texture& texture, const Texture& table,
            const Lut3dOptions& options = {});

/// A point of a piecewise linear curve.
struct CurvePoint {
    float x = 0;  ///< input value
    float y = 0;  ///< result
};

/// Creates a table of a piecewise linear curve for lut_1d() with LutChannels::shared: a 1D array of r32_float with
/// `size` entries. The entries are evenly spaced from the first point's x to the last point's x. A corner of the curve
/// between two entries is flattened; if each point is at an entry, the curve is exact. Returns when the table is
/// complete.
///
/// Throws Error{bad_argument} if there are fewer than two points or entries, or if the points are not finite or not in
/// increasing order of x. Also throws the errors of Array.
[[nodiscard]] Array curve_array(const Device& device, std::span<const CurvePoint> points, std::size_t size = 1024);

}  // namespace texton
