#pragma once
// Statistics of images, with a histogram and percentiles.
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <texton/percentiles.h>
#include <texton/statistics.h>
#include <texton/total_statistics.h>

#include "kernels/key_totals.h"
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

/// Parts of level 0 of an image, which are read one by one: whole rows of one slice.
class StatisticsParts {
public:
    /// Divides the image into parts of at most `max_rows` rows, which take at most `memory` bytes on the host and on
    /// the device together. Throws Error{out_of_memory}, with the number of bytes, if a row takes more.
    StatisticsParts(ImageFile image, std::size_t memory, std::size_t max_rows);

    /// Returns the number of parts.
    std::size_t count() const noexcept { return parts_of_slice_ * slices_; }
    /// Returns the number of rows of a part; the last one of a slice can have fewer.
    std::size_t rows() const noexcept { return rows_; }
    /// Returns the most rows that a part can have with this memory.
    static std::size_t rows_for(const ImageFile& image, std::size_t memory);
    /// Calls `visit` with a texture of each part from `first` to before `end`, on the device.
    void visit(const Device& device, std::size_t first, std::size_t end,
               const std::function<void(const Texture&)>& visit) const;

private:
    ImageFile image_;
    std::size_t rows_;
    std::size_t parts_of_slice_;
    std::size_t slices_;
};

/// Passes over all texels of an image, which computes their statistics in parts.
struct StatisticsPasses {
    std::function<TotalStatistics(const StatisticsOptions&)> collect;  ///< returns the statistics of all texels
    detail::CountKeys count;                                           ///< counts the values of all texels
};

/// Adds the statistics of parts of an image to a total.
void add_statistics(const Stream& stream, const TextureParts& parts, const StatisticsOptions& options,
                    TotalStatistics& total);
/// Computes the statistics of an image of a format with passes over its texels.
[[nodiscard]] ImageStatistics statistics_of(const StatisticsPasses& passes, Format format,
                                            const std::optional<StatisticsOptions>& range,
                                            std::span<const double> shares);

}  // namespace texton::verify
