#pragma once
#include <QPainter>
#include <functional>
#include <optional>
#include <vector>

#include "viewer/gui/canvas_text.h"
#include "viewer/gui/workspace.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// What is drawn over the tiles: grid, values, names of parts, outlines, selection, pins, a wipe's line. Lengths of the canvas are in
/// pixels of the screen, `unit` of which are as long as one of the window's.
class CanvasOverlay {
public:
    CanvasOverlay(const Scene& scene, QPainter& painter, const QFont& font, double unit);

    void draw_grid();
    /// In black or white, whichever is easier to read on the colour at a pixel of the plane.
    void draw_words(const std::vector<CanvasWords::Words>& words, const std::function<QRgb(int x, int y)>& colour);
    void draw_part_names();
    void draw_outlines(const std::vector<Outline>& outlines);
    void draw_selection(const TexelBox& box);
    void draw_pins(const std::vector<Position>& pins);
    void draw_wipe();

    /// Where a box of a place's texels is on the canvas, if the place is shown.
    std::optional<QRectF> box_of(const Place& place, const QRectF& texels) const;

private:
    QRectF box_in(const Part& part, const QRectF& texels) const;
    void draw_frame(const QRectF& box, const QColor& colour, Qt::PenStyle style);
    void draw_chip(const QPointF& corner, const QString& text, double most_width);

    const Scene& scene_;
    QPainter& painter_;
    double unit_;
    PlanePixel origin_;
    std::vector<Part> parts_;
};

constexpr double kLeastForWords = 50;  ///< a texel's side in pixels of the window
constexpr double kLeastForGrid = 12;

}  // namespace texton::viewer
