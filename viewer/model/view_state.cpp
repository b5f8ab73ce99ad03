#include "viewer/model/view_state.h"

#include <algorithm>
#include <cmath>

namespace texton::viewer {

ViewState fitted(Extent picture, int width, int height) {
    const double w = static_cast<double>(picture.width);
    const double h = static_cast<double>(picture.height);
    double zoom = std::min(width / w, height / h);
    if (zoom > 1) zoom = std::floor(zoom);
    return {std::clamp(zoom, kLeastZoom, kMostZoom), {w / 2, h / 2}};
}

ViewState zoomed(ViewState view, double factor, Position pixel, int width, int height) {
    const Position fixed = to_picture(view, pixel, width, height);
    view.zoom = std::clamp(view.zoom * factor, kLeastZoom, kMostZoom);
    view.centre = {fixed.x - (pixel.x - width / 2.0) / view.zoom, fixed.y - (pixel.y - height / 2.0) / view.zoom};
    return view;
}

ViewState panned(ViewState view, Position pixels, Extent picture) {
    view.centre.x = std::clamp(view.centre.x - pixels.x / view.zoom, 0.0, static_cast<double>(picture.width));
    view.centre.y = std::clamp(view.centre.y - pixels.y / view.zoom, 0.0, static_cast<double>(picture.height));
    return view;
}

Position to_picture(const ViewState& view, Position pixel, int width, int height) {
    return {view.centre.x + (pixel.x - width / 2.0) / view.zoom, view.centre.y + (pixel.y - height / 2.0) / view.zoom};
}

Position to_canvas(const ViewState& view, Position texel, int width, int height) {
    return {(texel.x - view.centre.x) * view.zoom + width / 2.0, (texel.y - view.centre.y) * view.zoom + height / 2.0};
}

}  // namespace texton::viewer
