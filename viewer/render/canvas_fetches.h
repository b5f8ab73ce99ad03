#pragma once
// Pixels of the canvas as fetches of the document's device.
#include <span>
#include <vector>

#include <texton/fetch.h>

#include "viewer/model/document.h"
#include "viewer/render/display.h"

namespace texton::viewer {

/// A texture of what is at a place and how places in texels become its coordinates.
class PlaceTexture {
public:
    /// The place is one of the document's array. A sampler that counts in texels reads its level alone. Throws what Texture throws.
    PlaceTexture(const Document& document, const Place& place, const Sampler& sampler);

    /// At a place in texels of the place's level, where a pixel is so many texels wide and high.
    FetchPoint at(double x, double y, double across, double down) const;
    /// A cube seen in a direction that changes so from pixel to pixel.
    FetchPoint toward(const std::array<float, 3>& direction, const std::array<float, 3>& dx,
                      const std::array<float, 3>& dy) const;
    /// At shares of width and height.
    FetchPoint at_shares(const std::array<double, 2>& share, const std::array<double, 2>& dx,
                         const std::array<double, 2>& dy) const;

    std::vector<Colour> fetch(std::span<const FetchPoint> points) const;
    /// The texels of the place's own level alone, for point filters.
    std::vector<Colour> fetch_level(std::span<FetchPoint> points) const;
    /// Whether fetches need no gradients and go by rows.
    bool is_affine() const noexcept;
    /// `columns` x `rows` pixels, of which the first has its middle at (x, y).
    std::vector<Colour> fetch_rows(double x, double y, double across, double down, std::size_t columns,
                                   std::size_t rows) const;

private:
    std::vector<Colour> values(std::span<const FetchPoint> points, FetchOperation operation) const;

    Texture texture_;
    Place place_;
    Extent extent_;
    bool gradients_ = false;
};

/// Words of a fetch as values: integers are converted.
[[nodiscard]] Colour colour_of(const Texel& texel, Format format);

}  // namespace texton::viewer
