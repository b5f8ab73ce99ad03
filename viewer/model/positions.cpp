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

int halvings(const Document& document, const Place& place) { return document.halvings(document.clamped(place)); }

}  // namespace

SeenTexel in_array(const Document& document, const SeenTexel& of_files) {
    return {document.in_array(of_files.place), scaled(of_files.at, -halvings(document, of_files.place))};
}

TexelBox in_array(const Document& document, const Place& place, const TexelBox& of_files) {
    const Place there = document.in_array(place);
    const Extent extent = level_extent(document.info(there.plane), there.level);
    const int times = halvings(document, place);
    const Range across = halved(of_files.x, of_files.width, times, extent.width);
    const Range down = halved(of_files.y, of_files.height, times, extent.height);
    return {across.first, down.first, across.size, down.size};
}

ViewState in_array(const Document& document, const Place& place, const ViewState& of_files) {
    const int times = halvings(document, place);
    return {std::ldexp(of_files.zoom, times), scaled(of_files.centre, -times)};
}

Session in_array(const Document& document, const Session& of_files) {
    Session out = of_files;
    const Place& place = of_files.place;
    out.place = document.in_array(place);
    out.view = in_array(document, place, of_files.view);
    for (Position& pin : out.pins) pin = scaled(pin, -halvings(document, place));
    if (out.selection) out.selection = in_array(document, place, *out.selection);
    return out;
}

SeenTexel in_files(const Document& document, const Place& shown, const SeenTexel& of_array) {
    const Place looked_at = document.clamped(shown);
    const Place in_array = document.in_array(looked_at);
    SeenTexel out = of_array;
    if (of_array.place.level != in_array.level) {
        out.place.level += document.halvings();
        return out;
    }
    const int times = document.halvings(looked_at);
    out.place.level = looked_at.level;
    out.place.slice = of_array.place.slice == in_array.slice ? looked_at.slice : of_array.place.slice << times;
    out.at = scaled(of_array.at, times);
    return out;
}

}  // namespace texton::viewer
