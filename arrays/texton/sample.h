#pragma once
#include <array>
#include <span>
#include <vector>

#include <texton/fetch.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

struct SampleOptions {
    FetchOperation operation = FetchOperation::plain;
    int component = 0;       ///< of gather: 0 to 3
    bool residency = false;  ///< asks which fetches found memory under all their texels: 2D, 3D and layered 2D alone
};

struct Samples {
    std::vector<Texel> texels;
    std::vector<std::uint8_t> resident;  ///< 1 or 0 a point; empty unless residency was asked for
};

/// Fetches every point on the texture's device and returns when all are done.
///
/// Error{bad_argument} for an operation that the texture does not take: gather of another kind than 2D or without
/// usage.gather, gradients or a level of detail on memory, texel on an array. Error{not_mapped} for a DeferredArray without
/// memory.
[[nodiscard]] Samples sample(const Texture& texture, std::span<const FetchPoint> points,
                             const SampleOptions& options = {});

/// A place to fetch in 2D, in texels: texel (i, j) covers [i, i + 1) x [j, j + 1).
struct Point2 {
    float x = 0;
    float y = 0;
};

/// Plain fetches of a 2D texture as floats. Integer formats are converted; channels that the format lacks are 0, alpha 1.
[[nodiscard]] std::vector<std::array<float, 4>> sample(const Texture& texture, std::span<const Point2> points);

/// From the middle of pixel (i, j) of a picture, px = i + 1/2 and py = j + 1/2, to a place in a texture: in texels, or
/// 0 to 1 with normalized coordinates. Each product and sum is rounded to float32: x = (xx * px + xy * py) + x0.
struct AffineMap {
    float xx = 1, xy = 0, x0 = 0;
    float yx = 0, yy = 1, y0 = 0;  ///< y = (yx * px + yy * py) + y0
    std::int32_t layer = 0;        ///< of a layered texture, as in FetchPoint
};

/// A plain fetch of a 2D or layered 2D texture for every pixel of `picture`, in the picture's format. The picture lies
/// in memory of the texture's device, or in pinned, registered or managed memory. Every device makes the same bits.
///
/// Floats become the nearest code of unorm, snorm and sRGB (there within 1/500 of a step), clamped, NaN as 0; the
/// nearest float16, halves to even; float32 as they are. Integers become the nearest one in the picture's range. A
/// picture takes the first of a Texel's four channels; those that the texture lacks are 0, but alpha is 1 in
/// block-compressed formats.
///
/// Without a stream the picture is done when the call returns. With one it is made in the stream's order and may be
/// recorded into a graph; the texture, what it reads and the picture must stay until it is done.
///
/// Errors: bad_argument (a texture of another kind; a map that is not finite; an array, pageable memory, several slices
/// or a block-compressed format as the picture; integers for floats or the reverse), overlap (with the memory that the
/// texture reads), overflow (a side above 2^23 pixels), released, wrong_device, not_registered (a host range that is
/// only partly registered), not_mapped, capturing.
void sample(const Texture& texture, const AffineMap& map, const View& picture);
void sample(const Texture& texture, const AffineMap& map, const View& picture, const Stream& stream);

}  // namespace texton
