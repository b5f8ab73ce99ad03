#pragma once
// Statistics of images, with a histogram and percentiles.
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <texton/statistics.h>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// Statistics of all texels of a level, as textures return them: sRGB formats as linear light.
struct ImageStatistics {
    int channels = 0;                               ///< of the format
    Statistics all{};                               ///< with the histogram of `range`
    StatisticsOptions range{};                      ///< range of the histogram
    std::vector<std::array<float, 4>> percentiles;  ///< for each share, of each channel
};

/// Computes the statistics of level 0 of an array on the device.
///
/// Without a range, the histogram has the range of the format, or for formats without limits that of the values. Throws
/// Error{unsupported} for planar formats, and the errors of Array, collect_statistics() and percentiles().
[[nodiscard]] ImageStatistics statistics_of(const Device& device, const HostArray& array,
                                            const std::optional<StatisticsOptions>& range,
                                            std::span<const double> shares);

}  // namespace texton::verify
