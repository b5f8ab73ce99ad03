#pragma once
// Statistics of images, with a histogram and percentiles.
#include <array>
#include <optional>
#include <span>
#include <vector>

#include <texton/statistics.h>
#include <texton/total_statistics.h>

#include "viewer/model/host_image.h"

namespace texton::verify {

/// Statistics of all texels of a level, as textures return them: sRGB formats as linear light.
struct ImageStatistics {
    int channels = 0;                               ///< of the format
    TotalStatistics all{};                          ///< with the histogram of `range`
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

/// Computes the same statistics of level 0 of an image that is read in parts, with at most `memory` bytes for its
/// texels on the host and on the device. Each part is read several times: once for all statistics and twice if the
/// range depends on the values, and once and more for the percentiles.
///
/// Throws Error{out_of_memory}, with the number of bytes, if a row takes more. Throws the errors of ImageFile::read(),
/// and otherwise the same errors.
[[nodiscard]] ImageStatistics statistics_of(const Device& device, const ImageFile& image,
                                            const std::optional<StatisticsOptions>& range,
                                            std::span<const double> shares, std::size_t memory);

}  // namespace texton::verify
