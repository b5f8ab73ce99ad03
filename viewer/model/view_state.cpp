#include "viewer/model/view_state.h"

#include <algorithm>
#include <cmath>

namespace texton::viewer {

ViewState fitted(Extent image, int width, int height) {
    const double w = static_cast<double>(image.width);
    const double h = static_cast<double>(image.height);
    double zoom = std::min(width / w, height / h);
    if (zoom > 1) zoom = std::floor(zoom);
    return {std::clamp(zoom, kMinZoom, kMaxZoom), {w / 2, h / 2}};
}

ViewState zoomed(ViewState view, double factor, Position pixel, int width, int height) {
    const Position fixed = to_image(view, pixel, width, height);
    view.zoom = std::clamp(view.zoom * factor, kMinZoom, kMaxZoom);
    view.center = {fixed.x - (pixel.x - width / 2.0) / view.zoom, fixed.y - (pixel.y - height / 2.0) / view.zoom};
    return view;
}

ViewState panned(ViewState view, Position pixels, Extent image) {
    view.center.x = std::clamp(view.center.x - pixels.x / view.zoom, 0.0, static_cast<double>(image.width));
    view.center.y = std::clamp(view.center.y - pixels.y / view.zoom, 0.0, static_cast<double>(image.height));
    return view;
}

Position to_image(const ViewState& view, Position pixel, int width, int height) {
    return {view.center.x + (pixel.x - width / 2.0) / view.zoom, view.center.y + (pixel.y - height / 2.0) / view.zoom};
}

}  // namespace texton::viewer
