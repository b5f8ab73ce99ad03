#pragma once
// Statistics of a region of an image, from the library's kernel, and display ranges that are derived from them.
#include <array>
#include <optional>

#include <texton/statistics.h>

#include "viewer/model/document.h"

namespace texton::viewer {

/// A range of values: from black to white of a display, or of a histogram.
struct ValueRange {
    float low = 0;
    float high = 1;
    bool operator==(const ValueRange&) const = default;
};

/// Statistics of a region.
struct RegionStatistics {
    Statistics statistics{};  ///< of values that textures return: sRGB as linear light, integers as floats
    int channels = 0;         ///< number of channels of the file
    ValueRange range{};       ///< range of the histogram
};

/// Returns the statistics of a box of texels, which must be inside the level. If the device has a reduced image, the
/// statistics are those of the reduced image. The histogram's range is that of the format, or that of the values for
/// floats and 32-bit integers. Blocks until the device has finished. Throws the errors of Array, Texture and
/// collect_statistics().
[[nodiscard]] RegionStatistics region_statistics(const Document& document, const SubresourceIndex& subresource,
                                                 const TexelBox& box);

/// Returns the box of the whole level.
[[nodiscard]] TexelBox whole_box(const Document& document, const SubresourceIndex& subresource);
/// Returns the texels that a canvas shows. `width` and `height` are the canvas size in pixels; `subresource` is the
/// size of the level in texels. Returns nullopt if no texel is visible.
[[nodiscard]] std::optional<TexelBox> visible_box(const ViewState& view, int width, int height, Extent subresource);
/// Returns the part of the box that is inside the level, or nullopt if it is empty.
[[nodiscard]] std::optional<TexelBox> clamped(const TexelBox& box, Extent subresource);

/// Returns the number of channels of the file: 3 if the file has three channels that were loaded as four.
[[nodiscard]] int file_channels(const Document& document, int plane);

/// Returns the value that corresponds to 1 in Display: 2^bits for unsigned integers, 2^(bits - 1) for signed integers,
/// and 1 for other formats.
[[nodiscard]] float display_unit(Format format);
/// Returns the range from the lowest to the highest finite value of the enabled channels, in display units. Alpha is
/// used only if no color channel is enabled. If all values are equal, the range is centered on the value. Returns
/// nullopt if there are no finite values.
[[nodiscard]] std::optional<ValueRange> display_range(const RegionStatistics& of, Format format,
                                                      const std::array<bool, 4>& channels);

}  // namespace texton::viewer
