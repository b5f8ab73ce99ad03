#pragma once
// Zoom and position of the canvas as a value.
#include <texton/extent.h>

namespace texton::viewer {

/// A position in texels of a subresource or in pixels of the canvas.
struct Position {
    double x = 0;
    double y = 0;
    bool operator==(const Position&) const = default;
};

/// Zoom and position of the canvas.
struct ViewState {
    double zoom = 1;  ///< canvas pixels per texel
    Position center;  ///< position in the center of the canvas, in texels
    bool operator==(const ViewState&) const = default;
};

constexpr double kMinZoom = 1.0 / 1024;  ///< minimum zoom
constexpr double kMaxZoom = 1024;        ///< maximum zoom

/// Returns the view that shows the whole image in the center of a canvas of `width` x `height` pixels. A zoom above 1
/// is an integer, so that all texels have the same size.
[[nodiscard]] ViewState fitted(Extent image, int width, int height);
/// Returns the view after zooming by a factor. The position of the image at `pixel` is unchanged.
[[nodiscard]] ViewState zoomed(ViewState view, double factor, Position pixel, int width, int height);
/// Returns the view after dragging the image by `pixels`. The center of the canvas stays inside the image.
[[nodiscard]] ViewState panned(ViewState view, Position pixels, Extent image);

/// Returns the position in the image, in texels, of a position on the canvas, in pixels.
[[nodiscard]] Position to_image(const ViewState& view, Position pixel, int width, int height);

}  // namespace texton::viewer
