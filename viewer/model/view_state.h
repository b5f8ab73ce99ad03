#pragma once
// Where the canvas looks: a value, so that it can be kept, compared and tested.
#include <texton/extent.h>

namespace texton::viewer {

struct Position {
    double x = 0;
    double y = 0;
    bool operator==(const Position&) const = default;
};

struct ViewState {
    double zoom = 1;  ///< canvas pixels along a side of a texel
    Position centre;  ///< in texels: what is seen in the middle of the canvas
    bool operator==(const ViewState&) const = default;
};

constexpr double kLeastZoom = 1.0 / 1024;
constexpr double kMostZoom = 1024;

/// All of the picture in the middle of a canvas of that many pixels. Enlarged by whole factors only, so that all texels
/// are equally large.
[[nodiscard]] ViewState fitted(Extent picture, int width, int height);
/// Zoomed by a factor, with the same point of the picture at `pixel`.
[[nodiscard]] ViewState zoomed(ViewState view, double factor, Position pixel, int width, int height);
/// Moved by a drag of so many pixels; the middle of the canvas stays inside the picture.
[[nodiscard]] ViewState panned(ViewState view, Position pixels, Extent picture);

[[nodiscard]] Position to_picture(const ViewState& view, Position pixel, int width, int height);
[[nodiscard]] Position to_canvas(const ViewState& view, Position texel, int width, int height);

}  // namespace texton::viewer
