#pragma once
// Fetches for the pixels of the canvas, on the device of the document.
#include <span>
#include <vector>

#include <texton/fetch.h>

#include "viewer/model/document.h"
#include "viewer/render/display.h"

namespace texton::viewer {

/// A texture of a subresource that computes coordinates from positions in texels. The fetch functions block. They throw
/// the errors of sample().
class SubresourceTexture {
public:
    /// Creates the texture. `subresource` refers to the array of the document. If the sampler has unnormalized
    /// coordinates, the texture contains only the level of `subresource`. Throws the errors of Texture.
    SubresourceTexture(const Document& document, const SubresourceIndex& subresource, const Sampler& sampler);

    /// Returns the fetch at a position in texels of the level. A pixel is `across` texels wide and `down` texels high.
    FetchPoint at(double x, double y, double across, double down) const;
    /// Returns the fetch of a cubemap in a direction. `dx` and `dy` are the changes of the direction to the next pixel.
    FetchPoint toward(const std::array<float, 3>& direction, const std::array<float, 3>& dx,
                      const std::array<float, 3>& dy) const;
    /// Returns the fetch at a normalized position. `dx` and `dy` are the changes of the position to the next pixel.
    FetchPoint at_shares(const std::array<double, 2>& share, const std::array<double, 2>& dx,
                         const std::array<double, 2>& dy) const;

    /// Returns the values of the fetches, with gradients if the texture uses them.
    std::vector<Color> fetch(std::span<const FetchPoint> points) const;
    /// Returns the values of the fetches at the level of the subresource, for point filters.
    std::vector<Color> fetch_level(std::span<FetchPoint> points) const;
    /// Returns true if fetch_rows() can be used: the texture is 2D and fetches need no gradients.
    bool is_affine() const noexcept;
    /// Returns the values of `columns` x `rows` pixels. The center of the first pixel is at (x, y) in texels.
    std::vector<Color> fetch_rows(double x, double y, double across, double down, std::size_t columns,
                                  std::size_t rows) const;

private:
    std::vector<Color> values(std::span<const FetchPoint> points, FetchOperation operation) const;

    Texture texture_;
    SubresourceIndex subresource_;
    Extent extent_;
    bool gradients_ = false;
};

/// Converts the result of a fetch to floats.
[[nodiscard]] Color color_of(const Texel& texel, Format format);

}  // namespace texton::viewer
