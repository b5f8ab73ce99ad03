#pragma once
// Fetches at texel positions of an image, for arrays of every kind. Conversion of their results to numbers and ulps.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/sample.h>

#include "viewer/model/session.h"

namespace texton::viewer {

/// Input of one texture fetch.
struct Fetch {
    FetchOperation operation = FetchOperation::plain;
    int component = 0;  ///< channel that gather returns
    FetchPoint point{};
};

/// Returns the result of a fetch on the texture's device. Blocks until the device has finished. Throws the errors of
/// texton::sample().
[[nodiscard]] Texel fetched(const Texture& texture, const Fetch& fetch);
/// Returns the results of many fetches. All use the operation and the component of the first.
[[nodiscard]] std::vector<Texel> fetched(const Texture& texture, std::span<const Fetch> fetches);

/// Steps from a pixel of the canvas to its right neighbor and to its lower neighbor, in texels of the displayed level.
struct PixelSteps {
    Position right{1, 0};
    Position down{0, 1};
    bool operator==(const PixelSteps&) const = default;
};

/// Converts texel positions in one level, layer, face or slice of an array to fetches, in the coordinates that a
/// sampler expects.
///
/// Keeps copies of its arguments. Several threads may call const member functions at once.
class SubresourceFetches {
public:
    /// The array must contain the level, layer, face and slice of `subresource`. If the sampler does not normalize
    /// coordinates and the array is no cubemap, coordinates are texels.
    SubresourceFetches(const ArrayInfo& info, const SubresourceIndex& subresource, const Sampler& sampler);

    /// Returns a fetch at the level of `subresource`, or a plain fetch if the array has one level.
    Fetch at(Position texel) const;
    /// Returns a fetch with gradients, which are the differences to the coordinates one step away.
    Fetch at(Position texel, const PixelSteps& steps) const;
    /// Returns the fetch that the canvas uses for a pixel: with gradients if levels or anisotropy can have an effect,
    /// otherwise a plain fetch.
    Fetch as_seen(Position texel, const PixelSteps& steps) const;

private:
    std::array<double, 3> coordinates(Position texel) const;

    ArrayInfo info_;
    SubresourceIndex subresource_;
    Extent extent_;
    bool normalized_;
    bool has_footprint_;
};

/// A regular grid of fetch positions, row by row.
struct FetchGrid {
    Position first;  ///< in texels
    Position step{1, 1};
    std::size_t columns = 0;
    std::size_t rows = 0;

    Position at(std::size_t column, std::size_t row) const {
        return {first.x + step.x * static_cast<double>(column), first.y + step.y * static_cast<double>(row)};
    }
    PixelSteps steps() const { return {{step.x, 0}, {0, step.y}}; }
    bool operator==(const FetchGrid&) const = default;
};
/// Returns a grid with one position for each canvas pixel whose center is inside the image. `subresource` is the size
/// of the displayed image in texels; `width` and `height` are the canvas size in pixels. The grid is empty if no pixel
/// shows the image.
[[nodiscard]] FetchGrid visible_grid(const ViewState& view, int width, int height, Extent subresource);
/// Returns a grid of `per_texel` x `per_texel` positions in every texel.
[[nodiscard]] FetchGrid whole_grid(Extent subresource, int per_texel);

/// Returns the array itself if it is on the device, or a copy on the device. Blocks while it copies. Throws the errors
/// of Array and copy().
[[nodiscard]] Array on_device(const Array& array, const Device& device);

/// Returns the channels of a fetch result as numbers: the integers of integer formats, the floats of other formats.
[[nodiscard]] std::array<double, 4> numbers_of(const Texel& texel, Format format);
/// Returns the format of fetch results: four channels of 32-bit floats, or of 32-bit integers for integer formats.
[[nodiscard]] Format returned_format(Format format);
/// Returns the number of channels that a fetch fills in: 4 for block-compressed formats.
[[nodiscard]] int returned_channels(Format format);
/// Returns a number as text with up to 7 significant digits, for example "0.50196". Larger integers are written in
/// full.
[[nodiscard]] std::string number_text(double number);

/// Returns the ulp distance for each pair of fetch results: the largest distance of the four channels. `format` is the
/// format of the array. Throws the errors of ulp_distances().
[[nodiscard]] std::vector<std::uint32_t> ulps_between(std::span<const Texel> a, std::span<const Texel> b,
                                                      Format format);

}  // namespace texton::viewer
