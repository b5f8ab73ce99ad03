#pragma once
// Statistics of what is at a place, by the library's kernel, and ranges for the display that follow from them.
#include <array>
#include <optional>

#include <texton/statistics.h>

#include "viewer/model/document.h"

namespace texton::viewer {

/// Values from black to white, or those that a histogram's bins divide.
struct ValueRange {
    float low = 0;
    float high = 1;
    bool operator==(const ValueRange&) const = default;
};

struct PlaceStatistics {
    Statistics statistics{};  ///< of values as textures return them: sRGB as linear light, integers as floats
    int channels = 0;         ///< that the file has
    ValueRange range{};       ///< of the histogram
};

/// Of what the document's array has of the texels of a box that lies in the place; blocks until the device is done. The histogram's range is that of the format, or of
/// the values for floats and 32-bit integers. Throws what Array, Texture and collect_statistics() throw.
[[nodiscard]] PlaceStatistics place_statistics(const Document& document, const Place& place, const TexelBox& box);

/// All of the place.
[[nodiscard]] TexelBox whole_box(const Document& document, const Place& place);
/// What of it a canvas of so many pixels shows; none where nothing of it is seen.
[[nodiscard]] std::optional<TexelBox> visible_box(const ViewState& view, int width, int height, Extent place);
/// The part of `box` that the place has; none if there is none.
[[nodiscard]] std::optional<TexelBox> clamped(const TexelBox& box, Extent place);

/// Channels of the file: three where they were widened to four.
[[nodiscard]] int file_channels(const Document& document, int plane);

/// How much of a value is 1 for Display: the largest integer of the format, 1 for all others.
[[nodiscard]] float display_unit(Format format);
/// From the lowest to the highest finite value of the channels that are on (alpha only where it is the only one), in display units. If all are
/// equal, they are in its middle. None where there are no finite values.
[[nodiscard]] std::optional<ValueRange> display_range(const PlaceStatistics& of, Format format,
                                                      const std::array<bool, 4>& channels);

}  // namespace texton::viewer
