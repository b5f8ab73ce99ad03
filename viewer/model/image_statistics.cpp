#include "viewer/model/image_statistics.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/linear.h>
#include <texton/percentiles.h>

#include "viewer/model/kernel_run.h"
#include "viewer/text/value_text.h"

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

StatisticsOptions range_of(const TotalStatistics& statistics, int channels) {
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

// Statistics of an image with a texture of each part.
ImageStatistics statistics_of(const Stream& stream, const TextureParts& parts, Format format,
                              const std::optional<StatisticsOptions>& range, std::span<const double> shares,
                              bool has_one_part) {
    const Linear memory(stream.device(), sizeof(Statistics));
    const auto collect = [&](const StatisticsOptions& options) {
        TotalStatistics total;
        parts([&](const Texture& part) {
            collect_statistics(stream, memory.view(), part, options);
            total.add(read_statistics(stream, memory.view()));
        });
        return total;
    };
    ImageStatistics result;
    result.channels = info(format).channels;
    const std::optional<StatisticsOptions> known = range ? range : range_of(format);
    result.range = known.value_or(StatisticsOptions{});
    result.all = collect(result.range);
    if (!known) {
        result.range = range_of(result.all, result.channels);
        result.all = collect(result.range);
    }
    if (has_one_part) {  // of a small image, values are sorted
        parts([&](const Texture& part) { result.percentiles = percentiles(stream, part, shares); });
    } else {
        result.percentiles = percentiles(stream, parts, shares);
    }
    return result;
}

Texture texture_of(const Array& array) {
    Sampler sampler = standard_sampler(array.info());
    sampler.filter = Filter::point;
    return Texture(array, sampler);
}

// Returns the description of an array of 2D slices.
ArrayInfo slices_of(const ArrayInfo& array, std::size_t rows, std::size_t slices) {
    ArrayInfo info{.format = array.format, .extent = {array.extent.width, rows}};
    info.layers = slices;
    info.kind = slices > 1 ? ArrayKind::layered_2d : ArrayKind::array_2d;
    return info;
}

}  // namespace

ImageStatistics statistics_of(const Device& device, const HostArray& array,
                              const std::optional<StatisticsOptions>& range, std::span<const double> shares) {
    HostArray slices;
    slices.info = slices_of(array.info, array.info.extent.height, slice_count(array.info, 0));
    slices.levels = {array.levels.front()};
    const Texture texture = texture_of(upload(device, slices));
    return statistics_of(
        Stream(device), [&](const auto& visit) { visit(texture); }, array.info.format, range, shares, true);
}

ImageStatistics statistics_of(const Device& device, const ImageFile& image,
                              const std::optional<StatisticsOptions>& range, std::span<const double> shares,
                              std::size_t memory) {
    const ArrayInfo& array = image.info();
    const std::size_t side = block_side(array.format);
    const std::size_t height = array.extent.height;
    // Texels are on the host and on the device. Files are decoded in whole tiles.
    const std::size_t row = 2 * packed_bytes(array.format, {array.extent.width, side});
    const std::size_t decoding = image.access().granule.height / side * row;
    if (decoding + row > memory)
        throw Error({.code = ErrorCode::out_of_memory,
                     .object = "texton::verify::statistics_of",
                     .problem = fmt::format("reading a row of {} takes {}, but {} was given", to_string(array.extent),
                                            viewer::size_text(decoding + row), viewer::size_text(memory)),
                     .remedy = fmt::format("Use {}MiB or more.", ((decoding + row) >> 20) + 1),
                     .numbers = {{"needed", decoding + row}, {"memory", memory}}});
    constexpr std::size_t kMostRows = 1024;
    const std::size_t rows = std::min((memory - decoding) / row, kMostRows) * side;
    const std::size_t slices = slice_count(array, 0);
    const auto parts = [&](const std::function<void(const Texture&)>& visit) {
        HostArray part;
        for (std::size_t z = 0; z < slices; ++z) {
            for (std::size_t y = 0; y < height; y += rows) {
                const Region region{{0, y, z}, {array.extent.width, std::min(rows, height - y), 1}};
                part.info = slices_of(array, region.extent.height, 1);
                part.levels.resize(1);
                part.levels[0].format = array.format;
                part.levels[0].extent = region.extent;
                part.levels[0].texels.resize(packed_bytes(array.format, region.extent));
                image.read({.region = region}, part.levels[0].texels);
                visit(texture_of(upload(device, part)));
            }
        }
    };
    return statistics_of(Stream(device), parts, array.format, range, shares, false);
}

}  // namespace texton::verify
