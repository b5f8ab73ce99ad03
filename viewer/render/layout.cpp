#include "viewer/render/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace texton::viewer {
namespace {

constexpr std::array<const char*, 6> kFaces{"+x", "-x", "+y", "-y", "+z", "-z"};

// A 1D array is shown as a band. Its height is 1/16 of its width, so that it is visible.
double shown_height(const ArrayInfo& info, Extent extent) {
    return is_flat(info.kind) ? std::max(1.0, static_cast<double>(extent.width / 16))
                              : static_cast<double>(extent.height);
}

Part part_at(const Document& document, const SubresourceIndex& subresource, Position at) {
    const Extent extent = document.extent(subresource);
    return {subresource, at, static_cast<double>(extent.width), shown_height(document.whole(subresource.plane), extent),
            extent};
}

// All subresources of a level, arranged in rows of `columns`.
struct LevelSubresources {
    std::vector<SubresourceIndex> subresources;
    std::size_t columns = 1;
};

LevelSubresources places_of(const Document& document, const SubresourceIndex& shown, int level) {
    const ArrayInfo& info = document.whole(shown.plane);
    SubresourceIndex subresource = shown;
    subresource.level = level;
    LevelSubresources out;
    const std::size_t layers = is_layered(info.kind) ? info.layers : 1;
    const int faces = is_cube(info.kind) ? 6 : 1;
    const std::size_t slices = info.kind == ArrayKind::array_3d ? level_extent(info, level).depth : 1;
    for (subresource.layer = 0; subresource.layer < layers; ++subresource.layer) {
        for (subresource.face = 0; subresource.face < faces; ++subresource.face) {
            for (subresource.slice = 0; subresource.slice < slices; ++subresource.slice)
                out.subresources.push_back(subresource);
        }
    }
    // The block is approximately square.
    const Extent extent = document.extent(out.subresources.front());
    const double side = std::sqrt(static_cast<double>(out.subresources.size()) * shown_height(info, extent) /
                                  static_cast<double>(extent.width));
    out.columns =
        faces == 6 ? 6 : std::clamp(static_cast<std::size_t>(std::ceil(side)), std::size_t{1}, out.subresources.size());
    return out;
}

// Each level is a block. The first level is on the left. The others are stacked to the right of it.
std::vector<Part> sheet(const Document& document, const SubresourceIndex& shown) {
    const ArrayInfo& info = document.whole(shown.plane);
    const double gap =
        std::max(2.0, std::floor(static_cast<double>(std::max(info.extent.width, info.extent.height)) / 32));
    std::vector<Part> out;
    Position corner;
    for (int level = 0; level < info.levels; ++level) {
        const LevelSubresources all = places_of(document, shown, level);
        double right = 0, below = 0;
        for (std::size_t i = 0; i < all.subresources.size(); ++i) {
            Part part = part_at(document, all.subresources[i], {});
            part.at = {corner.x + static_cast<double>(i % all.columns) * (part.width + gap),
                       corner.y + static_cast<double>(i / all.columns) * (part.height + gap)};
            right = std::max(right, part.at.x + part.width);
            below = std::max(below, part.at.y + part.height);
            out.push_back(part);
        }
        corner = level == 0 ? Position{right + gap, 0} : Position{corner.x, below + gap};
    }
    return out;
}

// +y is in the first row, -x +z +x -z are in the second row, and -y is in the third row.
std::vector<Part> cross(const Document& document, const SubresourceIndex& shown) {
    static constexpr std::array<Position, 6> kCells{{{2, 1}, {0, 1}, {1, 0}, {1, 2}, {1, 1}, {3, 1}}};
    std::vector<Part> out;
    SubresourceIndex subresource = shown;
    for (subresource.face = 0; subresource.face < 6; ++subresource.face) {
        const Position cell = kCells[static_cast<std::size_t>(subresource.face)];
        const auto side = static_cast<double>(document.extent(subresource).width);
        out.push_back(part_at(document, subresource, {cell.x * side, cell.y * side}));
    }
    return out;
}

}  // namespace

Layout layout_of(const Session& session, const Document& document) {
    const bool is_of_cubes = session.layout == Layout::cross || session.layout == Layout::sphere;
    return is_of_cubes && !is_cube(document.whole().kind) ? Layout::single : session.layout;
}

std::vector<Part> parts_of(const Session& session, const Document& document) {
    const SubresourceIndex subresource = document.clamped(session.subresource);
    switch (layout_of(session, document)) {
        case Layout::single: return {part_at(document, subresource, {})};
        case Layout::sheet: return sheet(document, subresource);
        case Layout::cross: return cross(document, subresource);
        case Layout::sphere: return {};
    }
    return {};
}

Extent extent_of(const Session& session, const Document& document) {
    if (layout_of(session, document) == Layout::sphere) return {2, 2};
    double right = 0, below = 0;
    for (const Part& part : parts_of(session, document)) {
        right = std::max(right, part.at.x + part.width);
        below = std::max(below, part.at.y + part.height);
    }
    return {static_cast<std::size_t>(right), static_cast<std::size_t>(below)};
}

std::string label_of(const Document& document, const SubresourceIndex& subresource) {
    const ArrayInfo& info = document.whole(subresource.plane);
    std::string out;
    const auto say = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    if (info.levels > 1) say(fmt::format("level {}", subresource.level));
    if (is_layered(info.kind) && info.layers > 1)
        say(fmt::format("{} {}", is_cube(info.kind) ? "cube" : "layer", subresource.layer));
    if (is_cube(info.kind)) say(fmt::format("face {}", kFaces[static_cast<std::size_t>(subresource.face)]));
    if (info.kind == ArrayKind::array_3d && level_extent(info, subresource.level).depth > 1)
        say(fmt::format("slice {}", subresource.slice));
    return out;
}

}  // namespace texton::viewer
