#pragma once
// Colours through tables.
#include <span>

#include <texton/array.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// What red, green and blue of the table's first and last entry are; what is beyond reads the same as these.
struct LutDomain {
    float low[3] = {0, 0, 0};
    float high[3] = {1, 1, 1};
    bool operator==(const LutDomain&) const = default;
};

/// How entries are weighed between which a colour lies.
enum class LutFilter : std::uint8_t {
    hardware,  ///< by the texture unit: 8 bits of weight
    exact      ///< in float32: two entries of 1D tables; of 3D tables the four of a tetrahedron
};

enum class LutChannels : std::uint8_t {
    each,   ///< red, green and blue each through its own channel of the table
    shared  ///< all three through the table's red
};

struct Lut1dOptions {
    LutDomain domain{};
    LutFilter filter = LutFilter::hardware;
    LutChannels channels = LutChannels::each;
};

/// Enqueues the texture's colours through a table: a 1D texture of any width. Alpha stays as it is.
///
/// The texture is 2D or layered, the picture of its size with a slice for each layer, and apart from both textures.
/// LutFilter::hardware needs a table with Filter::linear. Errors: bad_argument (a texture or table of another kind,
/// size or filter, of integers, or without green and blue where they are read; a domain that is not finite or whose low
/// is not below its high), and those of launch().
void lut_1d(const Stream& stream, const View& picture, const Texture& texture, const Texture& table,
            const Lut1dOptions& options = {});

struct Lut3dOptions {
    LutDomain domain{};
    LutFilter filter = LutFilter::hardware;
};

/// The same with a table for all three: a 3D texture, whose x is red, y green and z blue.
void lut_3d(const Stream& stream, const View& picture, const Texture& texture, const Texture& table,
            const Lut3dOptions& options = {});

/// A corner of a curve of straight lines.
struct CurvePoint {
    float x = 0;
    float y = 0;
};

/// A table of `size` entries, r32_float, for lut_1d() with LutChannels::shared: from the first point's x to the last's.
/// Corners between two entries are cut; with a point at every entry none is. Returns when the table is there. Errors:
/// bad_argument (fewer than two points or entries, points that are not finite or not in the order of x), and those of
/// Array.
[[nodiscard]] Array curve_array(const Device& device, std::span<const CurvePoint> points, std::size_t size = 1024);

}  // namespace texton
