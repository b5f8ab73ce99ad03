#pragma once
// Fetches that are asked for by places of a picture, for arrays of every kind; and what they return, as numbers and in
// ulps.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <texton/array.h>
#include <texton/sample.h>

#include "viewer/model/session.h"

namespace texton::viewer {

struct Fetch {
    FetchOperation operation = FetchOperation::plain;
    int component = 0;  ///< of gather
    FetchPoint point{};
};

/// What the texture returns on its device. Throws what texton::sample() throws.
[[nodiscard]] Texel fetched(const Texture& texture, const Fetch& fetch);
/// The same for many, which share operation and component.
[[nodiscard]] std::vector<Texel> fetched(const Texture& texture, std::span<const Fetch> fetches);

/// How a place moves from a pixel to its right neighbour and to the one below, in texels of the place.
struct PixelSteps {
    Position right{1, 0};
    Position down{0, 1};
    bool operator==(const PixelSteps&) const = default;
};

/// From places in texels of a part of an array to fetches there, in the coordinates that a sampler takes.
class PlaceFetches {
public:
    /// The place is one that the array has.
    PlaceFetches(const ArrayInfo& info, const Place& place, const Sampler& sampler);

    /// At the place's level of detail where the array has levels, else a plain one.
    Fetch at(Position texel) const;
    /// One whose level of detail follows from the steps.
    Fetch at(Position texel, const PixelSteps& steps) const;
    /// As the canvas reads a pixel: by gradients where levels or anisotropy may count, else a plain one.
    Fetch as_seen(Position texel, const PixelSteps& steps) const;

private:
    std::array<double, 3> coordinates(Position texel) const;

    ArrayInfo info_;
    Place place_;
    Extent extent_;
    bool normalized_;
    bool has_footprint_;
};

/// Fetches that lie on a grid of a place, row by row.
struct FetchGrid {
    Position first;  ///< in texels of the place
    Position step{1, 1};
    std::size_t columns = 0;
    std::size_t rows = 0;

    Position at(std::size_t column, std::size_t row) const {
        return {first.x + step.x * static_cast<double>(column), first.y + step.y * static_cast<double>(row)};
    }
    PixelSteps steps() const { return {{step.x, 0}, {0, step.y}}; }
    bool operator==(const FetchGrid&) const = default;
};
/// One for each pixel of a canvas that shows the place, at its middle; none beside the place.
[[nodiscard]] FetchGrid visible_grid(const ViewState& view, int width, int height, Extent place);
/// So many along each side of every texel.
[[nodiscard]] FetchGrid whole_grid(Extent place, int per_texel);

/// The array itself where it is on the device, else a copy there. Throws what Array and copy() throw.
[[nodiscard]] Array on_device(const Array& array, const Device& device);

/// What a fetch of the format returned: integers as themselves.
[[nodiscard]] std::array<double, 4> numbers_of(const Texel& texel, Format format);
/// Of the texels that fetches of the format return: 32-bit floats or integers.
[[nodiscard]] Format returned_format(Format format);
/// Channels that a fetch of the format fills in.
[[nodiscard]] int returned_channels(Format format);
/// "0.50196", or an integer.
[[nodiscard]] std::string number_words(double number);

/// For each fetch the largest ulp distance of its channels, of 32-bit floats or integers.
[[nodiscard]] std::vector<std::uint32_t> ulps_between(std::span<const Texel> a, std::span<const Texel> b,
                                                      Format format);

}  // namespace texton::viewer
