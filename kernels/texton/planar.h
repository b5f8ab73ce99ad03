#pragma once
// Pictures of luma and chroma in two planes, as video has them, and pictures of red, green and blue. Both are of
// encoded values (R'G'B'), which are not linearised: read and write RGB as unorm or float, not as srgb.
#include <texton/format.h>
#include <texton/planar_array.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Which standard says how luma weighs red and blue.
enum class LumaStandard : std::uint8_t {
    bt601,  ///< Rec. ITU-R BT.601
    bt709,  ///< Rec. ITU-R BT.709
    bt2020  ///< Rec. ITU-R BT.2020, non-constant luminance
};

/// Which codes are black and white.
enum class CodeRange : std::uint8_t {
    limited,  ///< of 8 bits: luma 16 to 235, chroma 16 to 240
    full      ///< all codes
};

/// Where a sample of chroma lies among those of luma that share it.
enum class ChromaSiting : std::uint8_t {
    left,     ///< on the left column; between the rows
    center,   ///< in the middle
    top_left  ///< on the left column and the upper row
};

struct PlanarOptions {
    /// nv12, p010 (10 bits at the top of 16), p016 or nv16, whose chroma is as high as luma: siting then says its
    /// column.
    Format format = Format::nv12;
    LumaStandard standard = LumaStandard::bt709;
    CodeRange range = CodeRange::limited;
    ChromaSiting siting = ChromaSiting::left;
    bool swap_chroma = false;  ///< Cr before Cb, as NV21 has it
};

/// Enqueues the picture of two planes: textures of PlanarArray's planes, or of rows of memory. Chroma between its
/// samples is the texture unit's, so that its texture needs Filter::linear; at the edges it is as that sampler says,
/// which should clamp. Alpha is 1. Colours outside of 0 to 1 stay so in float pictures.
///
/// Errors: bad_argument (planes whose format, size or kind is not the format's; chroma without Filter::linear; a
/// picture of another size than luma), and those of launch().
void to_rgb(const Stream& stream, const View& picture, const Texture& luma, const Texture& chroma,
            const PlanarOptions& options = {});

/// Enqueues both planes of a 2D texture. A sample of chroma is the average of the colours around its place: along an
/// axis of the two that it lies between, or a half of the one that it lies on and a quarter of each beside it. Codes
/// are the nearest, and of limited range may go beyond black and white. The planes of a PlanarArray have no surfaces to write
/// by: let it write to memory, and copy() that.
///
/// Errors: bad_argument (planes whose format or size is not the format's, odd sides, a texture of another size or kind,
/// or of integers), and those of launch(); those of chroma may come when luma is enqueued already.
void from_rgb(const Stream& stream, const Frame& planes, const Texture& texture, const PlanarOptions& options = {});

}  // namespace texton
