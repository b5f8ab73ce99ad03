#include "viewer/model/image_statistics.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include <texton/error.h>
#include <texton/linear.h>

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

StatisticsPasses passes_on(const Stream& stream, const TextureParts& parts) {
    return {.collect =
                [&](const StatisticsOptions& options) {
                    TotalStatistics total;
                    add_statistics(stream, parts, options, total);
                    return total;
                },
            .count = [&](const detail::KeyHalf& half, detail::KeyTotals& totals) { totals.add(stream, parts, half); }};
}

// Computes the statistics without the percentiles.
ImageStatistics counted(const StatisticsPasses& passes, Format format, const std::optional<StatisticsOptions>& range) {
    ImageStatistics result;
    result.channels = info(format).channels;
    const std::optional<StatisticsOptions> known = range ? range : range_of(format);
    result.range = known.value_or(StatisticsOptions{});
    result.all = passes.collect(result.range);
    if (!known) {
        result.range = range_of(result.all, result.channels);
        result.all = passes.collect(result.range);
    }
    return result;
}

}  // namespace

void add_statistics(const Stream& stream, const TextureParts& parts, const StatisticsOptions& options,
                    TotalStatistics& total) {
    const Linear memory(stream.device(), sizeof(Statistics));
    parts([&](const Texture& part) {
        collect_statistics(stream, memory.view(), part, options);
        total.add(read_statistics(stream, memory.view()));
    });
}

ImageStatistics statistics_of(const StatisticsPasses& passes, Format format,
                              const std::optional<StatisticsOptions>& range, std::span<const double> shares) {
    ImageStatistics result = counted(passes, format, range);
    result.percentiles = detail::percentiles_of(passes.count, shares);
    return result;
}

ImageStatistics statistics_of(const Device& device, const HostArray& array,
                              const std::optional<StatisticsOptions>& range, std::span<const double> shares) {
    HostArray slices;
    slices.info = slices_of(array.info, array.info.extent.height, slice_count(array.info, 0));
    slices.levels = {array.levels.front()};
    const Texture texture = texture_of(upload(device, slices));
    const Stream stream(device);
    const TextureParts whole = [&](const auto& visit) { visit(texture); };
    ImageStatistics result = counted(passes_on(stream, whole), array.info.format, range);
    result.percentiles = percentiles(stream, texture, shares);  // of a small image, values are sorted
    return result;
}

std::size_t StatisticsParts::rows_for(const ImageFile& image, std::size_t memory) {
    const ArrayInfo& array = image.info();
    const std::size_t side = block_side(array.format);
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
    return std::min((memory - decoding) / row, kMostRows) * side;
}

StatisticsParts::StatisticsParts(ImageFile image, std::size_t memory, std::size_t max_rows)
    : image_(std::move(image)), slices_(slice_count(image_.info(), 0)) {
    const std::size_t side = block_side(image_.info().format);
    rows_ = std::min(rows_for(image_, memory), std::max(max_rows / side, std::size_t{1}) * side);
    parts_of_slice_ = (image_.info().extent.height + rows_ - 1) / rows_;
}

void StatisticsParts::visit(const Device& device, std::size_t first, std::size_t end,
                            const std::function<void(const Texture&)>& visit) const {
    const ArrayInfo& array = image_.info();
    HostArray part;
    part.levels.resize(1);
    part.levels[0].format = array.format;
    for (std::size_t i = first; i < end; ++i) {
        const std::size_t y = i % parts_of_slice_ * rows_;
        const Region region{{0, y, i / parts_of_slice_},
                            {array.extent.width, std::min(rows_, array.extent.height - y), 1}};
        part.info = slices_of(array, region.extent.height, 1);
        part.levels[0].extent = region.extent;
        part.levels[0].texels.resize(packed_bytes(array.format, region.extent));
        image_.read({.region = region}, part.levels[0].texels);
        visit(texture_of(upload(device, part)));
    }
}

ImageStatistics statistics_of(const Device& device, const ImageFile& image,
                              const std::optional<StatisticsOptions>& range, std::span<const double> shares,
                              std::size_t memory) {
    const StatisticsParts parts(image, memory, image.info().extent.height);
    const TextureParts all = [&](const auto& visit) { parts.visit(device, 0, parts.count(), visit); };
    const Stream stream(device);
    return statistics_of(passes_on(stream, all), image.info().format, range, shares);
}

}  // namespace texton::verify
