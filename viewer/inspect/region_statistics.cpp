#include "viewer/inspect/region_statistics.h"

#include <algorithm>
#include <cmath>

#include <texton/linear.h>

#include "viewer/inspect/region_texture.h"
#include "viewer/model/positions.h"

namespace texton::viewer {
namespace {

Statistics collected(const Device& device, const Texture& texture, const ValueRange& range) {
    const Stream stream(device);
    const Linear memory(device, sizeof(Statistics));
    collect_statistics(stream, memory.view(), texture, {.low = range.low, .high = range.high});
    return read_statistics(stream, memory.view());
}

// Returns the range of the format, or nullopt if the range must be derived from the values.
std::optional<ValueRange> range_of(Format format) {
    const FormatInfo& row = info(format);
    switch (row.kind) {
        case FormatKind::unorm:
        case FormatKind::srgb: return ValueRange{0, 1};
        case FormatKind::snorm: return ValueRange{-1, 1};
        case FormatKind::uint:
            if (row.bits <= 16) return ValueRange{0, std::ldexp(1.0f, row.bits)};
            break;
        case FormatKind::sint:
            if (row.bits <= 16) return ValueRange{-std::ldexp(1.0f, row.bits - 1), std::ldexp(1.0f, row.bits - 1)};
            break;
        case FormatKind::floating: break;
    }
    return {};
}

std::optional<ValueRange> extremes(const Statistics& statistics, int first, int end) {
    std::optional<ValueRange> out;
    for (int channel = first; channel < end; ++channel) {
        if (statistics.finite[channel] == 0) continue;
        const ValueRange one{statistics.lowest(channel), statistics.highest(channel)};
        out = out ? ValueRange{std::min(out->low, one.low), std::max(out->high, one.high)} : one;
    }
    return out;
}

// Returns the range; an empty range is extended on both sides.
ValueRange widened(const ValueRange& range) {
    if (range.low < range.high) return range;
    const float half = std::max(0.5f, std::abs(range.low) * 0.5f);
    return {range.low - half, range.low + half};
}

}  // namespace

RegionStatistics region_statistics(const Document& document, const SubresourceIndex& subresource, const TexelBox& box) {
    const SubresourceIndex at = document.clamped(subresource);
    const Format format = document.info(at.plane).format;
    const BoxTexture texels(*document.as_loaded(), document.in_array(at), in_array(document, at, box));
    RegionStatistics out{.channels = file_channels(document, at.plane)};
    const std::optional<ValueRange> range = range_of(format);
    out.range = range.value_or(ValueRange{});
    out.statistics = collected(document.device(), texels.texture(), out.range);
    if (range) return out;
    out.range = widened(extremes(out.statistics, 0, out.channels).value_or(ValueRange{}));
    // Near the largest float, the width of the range could be infinite.
    if (!std::isfinite(out.range.high - out.range.low)) out.range = {out.range.low / 2, out.range.high / 2};
    out.statistics = collected(document.device(), texels.texture(), out.range);
    return out;
}

TexelBox whole_box(const Document& document, const SubresourceIndex& subresource) {
    const Extent extent = document.extent(subresource);
    return {0, 0, extent.width, extent.height};
}

std::optional<TexelBox> visible_box(const ViewState& view, int width, int height, Extent subresource) {
    const Position first = to_image(view, {0, 0}, width, height);
    const Position end = to_image(view, {width * 1.0, height * 1.0}, width, height);
    const auto inside = [](double value, std::size_t side) {
        return static_cast<std::size_t>(std::clamp(value, 0.0, static_cast<double>(side)));
    };
    const TexelBox box{inside(std::floor(first.x), subresource.width), inside(std::floor(first.y), subresource.height),
                       0, 0};
    const std::size_t end_x = inside(std::ceil(end.x), subresource.width);
    const std::size_t end_y = inside(std::ceil(end.y), subresource.height);
    if (end_x <= box.x || end_y <= box.y) return {};
    return TexelBox{box.x, box.y, end_x - box.x, end_y - box.y};
}

std::optional<TexelBox> clamped(const TexelBox& box, Extent subresource) {
    if (box.x >= subresource.width || box.y >= subresource.height || box.width == 0 || box.height == 0) return {};
    return TexelBox{box.x, box.y, std::min(box.width, subresource.width - box.x),
                    std::min(box.height, subresource.height - box.y)};
}

int file_channels(const Document& document, int plane) {
    const int channels = info(document.info(plane).format).channels;
    const std::size_t named = document.source().paths.empty() ? 0 : document.file().metadata().read_channels.size();
    return channels == 4 && named == 3 ? 3 : channels;
}

float display_unit(Format format) {
    const FormatInfo& row = info(format);
    if (row.kind == FormatKind::uint) return std::ldexp(1.0f, row.bits);
    return row.kind == FormatKind::sint ? std::ldexp(1.0f, row.bits - 1) : 1;
}

std::optional<ValueRange> display_range(const RegionStatistics& of, Format format,
                                        const std::array<bool, 4>& channels) {
    std::optional<ValueRange> out;
    const bool color = channels[0] || channels[1] || channels[2];
    for (int channel = 0; channel < of.channels; ++channel) {
        if (!channels[static_cast<std::size_t>(channel)] || (color && channel == 3)) continue;
        const std::optional<ValueRange> one = extremes(of.statistics, channel, channel + 1);
        if (!one) continue;
        out = out ? ValueRange{std::min(out->low, one->low), std::max(out->high, one->high)} : one;
    }
    if (!out) return {};
    const ValueRange range = widened(*out);
    const float unit = display_unit(format);
    return ValueRange{range.low / unit, range.high / unit};
}

}  // namespace texton::viewer
