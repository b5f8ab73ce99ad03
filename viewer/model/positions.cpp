#include "viewer/model/positions.h"

#include <algorithm>
#include <cmath>

namespace texton::viewer {
namespace {

struct Range {
    std::size_t first;
    std::size_t size;
};

Range halved(std::size_t first, std::size_t size, int times, std::size_t limit) {
    if (times == 0) return {first, size};
    const std::size_t begin = std::min(first >> times, limit - 1);
    const std::size_t end = (first + size + (std::size_t{1} << times) - 1) >> times;
    return {begin, std::max(std::min(end, limit), begin + 1) - begin};
}

Position scaled(Position at, int doublings) { return {std::ldexp(at.x, doublings), std::ldexp(at.y, doublings)}; }

int halvings(const Document& document, const SubresourceIndex& subresource) {
    return document.halvings(document.clamped(subresource));
}

}  // namespace

SeenTexel in_array(const Document& document, const SeenTexel& of_files) {
    return {document.in_array(of_files.subresource), scaled(of_files.at, -halvings(document, of_files.subresource))};
}

TexelBox in_array(const Document& document, const SubresourceIndex& subresource, const TexelBox& of_files) {
    const SubresourceIndex there = document.in_array(subresource);
    const Extent extent = level_extent(document.info(there.plane), there.level);
    const int times = halvings(document, subresource);
    const Range across = halved(of_files.x, of_files.width, times, extent.width);
    const Range down = halved(of_files.y, of_files.height, times, extent.height);
    return {across.first, down.first, across.size, down.size};
}

ViewState in_array(const Document& document, const SubresourceIndex& subresource, const ViewState& of_files) {
    const int times = halvings(document, subresource);
    return {std::ldexp(of_files.zoom, times), scaled(of_files.center, -times)};
}

Session in_array(const Document& document, const Session& of_files) {
    Session out = of_files;
    const SubresourceIndex& subresource = of_files.subresource;
    out.subresource = document.in_array(subresource);
    out.view = in_array(document, subresource, of_files.view);
    for (Position& pin : out.pins) pin = scaled(pin, -halvings(document, subresource));
    if (out.selection) out.selection = in_array(document, subresource, *out.selection);
    return out;
}

SeenTexel in_files(const Document& document, const SubresourceIndex& shown, const SeenTexel& of_array) {
    const SubresourceIndex looked_at = document.clamped(shown);
    const SubresourceIndex in_array = document.in_array(looked_at);
    SeenTexel out = of_array;
    if (of_array.subresource.level != in_array.level) {
        out.subresource.level += document.halvings();
        return out;
    }
    const int times = document.halvings(looked_at);
    out.subresource.level = looked_at.level;
    out.subresource.slice =
        of_array.subresource.slice == in_array.slice ? looked_at.slice : of_array.subresource.slice << times;
    out.at = scaled(of_array.at, times);
    return out;
}

}  // namespace texton::viewer
