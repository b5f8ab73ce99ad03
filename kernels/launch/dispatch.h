#pragma once
// Ways of the CPU device around functors: the same bits, computed many pixels at a time. Each enqueues the picture,
// after launch()'s checks, and is true; or false, and has done nothing: on a CUDA device, and where it does not apply.
#include <cstdint>
#include <span>
#include <vector>

#include <texton/color.h>
#include <texton/planar.h>
#include <texton/stream.h>
#include <texton/texture.h>
#include <texton/view.h>

namespace texton::filters {
struct Sharpen;
}

namespace texton::detail {

/// convolve(): the sums across that a tile needs are kept by the thread that makes it. With `sharpen`, unsharp().
[[nodiscard]] bool convolve_on_cpu(const char* object, const Stream& stream, const View& picture,
                                   const Texture& texture, std::span<const float> across, std::span<const float> down,
                                   const filters::Sharpen* sharpen = nullptr);

/// median() of that many texels a side, with its arguments checked.
[[nodiscard]] bool median_on_cpu(const char* object, const Stream& stream, const View& picture, const Texture& texture,
                                 std::size_t side);
/// bilateral(), as filters::Bilateral has its numbers.
[[nodiscard]] bool bilateral_on_cpu(const char* object, const Stream& stream, const View& picture,
                                    const Texture& texture, int radius, float space, float range);

/// swizzle(): channel i of a pixel is channel from[i] of its own texel; from[i] = 4 is 0, and 5 is 1.
[[nodiscard]] bool swizzle_on_cpu(const char* object, const Stream& stream, const View& picture, const Texture& texture,
                                  const std::uint8_t (&from)[4]);

/// Pixels whose red, green and blue are `of` those of their own texel, which costs more than a look into a table: that of
/// each code of 8 bits is computed once. False for other formats.
[[nodiscard]] bool map_codes_on_cpu(const char* object, const Stream& stream, const View& picture,
                                    const Texture& texture, float (*of)(float));

/// color_matrix(), of a texture that own_texel() has let pass.
[[nodiscard]] bool color_matrix_on_cpu(const char* object, const Stream& stream, const View& picture,
                                       const Texture& texture, const ColorMatrix& matrix);
/// Red, green and blue times a number, of such a texture.
[[nodiscard]] bool scale_colours_on_cpu(const char* object, const Stream& stream, const View& picture,
                                        const Texture& texture, float by);

/// to_rgb(), with its arguments checked.
[[nodiscard]] bool to_rgb_on_cpu(const char* object, const Stream& stream, const View& picture, const Texture& luma,
                                 const Texture& chroma, const PlanarOptions& options);
/// from_rgb(), with its arguments checked.
[[nodiscard]] bool from_rgb_on_cpu(const char* object, const Stream& stream, const Frame& planes,
                                   const Texture& texture, const PlanarOptions& options);

/// Where the pixels along an axis fetch, in texels, and what each fetch counts: tap after tap of all pixels.
struct LatticeAxis {
    std::size_t taps = 1;
    std::vector<float> places;
    std::vector<float> weights;  ///< none: of one tap, which is the pixel as it is fetched
};

/// Pixels that are sums of rows of fetches, sum over y of (sum over x of at_texel(x, y) * weight of x) * weight of y.
/// Either both axes have weights, or neither.
[[nodiscard]] bool fetch_lattice_on_cpu(const char* object, const Stream& stream, const View& picture,
                                        const Texture& texture, LatticeAxis x, LatticeAxis y);

/// The texels along an axis that each pixel weighs: from first[i] on, by the weights from begin[i] to begin[i + 1].
struct BoxAxis {
    std::vector<std::int32_t> first;
    std::vector<std::uint32_t> begin{0};
    std::vector<float> weights;

    void reserve(std::size_t pixels) { first.reserve(pixels), begin.reserve(pixels + 1), weights.reserve(2 * pixels); }
    void add_weight(float weight) { weights.push_back(weight); }
    /// A pixel of the weights since the one before.
    void add_pixel(std::int32_t first_texel) {
        first.push_back(first_texel);
        begin.push_back(static_cast<std::uint32_t>(weights.size()));
    }
};

enum class BoxSum : std::uint8_t {
    of_products,  ///< the sum of texel * (weight of x * weight of y), but of those of weight 0, over the sum of weights
    of_rows       ///< the sum of (sum of texel * weight of x) * weight of y, over `total`
};

/// Pixels that are sums of a rectangle of texels each, row after row.
[[nodiscard]] bool sum_boxes_on_cpu(const char* object, const Stream& stream, const View& picture,
                                    const Texture& texture, BoxAxis x, BoxAxis y, BoxSum kind, float total = 0);

/// Pixels that are the mean of two by two texels each: (left + right of the one row) + (of the other), over 4. The
/// texture's sides are twice the picture's.
[[nodiscard]] bool halve_on_cpu(const char* object, const Stream& stream, const View& picture, const Texture& texture);

}  // namespace texton::detail
