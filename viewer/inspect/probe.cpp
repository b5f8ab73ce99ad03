#include "viewer/inspect/probe.h"

#include <algorithm>
#include <cmath>

#include "arrays/unit/cube_map.h"

namespace texton::viewer {
namespace {

std::array<std::size_t, 3> sides_of(Extent extent) { return {extent.width, extent.height, extent.depth}; }

// Returns the number of coordinates that a fetch of the kind has.
std::size_t axes_of(ArrayKind kind) {
    if (is_flat(kind)) return 1;
    return kind == ArrayKind::array_3d || is_cube(kind) ? 3 : 2;
}

// A texel of a cubemap level. Its borders on a line are found by bisection.
struct CubeTexelId {
    int face;
    double x;
    double y;
    bool operator==(const CubeTexelId&) const = default;
};

CubeTexelId cube_texel(const ProbePoint& at, double side) {
    const detail::CubePoint point = detail::project_to_cube(at[0], at[1], at[2]);
    const auto texel = [&](float subresource) { return std::floor((static_cast<double>(subresource) + 1) / 2 * side); };
    return {point.face, texel(point.u), texel(point.v)};
}

std::vector<double> cube_borders(double side, const Probe& probe, double first, double last, std::size_t maximum) {
    const auto id = [&](double share) { return cube_texel(point_on_line(probe, share), side); };
    const std::size_t steps = 4 * maximum;
    std::vector<double> borders;
    double before = first;
    for (std::size_t i = 1; i <= steps; ++i) {
        const double after = first + (last - first) * static_cast<double>(i) / static_cast<double>(steps);
        if (!(id(before) == id(after))) {
            double low = before;
            double high = after;
            for (int halving = 0; halving < 40; ++halving) {
                const double center = (low + high) / 2;
                (id(low) == id(center) ? low : high) = center;
            }
            borders.push_back(high);
        }
        before = after;
    }
    return borders.size() > maximum ? std::vector<double>() : borders;
}

}  // namespace

Fetch probe_fetch(const Probe& probe, const ArrayInfo& info, const SubresourceIndex& subresource,
                  const Sampler& sampler, const ProbePoint& at) {
    Fetch fetch{.operation = probe.operation, .component = probe.component};
    const bool cube = is_cube(info.kind);
    const std::array<std::size_t, 3> sides = sides_of(info.extent);
    std::array<float, 3> coordinates = at;
    const auto texels = static_cast<float>(std::exp2(static_cast<double>(probe.lod)));
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto side = static_cast<float>(sides[axis]);
        const bool in_texels = !sampler.normalized_coordinates && !cube;
        if (in_texels) coordinates[axis] *= side;
        const float step = in_texels ? texels : texels / side;
        if (!cube && axis == 0) fetch.point.dx[0] = step;
        if (!cube && axis == 1) fetch.point.dy[1] = step;
    }
    if (cube) {
        // The gradients point along the two axes of the face. A face is 2 units wide if the largest component is 1.
        const detail::CubePoint point = detail::project_to_cube(at[0], at[1], at[2]);
        const detail::CubeFace face = detail::cube_face(point.face);
        const float outward = std::abs(at[static_cast<std::size_t>(face.out_axis)]);
        const float step = 2 * outward * texels / static_cast<float>(info.extent.width);
        fetch.point.dx[face.u_axis] = step * static_cast<float>(face.u_sign);
        fetch.point.dy[face.v_axis] = step * static_cast<float>(face.v_sign);
    }
    fetch.point.x = coordinates[0];
    fetch.point.y = coordinates[1];
    fetch.point.z = coordinates[2];
    fetch.point.layer = static_cast<std::int32_t>(subresource.layer);
    fetch.point.lod = probe.lod;
    return fetch;
}

ProbePoint point_on_line(const Probe& probe, double share) {
    ProbePoint at{};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto from = static_cast<double>(probe.line_from[axis]);
        at[axis] = static_cast<float>(from + share * (static_cast<double>(probe.line_to[axis]) - from));
    }
    return at;
}

ScanLine scan(const Texture& texture, const ArrayInfo& info, const SubresourceIndex& subresource, const Probe& probe,
              double first, double last, std::size_t samples) {
    ScanLine line{first, last, std::vector<Texel>(samples)};
    std::vector<Fetch> fetches;
    fetches.reserve(samples);
    for (std::size_t i = 0; i < samples; ++i) {
        const ProbePoint at = point_on_line(probe, line.share_of(i));
        fetches.push_back(probe_fetch(probe, info, subresource, texture.sampler(), at));
    }
    line.texels = fetched(texture, fetches);
    return line;
}

std::vector<double> texel_borders(const ArrayInfo& info, int level, const Probe& probe, double first, double last,
                                  std::size_t maximum) {
    const Extent extent = level_extent(info, level);
    if (is_cube(info.kind)) return cube_borders(static_cast<double>(extent.width), probe, first, last, maximum);
    std::vector<double> borders;
    const std::array<std::size_t, 3> sides = sides_of(extent);
    for (std::size_t axis = 0; axis < axes_of(info.kind); ++axis) {
        const auto side = static_cast<double>(sides[axis]);
        const double from = static_cast<double>(probe.line_from[axis]) * side;
        const double to = static_cast<double>(probe.line_to[axis]) * side;
        if (from == to) continue;
        const double low = from + std::min(first, last) * (to - from);
        const double high = from + std::max(first, last) * (to - from);
        const double begin = std::ceil(std::min(low, high));
        const double end = std::floor(std::max(low, high));
        if (!(end - begin < static_cast<double>(maximum))) return {};
        for (double texel = begin; texel <= end; ++texel) borders.push_back((texel - from) / (to - from));
    }
    std::ranges::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    if (borders.size() > maximum) borders.clear();
    return borders;
}

}  // namespace texton::viewer
