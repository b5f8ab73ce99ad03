#pragma once
// Filters of neighborhoods: pixel (i, j) of the destination image is computed from the texels around texel (i, j).
//
// The texture must be 2D or layered 2D. The destination image has its width and height and one slice per layer. The
// sampler's address modes define the texels beyond the edges. Texels are read exactly, whichever filter the sampler
// has.
//
// Each function enqueues its work on the stream and returns without waiting. The caller must keep the memory of the
// images and of the textures until the work is done, as for launch(). Several threads may call these functions at once.
// If a function throws, the image is unchanged, but work that writes scratch memory may have been enqueued. Only
// convolve() and gaussian() may write memory that the texture reads.
//
// All functions throw Error{bad_argument} if the texture is of another kind, if the image is of another size, if a
// parameter is out of its range, or, except for median(), if the texture returns integers. They also throw the errors
// of launch().
#include <optional>
#include <span>
#include <vector>

#include <texton/pool.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton {

/// Maximum number of weights of convolve() along an axis.
inline constexpr int kMaxWeights = 255;

/// Enqueues a separable convolution: the sum of the texels around each texel, multiplied by the weights of their column
/// (`across`) and of their row (`down`). Weights are not mirrored: the first weight belongs to the texel to the left,
/// or above. Both numbers of weights are odd, 1 to kMaxWeights. Weights must be finite and need not add up to 1.
///
/// The texels of each row are summed first, then the rows. Sums start at 0, and each term is added with a fused
/// multiply-add. Texels whose weight is 0 do not count, even if they are infinite or NaN.
///
/// The image may share memory with what the texture reads. In this case, or if it cannot be excluded, the convolution
/// runs in two passes, with floats in scratch memory in between. The scratch memory has 16 bytes per pixel of the image
/// and of down.size() - 1 more rows in each slice. It is allocated from `scratch`, or else from the current pool of the
/// stream's device, and freed in stream order. Throws the errors of the pool. In all other cases one pass without
/// scratch memory computes the same bits.
void convolve(const Stream& stream, const View& image, const Texture& texture, std::span<const float> across,
              std::span<const float> down, const std::optional<Pool>& scratch = {});

/// Returns 2 * radius + 1 weights of a Gaussian with the standard deviation `sigma`, in texels. Their sum is 1. If
/// `radius` is 0, the radius is three times sigma, rounded up.
///
/// Throws Error{bad_argument} if sigma is not finite and positive, or if the radius is not 0 to 127 or would exceed
/// 127.
[[nodiscard]] std::vector<float> gaussian_weights(float sigma, int radius = 0);

/// Options of gaussian().
struct GaussianOptions {
    float sigma = 1;                ///< standard deviation, in texels
    int radius = 0;                 ///< texels on each side, up to 127; 0: three times sigma, rounded up
    std::optional<Pool> scratch{};  ///< pool of the scratch memory, as for convolve()
};

/// Enqueues a Gaussian blur: convolve() with gaussian_weights() along both axes.
void gaussian(const Stream& stream, const View& image, const Texture& texture, const GaussianOptions& options = {});

/// Options of unsharp().
struct UnsharpOptions {
    float amount = 1;     ///< factor of the difference between texel and blur; a negative factor blurs
    float sigma = 1;      ///< standard deviation of the blur, in texels
    float threshold = 0;  ///< smaller differences between texel and blur are ignored, per channel; not negative
    std::optional<Pool> scratch{};  ///< pool of the scratch memory, as for convolve()
};

/// Enqueues unsharp masking: adds to each texel `amount` times its difference from the texel blurred by gaussian(). If
/// it cannot be excluded that the image shares memory with what the texture reads, scratch memory is used as in
/// convolve(). If they do share memory, Error{overlap} is thrown.
void unsharp(const Stream& stream, const View& image, const Texture& texture, const UnsharpOptions& options = {});

/// Options of bilateral().
struct BilateralOptions {
    float sigma_space = 2;     ///< standard deviation of the distance, in texels
    float sigma_range = 0.1f;  ///< standard deviation of the difference of values: the distance of the four channels
    int radius = 0;            ///< texels on each side, up to 64; 0: two times sigma_space, rounded up
};

/// Enqueues a bilateral filter: the mean of the texels of a square, weighted by a Gaussian of their distance and by a
/// Gaussian of their difference of values. It smooths the image but keeps edges. Texels with a channel that is not
/// finite have no weight; pixels at their positions become NaN.
void bilateral(const Stream& stream, const View& image, const Texture& texture, const BilateralOptions& options = {});

/// Size of the neighborhood of median().
enum class MedianSize : std::uint8_t {
    three,  ///< 3 x 3 texels
    five    ///< 5 x 5 texels
};

/// Enqueues a median filter: the middle value of the sorted neighborhood, in each channel separately. The texture may
/// return integers, which are converted to floats and so are exact up to 24 bits. If some values are NaN, the result is
/// any of the values.
void median(const Stream& stream, const View& image, const Texture& texture, MedianSize size = MedianSize::three);

}  // namespace texton
