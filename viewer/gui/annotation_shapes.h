#pragma once
#include <QFont>
#include <QPainter>
#include <optional>
#include <vector>

#include "viewer/render/layout.h"
#include "viewer/render/render.h"

namespace texton::viewer {

/// Returns the color on the screen.
[[nodiscard]] QColor screen_color(AnnotationColor color);

/// Coordinates of an annotation that a drag changes.
struct AnnotationGrip {
    bool from_x = true;
    bool from_y = true;
    bool to_x = true;
    bool to_y = true;
    bool is_whole() const { return from_x && from_y && to_x && to_y; }
    bool operator==(const AnnotationGrip&) const = default;
};

/// The annotations of one image on the canvas. Lines and text have constant sizes on the screen at any zoom. Lengths
/// and positions on the canvas are in screen pixels. The scene must outlive the object.
class AnnotationShapes {
public:
    /// The annotations of the image with this index. `font` is the font of text, in screen pixels, and `unit` the
    /// number of screen pixels per window pixel.
    AnnotationShapes(const Scene& scene, std::size_t image, const QFont& font, double unit);

    /// Draws all annotations that are visible, and the grips of the selected one.
    void draw(QPainter& painter, std::optional<std::size_t> selected) const;

    /// An annotation at a position of the canvas.
    struct Hit {
        std::size_t index = 0;  ///< index in Session::annotations
        AnnotationGrip grip;    ///< what a drag from there changes
    };
    /// Returns the topmost annotation at a pixel of the canvas.
    std::optional<Hit> at(Position pixel) const;

    /// Returns the subresource at a pixel of the canvas.
    std::optional<SubresourceIndex> subresource_at(Position pixel) const;
    /// Returns the position in a subresource, limited to its edges. Returns nullopt if the canvas does not show it.
    std::optional<Position> texel_at(const SubresourceIndex& subresource, Position pixel) const;
    /// Returns the pixel of a position. Returns nullopt if the canvas does not show the subresource.
    std::optional<QPointF> pixel_of(const SubresourceIndex& subresource, Position texel) const;

private:
    /// An annotation in pixels of the canvas.
    struct Shape {
        std::size_t index = 0;
        QPointF from;
        QPointF to;
        bool has_lines = true;  // false: text
        QRectF label{};         // empty: no text
        QString text{};
    };

    const Part* part_of(const SubresourceIndex& subresource) const;
    std::optional<Shape> shape_of(std::size_t index) const;
    QPointF label_center(const Annotation& annotation, const Shape& shape, QSizeF size) const;
    void draw_lines(QPainter& painter, const Annotation& annotation, const Shape& shape, const QPen& pen) const;
    void draw_label(QPainter& painter, const Shape& shape, const QColor& color) const;
    void draw_grips(QPainter& painter, const Annotation& annotation, const Shape& shape) const;

    const Scene& scene_;
    std::size_t image_;
    QFont font_;
    double unit_;
    PlanePixel origin_;
    QRectF canvas_;
    std::vector<Part> parts_;
};

}  // namespace texton::viewer
