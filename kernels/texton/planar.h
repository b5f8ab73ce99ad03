#pragma once
// Conversions between RGB images and planar video images, which have one plane for luma and one for chroma. Both
// contain encoded values (R'G'B'), which are not converted to linear light: read and write RGB as unorm or float, not
// as sRGB.
#include <texton/format.h>
#include <texton/planar_array.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Standard that defines the weights of red, green and blue in luma.
enum class LumaStandard : std::uint8_t {
    bt601,  ///< Rec. ITU-R BT.601
    bt709,  ///< Rec. ITU-R BT.709
    bt2020  ///< Rec. ITU-R BT.2020, non-constant luminance
};

/// Code values of black and white: full range or video range.
enum class CodeRange : std::uint8_t {
    limited,  ///< video range: luma 16 to 235 and chroma 16 to 240, scaled from 8 bits
    full      ///< all codes
};

/// Location of a chroma sample relative to the luma samples that share it.
enum class ChromaSiting : std::uint8_t {
    left,     ///< on the left column, centered between the rows
    center,   ///< centered between the columns and the rows
    top_left  ///< on the left column and the upper row
};

/// Options of to_rgb() and from_rgb().
struct PlanarOptions {
    /// nv12, p010 (10 bits in the upper bits of 16), p016 or nv16. Chroma of nv16 has the height of luma, so `siting`
    /// only applies to columns.
    Format format = Format::nv12;
    LumaStandard standard = LumaStandard::bt709;  ///< weights of red, green and blue in luma
    CodeRange range = CodeRange::limited;         ///< codes of black and white
    ChromaSiting siting = ChromaSiting::left;     ///< location of the chroma samples
    bool swap_chroma = false;                     ///< Cr before Cb, as in NV21
};

/// Enqueues the conversion of two planes to RGB. The planes are textures of a PlanarArray's planes or of memory with
/// rows. Chroma between its samples is interpolated by the texture unit, so the chroma texture must have
/// Filter::linear. Its sampler defines chroma beyond the edges, and should clamp. Luma is read exactly. Alpha is 1.
/// Float images keep colors outside 0 to 1.
///
/// Returns without waiting for the work. The caller must keep the memory of the image and of the planes until the work
/// is done, as for launch(). Several threads may call this function at once. If it throws, nothing was enqueued.
///
/// Throws Error{bad_argument} if a plane's format, size or kind does not match, if width or height is odd, if chroma
/// does not have Filter::linear, or if the image does not have the size of luma and one slice. Also throws the errors
/// of launch().
void to_rgb(const Stream& stream, const View& image, const Texture& luma, const Texture& chroma,
            const PlanarOptions& options = {});

/// Enqueues the conversion of a 2D texture to both planes. A chroma sample is computed from a weighted mean of the
/// texels around it. Along an axis where it is centered between two texels, both have the weight 1/2. Along an axis
/// where it is located on a texel, that texel has the weight 1/2 and its two neighbors have 1/4 each. The vertical axis
/// of nv16 is an exception: each chroma row is computed from a single row of texels. Codes are rounded to the nearest.
/// In the limited range, colors outside 0 to 1 give codes below black or above white.
///
/// Planes of a PlanarArray have no surfaces and cannot be written: write to memory and copy() the result.
///
/// Returns without waiting for the work. The caller must keep the memory of the planes and of the texture until the
/// work is done, as for launch(). Several threads may call this function at once.
///
/// Throws Error{bad_argument} if a plane's format or size does not match, if width or height is odd, or if the texture
/// is of another kind or returns integers. Throws Error{overlap} if the planes share bytes or texels. Also throws the
/// errors of launch(). All arguments are checked before work is enqueued. If enqueueing the chroma plane fails later,
/// the luma plane may have been enqueued.
void from_rgb(const Stream& stream, const Frame& planes, const Texture& texture, const PlanarOptions& options = {});

}  // namespace texton
