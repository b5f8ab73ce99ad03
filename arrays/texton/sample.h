#pragma once
#include <array>
#include <span>
#include <vector>

#include <texton/fetch.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Options of sample() with FetchPoint.
struct SampleOptions {
    FetchOperation operation = FetchOperation::plain;  ///< fetch function
    int component = 0;                                 ///< component that gather reads, 0 to 3
    bool residency = false;  ///< also return Samples::resident; array_2d, array_3d and layered_2d only
};

/// The results of sample() with FetchPoint.
struct Samples {
    std::vector<Texel> texels;  ///< one result for each point
    /// For each point 1 if all texels of its fetch have memory, else 0. Empty unless SampleOptions::residency is set.
    std::vector<std::uint8_t> resident;
};

/// Fetches all points on the texture's device and returns when the results are complete. The fetches run after the work
/// of the default stream, but do not wait for other streams; see Stream. Several threads may call this function at
/// once.
///
/// Throws
/// - Error{bad_argument} if the texture does not support the operation or the residency: `gather` needs an array_2d
///   with ArrayUsage::gather and a component from 0 to 3, `lod` and `gradients` need an array, and a row of memory
///   needs `texel`, which no other texture supports,
/// - Error{not_mapped} if the texture reads a DeferredArray without memory,
/// - Error{released} if the memory that the texture reads was freed or unmapped,
/// - Error{capturing} while the calling thread records a graph.
[[nodiscard]] Samples sample(const Texture& texture, std::span<const FetchPoint> points,
                             const SampleOptions& options = {});

/// A 2D coordinate. It is in texels, where texel (i, j) covers [i, i + 1) x [j, j + 1), or 0 to 1 with normalized
/// coordinates.
struct Point2 {
    float x = 0;  ///< horizontal coordinate
    float y = 0;  ///< vertical coordinate
};

/// Fetches all points of a 2D texture with plain fetches and returns the results as floats when they are complete. It
/// is ordered with streams like sample() for FetchPoint. Integers are converted to float. Channels that the format
/// lacks are 0, except that alpha is 1. Throws the same errors as sample() for FetchPoint.
[[nodiscard]] std::vector<std::array<float, 4>> sample(const Texture& texture, std::span<const Point2> points);

/// An affine map from the center of pixel (i, j), px = i + 1/2 and py = j + 1/2, to a coordinate (x, y) of a texture:
/// x = (xx * px + xy * py) + x0 and y = (yx * px + yy * py) + y0. The coordinate is in texels, or 0 to 1 with
/// normalized coordinates. Each product and each sum is rounded to float32.
struct AffineMap {
    float xx = 1,            ///< factor of px in x
        xy = 0,              ///< factor of py in x
        x0 = 0;              ///< constant of x
    float yx = 0,            ///< factor of px in y
        yy = 1,              ///< factor of py in y
        y0 = 0;              ///< constant of y
    std::int32_t layer = 0;  ///< layer of a layered texture, as in FetchPoint
};

/// Computes every pixel of an image with a plain fetch of a 2D or layered 2D texture and returns when the image is
/// complete. It is ordered with streams like sample() for FetchPoint. The image is in memory of the texture's device,
/// or in pinned, registered or managed memory. All devices compute the same bits.
///
/// Results are converted to the format of the image. Floats become the nearest code of unorm, snorm and sRGB (for sRGB
/// within 1/500 of a step); they are clamped, and NaN becomes 0. Floats become the nearest float16, with ties to even,
/// or are stored unchanged as float32. Integers become the nearest integer in the image's range. The image takes as
/// many of a Texel's channels as its format has. Channels that the texture lacks are 0, except that alpha is 1 in
/// block-compressed formats.
///
/// Throws
/// - Error{bad_argument} if the texture has another kind; if the map is not finite; if the image is an array, is in
///   pageable memory, has several slices or has a block-compressed or planar format; or if the texture returns integers
///   and the image stores floats, or the reverse,
/// - Error{overlap} if the image shares bytes with the memory that the texture reads,
/// - Error{overflow} if width or height exceeds 2^23 pixels,
/// - Error{released} if memory of the image or the texture was freed,
/// - Error{wrong_device} if the image belongs to another device,
/// - Error{not_registered} if the image is in a host range that is only partly registered,
/// - Error{not_mapped} if the texture reads a DeferredArray without memory,
/// - Error{capturing} while the calling thread records a graph.
void sample(const Texture& texture, const AffineMap& map, const View& image);
/// Enqueues the same operation on the stream and returns without waiting. It can be recorded into a graph. A copy of
/// the texture, which keeps its source alive, and the memory of the image must exist until the work is complete; for a
/// graph, as long as the graph is launched. Throws the same errors, except that Error{capturing} is thrown only if the
/// texture reads a sparse or deferred array and the stream is captured by other code than Graph::capture(). Throws
/// Error{wrong_device} if the stream belongs to another device.
void sample(const Texture& texture, const AffineMap& map, const View& image, const Stream& stream);

}  // namespace texton
