#include "viewer/model/image_statistics.h"

#include <algorithm>
#include <limits>

#include <texton/linear.h>
#include <texton/percentiles.h>

#include "viewer/model/kernel_run.h"

namespace texton::verify {
namespace {

// The range of the values of a format, or nothing if it has no limits.
std::optional<StatisticsOptions> range_of(Format format) {
    switch (info(format).kind) {
        case FormatKind::unorm:
        case FormatKind::srgb: return StatisticsOptions{0, 1};
        case FormatKind::snorm: return StatisticsOptions{-1, 1};
        default: return {};
    }
}

StatisticsOptions range_of(const Statistics& statistics, int channels) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    for (int c = 0; c < channels; ++c) {
        low = std::min(low, statistics.lowest(c));
        high = std::max(high, statistics.highest(c));
    }
    if (low > high) return {};
    if (low < high) return {low, high};
    // The width of a bin must be more than 0, also near very large values.
    const float half = std::max(std::abs(low) / 2, 0.5f);
    return {low - half, low + half};
}

}  // namespace

ImageStatistics statistics_of(const Device& device, const HostArray& array,
                              const std::optional<StatisticsOptions>& range, std::span<const double> shares) {
    HostArray slices;
    slices.info = array.info;
    slices.info.levels = 1;
    slices.info.usage = {};
    slices.info.layers = slice_count(array.info, 0);
    slices.info.extent.depth = 1;
    slices.info.kind = slices.info.layers > 1 ? ArrayKind::layered_2d : ArrayKind::array_2d;
    slices.levels = {array.levels.front()};
    const Array uploaded = upload(device, slices);
    Sampler sampler = standard_sampler(slices.info);
    sampler.filter = Filter::point;
    const Texture texture(uploaded, sampler);

    const Stream stream(device);
    const Linear memory(device, sizeof(Statistics));
    const auto collect = [&](const StatisticsOptions& options) {
        collect_statistics(stream, memory.view(), texture, options);
        return read_statistics(stream, memory.view());
    };
    ImageStatistics result;
    result.channels = info(array.info.format).channels;
    const std::optional<StatisticsOptions> known = range ? range : range_of(array.info.format);
    result.range = known.value_or(StatisticsOptions{});
    result.all = collect(result.range);
    if (!known) {
        result.range = range_of(result.all, result.channels);
        result.all = collect(result.range);
    }
    result.percentiles = percentiles(stream, texture, shares);
    return result;
}

}  // namespace texton::verify
