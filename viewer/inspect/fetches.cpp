#include "viewer/inspect/fetches.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/format.h>

#include <texton/copy.h>
#include <texton/metrics.h>

#include "arrays/unit/cube_map.h"

namespace texton::viewer {
namespace {

// A range of canvas pixels [first, end) along one axis.
struct Span {
    int first = 0;
    int end = 0;
};

// Returns the pixels whose centers are inside the image, along one axis.
Span seen(double center, double zoom, int pixels, std::size_t texels) {
    const auto pixel_of = [&](double texel) { return (texel - center) * zoom + pixels / 2.0 - 0.5; };
    const auto limited = [&](double pixel) { return static_cast<int>(std::clamp(pixel, 0.0, double(pixels))); };
    return {limited(std::ceil(pixel_of(0))), limited(std::ceil(pixel_of(static_cast<double>(texels))))};
}

bool has_integers(Format format) {
    const FormatKind kind = info(format).kind;
    return kind == FormatKind::uint || kind == FormatKind::sint;
}

}  // namespace

Texel fetched(const Texture& texture, const Fetch& fetch) { return fetched(texture, std::span(&fetch, 1)).front(); }

std::vector<Texel> fetched(const Texture& texture, std::span<const Fetch> fetches) {
    if (fetches.empty()) return {};
    std::vector<FetchPoint> points;
    points.reserve(fetches.size());
    for (const Fetch& fetch : fetches) points.push_back(fetch.point);
    return sample(texture, points, {.operation = fetches.front().operation, .component = fetches.front().component})
        .texels;
}

// --- positions -------------------------------------------------------------------------------------------------------

SubresourceFetches::SubresourceFetches(const ArrayInfo& info, const SubresourceIndex& subresource,
                                       const Sampler& sampler)
    : info_(info),
      subresource_(subresource),
      extent_(level_extent(info, subresource.level)),
      normalized_(sampler.normalized_coordinates || is_cube(info.kind)),
      has_footprint_(normalized_ && (info.levels > 1 || sampler.max_anisotropy > 1)) {}

std::array<double, 3> SubresourceFetches::coordinates(Position texel) const {
    const auto width = static_cast<double>(extent_.width);
    const auto height = static_cast<double>(extent_.height);
    if (is_cube(info_.kind)) {
        const detail::CubeFace face = detail::cube_face(subresource_.face);
        std::array<double, 3> direction{};
        direction[static_cast<std::size_t>(face.u_axis)] = face.u_sign * (2 * texel.x / width - 1);
        direction[static_cast<std::size_t>(face.v_axis)] = face.v_sign * (2 * texel.y / height - 1);
        direction[static_cast<std::size_t>(face.out_axis)] = face.out_sign;
        return direction;
    }
    const double z = static_cast<double>(subresource_.slice) + 0.5;
    if (!normalized_) return {texel.x, texel.y, z};
    return {texel.x / width, texel.y / height, z / static_cast<double>(extent_.depth)};
}

Fetch SubresourceFetches::at(Position texel) const {
    const std::array<double, 3> subresource = coordinates(texel);
    Fetch fetch;
    fetch.operation = info_.levels > 1 ? FetchOperation::lod : FetchOperation::plain;
    fetch.point = {.x = static_cast<float>(subresource[0]),
                   .y = static_cast<float>(subresource[1]),
                   .z = static_cast<float>(subresource[2]),
                   .layer = static_cast<std::int32_t>(subresource_.layer),
                   .lod = static_cast<float>(subresource_.level)};
    return fetch;
}

Fetch SubresourceFetches::at(Position texel, const PixelSteps& steps) const {
    Fetch fetch = at(texel);
    fetch.operation = FetchOperation::gradients;
    const std::array<double, 3> here = coordinates(texel);
    const std::array<double, 3> right = coordinates({texel.x + steps.right.x, texel.y + steps.right.y});
    const std::array<double, 3> below = coordinates({texel.x + steps.down.x, texel.y + steps.down.y});
    for (std::size_t axis = 0; axis < 3; ++axis) {
        fetch.point.dx[axis] = static_cast<float>(right[axis] - here[axis]);
        fetch.point.dy[axis] = static_cast<float>(below[axis] - here[axis]);
    }
    return fetch;
}

Fetch SubresourceFetches::as_seen(Position texel, const PixelSteps& steps) const {
    if (has_footprint_) return at(texel, steps);
    Fetch fetch = at(texel);
    fetch.operation = FetchOperation::plain;
    return fetch;
}

FetchGrid visible_grid(const ViewState& view, int width, int height, Extent subresource) {
    const Span across = seen(view.center.x, view.zoom, width, subresource.width);
    const Span down = seen(view.center.y, view.zoom, height, subresource.height);
    if (across.first >= across.end || down.first >= down.end) return {};
    return {to_image(view, {across.first + 0.5, down.first + 0.5}, width, height),
            {1 / view.zoom, 1 / view.zoom},
            static_cast<std::size_t>(across.end - across.first),
            static_cast<std::size_t>(down.end - down.first)};
}

FetchGrid whole_grid(Extent subresource, int per_texel) {
    const double step = 1.0 / per_texel;
    const auto count = static_cast<std::size_t>(per_texel);
    return {{step / 2, step / 2}, {step, step}, subresource.width * count, subresource.height * count};
}

Array on_device(const Array& array, const Device& device) {
    if (array.device() == device) return Array(array.block());
    Array made(device, array.info());
    for (int level = 0; level < array.info().levels; ++level)
        copy(made.view({.level = level}), array.view({.level = level}));
    return made;
}

// --- results ---------------------------------------------------------------------------------------------------------

std::array<double, 4> numbers_of(const Texel& texel, Format format) {
    std::array<double, 4> numbers{};
    for (std::size_t c = 0; c < 4; ++c) {
        const std::uint32_t bits = texel.channel[c];
        if (!has_integers(format)) {
            numbers[c] = static_cast<double>(std::bit_cast<float>(bits));
        } else if (info(format).kind == FormatKind::uint) {
            numbers[c] = bits;
        } else {
            numbers[c] = static_cast<std::int32_t>(bits);
        }
    }
    return numbers;
}

Format returned_format(Format format) {
    if (!has_integers(format)) return Format::rgba32_float;
    return info(format).kind == FormatKind::uint ? Format::rgba32_uint : Format::rgba32_sint;
}

int returned_channels(Format format) {
    const FormatInfo& row = info(format);
    return row.layout == FormatLayout::block ? 4 : row.channels;
}

std::string number_text(double number) {
    const double whole = std::round(number);
    if (whole == number && std::abs(number) >= 2 && std::abs(number) < 1e10) return fmt::format("{:.0f}", number);
    return fmt::format("{:.7g}", number);
}

std::vector<std::uint32_t> ulps_between(std::span<const Texel> a, std::span<const Texel> b, Format format) {
    if (a.empty()) return {};
    const Extent extent{a.size(), 1};
    return ulp_distances(host_view(static_cast<const void*>(a.data()), returned_format(format), extent),
                         host_view(static_cast<const void*>(b.data()), returned_format(format), extent));
}

}  // namespace texton::viewer
