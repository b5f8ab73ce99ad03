#pragma once
#include <QPainter>
#include <functional>
#include <optional>
#include <vector>

#include "viewer/gui/canvas_text.h"
#include "viewer/gui/workspace.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// Returns the fixed-width font of the system, with its size in screen pixels.
[[nodiscard]] QFont overlay_font(double unit);

/// Draws over the tiles: grid, values, names of parts, outlines, annotations, selection, pins and the wipe line.
/// Lengths on the canvas are in screen pixels; `unit` is the device pixel ratio, in screen pixels per window pixel. The
/// scene and the painter must outlive the overlay.
class CanvasOverlay {
public:
    CanvasOverlay(const Scene& scene, QPainter& painter, double unit);

    void draw_grid();
    /// Draws the values of texels in black or white, depending on the background. `color` returns the background color
    /// at a pixel of the plane.
    void draw_text(const std::vector<CanvasText::Text>& text, const std::function<QRgb(int x, int y)>& color);
    void draw_part_names();
    /// Draws vector graphics, whose coordinates are texels of the current subresource.
    void draw_commands(const std::vector<tev::Command>& commands);
    void draw_outlines(const std::vector<Outline>& outlines);
    void draw_selection(const TexelBox& box);
    void draw_pins(const std::vector<Position>& pins);
    void draw_wipe();
    /// Draws the annotations of the image with this index.
    void draw_annotations(std::size_t image, std::optional<std::size_t> selected);
    /// Draws a name in the top left corner of the canvas.
    void draw_title(const QString& title);

    /// Returns the area of the canvas that a box of texels covers, or nullopt if the canvas does not show the
    /// subresource.
    std::optional<QRectF> box_of(const SubresourceIndex& subresource, const QRectF& texels) const;

private:
    QRectF box_in(const Part& part, const QRectF& texels) const;
    void draw_frame(const QRectF& box, const QColor& color, Qt::PenStyle style);
    void draw_chip(const QPointF& corner, const QString& text, double max_width);

    const Scene& scene_;
    QPainter& painter_;
    double unit_;
    PlanePixel origin_;
    std::vector<Part> parts_;
};

constexpr double kLeastForText = 50;  ///< minimum size of a texel for values, in window pixels
constexpr double kMinForGrid = 12;    ///< minimum size of a texel for the grid, in window pixels

}  // namespace texton::viewer
