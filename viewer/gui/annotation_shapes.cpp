#include "viewer/gui/annotation_shapes.h"

#include <QFontMetricsF>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace texton::viewer {
namespace {

// Lengths in window pixels.
constexpr double kLine = 2;        // width of lines
constexpr double kRim = 2;         // width of the outline on each side of a line
constexpr double kHead = 14;       // length of the head of an arrow
constexpr double kTick = 6;        // half of the length of the ticks at the ends of a ruler
constexpr double kReach = 7;       // distance from which the mouse hits a line or a grip
constexpr double kGripSide = 8;    // side of a grip
constexpr double kLabelSpace = 8;  // distance of a label from its line
constexpr double kPadding = 4;     // space around the text of a label
constexpr double kMaxLabel = 320;  // width at which the text of a label is wrapped

constexpr int kLabelText = Qt::AlignLeft | Qt::TextWordWrap;

// The outline of a color: black or white, whichever has the higher contrast.
QColor rim_of(const QColor& color) {
    const bool is_dark = color.red() * 299 + color.green() * 587 + color.blue() * 114 < 100'000;
    return is_dark ? QColor(255, 255, 255, 220) : QColor(0, 0, 0, 200);
}

double length(QPointF vector) { return std::hypot(vector.x(), vector.y()); }

double distance(QPointF point, QPointF from, QPointF to) {
    const QPointF line = to - from;
    const double squared = QPointF::dotProduct(line, line);
    const double along = squared > 0 ? std::clamp(QPointF::dotProduct(point - from, line) / squared, 0.0, 1.0) : 0;
    return length(point - (from + line * along));
}

// Returns the part of a line inside the box. QPainter has no defined result for coordinates beyond 32 bits.
std::optional<QLineF> clipped(QPointF from, QPointF to, const QRectF& box) {
    double first = 0, last = 1;
    const QPointF line = to - from;
    for (const auto& [start, step, low, high] :
         {std::array{from.x(), line.x(), box.left(), box.right()}, {from.y(), line.y(), box.top(), box.bottom()}}) {
        if (step == 0) {
            if (start < low || start > high) return std::nullopt;
            continue;
        }
        const auto [enter, leave] = std::minmax({(low - start) / step, (high - start) / step});
        first = std::max(first, enter);
        last = std::min(last, leave);
    }
    if (first > last) return std::nullopt;
    return QLineF(from + line * first, from + line * last);
}

// Moves a box into another one as far as it is possible.
void move_inside(QRectF& box, const QRectF& outer) {
    box.moveLeft(std::max(outer.left(), std::min(box.left(), outer.right() - box.width())));
    box.moveTop(std::max(outer.top(), std::min(box.top(), outer.bottom() - box.height())));
}

}  // namespace

QColor screen_color(AnnotationColor color) {
    switch (color) {
        case AnnotationColor::red: return {255, 72, 72};
        case AnnotationColor::yellow: return {255, 214, 64};
        case AnnotationColor::green: return {64, 220, 96};
        case AnnotationColor::cyan: return {64, 220, 230};
        case AnnotationColor::blue: return {40, 90, 255};
        case AnnotationColor::magenta: return {240, 90, 240};
        case AnnotationColor::white: return {255, 255, 255};
        case AnnotationColor::black: return {0, 0, 0};
    }
    return {};
}

AnnotationShapes::AnnotationShapes(const Scene& scene, std::size_t image, const QFont& font, double unit)
    : scene_(scene),
      image_(image),
      font_(font),
      unit_(unit),
      origin_(canvas_origin(scene)),
      canvas_(0, 0, scene.width, scene.height) {
    if (scene.shown && plane_box(scene).x >= 0) parts_ = parts_of(scene.session, *scene.shown);
}

// --- positions -------------------------------------------------------------------------------------------------------

const Part* AnnotationShapes::part_of(const SubresourceIndex& subresource) const {
    if (parts_.empty()) return nullptr;
    const auto found = std::ranges::find(parts_, scene_.shown->clamped(subresource), &Part::subresource);
    return found == parts_.end() ? nullptr : &*found;
}

std::optional<QPointF> AnnotationShapes::pixel_of(const SubresourceIndex& subresource, Position texel) const {
    const Part* part = part_of(subresource);
    if (part == nullptr) return std::nullopt;
    const double zoom = scene_.session.view.zoom;
    return QPointF((part->at.x + texel.x / part->texels_across()) * zoom - origin_.x,
                   (part->at.y + texel.y / part->texels_down()) * zoom - origin_.y);
}

std::optional<Position> AnnotationShapes::texel_at(const SubresourceIndex& subresource, Position pixel) const {
    const Part* part = part_of(subresource);
    if (part == nullptr) return std::nullopt;
    const double zoom = scene_.session.view.zoom;
    const auto limited = [](double at, std::size_t texels) { return std::clamp(at, 0.0, static_cast<double>(texels)); };
    return Position{limited(((pixel.x + origin_.x) / zoom - part->at.x) * part->texels_across(), part->extent.width),
                    limited(((pixel.y + origin_.y) / zoom - part->at.y) * part->texels_down(), part->extent.height)};
}

std::optional<SubresourceIndex> AnnotationShapes::subresource_at(Position pixel) const {
    if (parts_.empty()) return std::nullopt;
    const auto seen = viewer::texel_at(scene_, pixel);
    return seen ? std::optional(seen->subresource) : std::nullopt;
}

// Labels do not cover the line: they are behind the tail of an arrow, above a box and beside a ruler. If the line is
// partly visible, they belong to the visible part.
QPointF AnnotationShapes::label_center(const Annotation& annotation, const Shape& shape, QSizeF size) const {
    const double space = kLabelSpace * unit_;
    const QPointF half(size.width() / 2, size.height() / 2);
    const QPointF line = shape.to - shape.from;
    const QLineF seen = clipped(shape.from, shape.to, canvas_).value_or(QLineF(shape.from, shape.to));
    switch (annotation.kind) {
        case AnnotationKind::text: return shape.from + half;
        case AnnotationKind::arrow: {
            if (std::abs(line.x()) >= std::abs(line.y()))
                return seen.p1() + QPointF(line.x() >= 0 ? -half.x() - space : half.x() + space, 0);
            return seen.p1() + QPointF(0, line.y() >= 0 ? -half.y() - space : half.y() + space);
        }
        case AnnotationKind::box: {
            const QRectF box = QRectF(shape.from, shape.to).normalized().intersected(canvas_);
            const double above = box.top() - half.y() - space / 2;
            return {box.left() + half.x(), above >= half.y() ? above : box.top() + half.y() + space / 2};
        }
        case AnnotationKind::ruler: {
            const double size_of_line = length(line);
            QPointF normal = size_of_line > 0 ? QPointF(-line.y(), line.x()) / size_of_line : QPointF(0, 1);
            if (normal.y() < 0 || (normal.y() == 0 && normal.x() < 0)) normal = -normal;  // below or to the right
            const double reach = std::abs(normal.x()) * half.x() + std::abs(normal.y()) * half.y() + space;
            const QPointF beside = seen.center() + normal * reach;
            const bool fits = canvas_.contains(QRectF(beside - half, size));
            return fits ? beside : seen.center() - normal * reach;
        }
    }
    return {};
}

std::optional<AnnotationShapes::Shape> AnnotationShapes::shape_of(std::size_t index) const {
    const Annotation& annotation = scene_.session.annotations[index];
    const auto from = pixel_of(annotation.subresource, annotation.from);
    const auto to = pixel_of(annotation.subresource, annotation.to);
    if (annotation.image != image_ || !from || !to) return std::nullopt;
    const bool has_lines = annotation.kind != AnnotationKind::text;
    Shape shape{.index = index, .from = *from, .to = has_lines ? *to : *from, .has_lines = has_lines};
    const double reach = (kHead + kReach) * unit_;
    const QRectF area = QRectF(shape.from, shape.to).normalized().adjusted(-reach, -reach, reach, reach);
    const bool is_seen =
        annotation.kind == AnnotationKind::box || !has_lines
            ? area.intersects(canvas_)
            : clipped(shape.from, shape.to, canvas_.adjusted(-reach, -reach, reach, reach)).has_value();
    shape.text = QString::fromStdString(annotation.text);
    if (annotation.kind == AnnotationKind::ruler) {
        const QString measured = QString::fromStdString(length_text(annotation));
        shape.text = shape.text.isEmpty() ? measured : shape.text + '\n' + measured;
    }
    if (!shape.text.isEmpty()) {
        const double padding = kPadding * unit_;
        const QRectF space(0, 0, kMaxLabel * unit_, 1e6);
        const QSizeF lines = QFontMetricsF(font_).boundingRect(space, kLabelText, shape.text).size();
        // Whole pixels, so that rounding does not wrap the text at other words.
        const QSizeF size(std::ceil(lines.width()) + 2 * padding, std::ceil(lines.height()) + padding);
        shape.label = QRectF(QPointF(0, 0), size);
        shape.label.moveCenter(label_center(annotation, shape, size));
        if (has_lines && is_seen) move_inside(shape.label, canvas_);
        // Whole pixels, so that the text is as sharp as all other text.
        shape.label.moveTopLeft(QPointF(std::round(shape.label.x()), std::round(shape.label.y())));
    }
    if (!is_seen && !shape.label.intersects(canvas_)) return std::nullopt;
    return shape;
}

// --- drawing ---------------------------------------------------------------------------------------------------------

void AnnotationShapes::draw(QPainter& painter, std::optional<std::size_t> selected) const {
    if (parts_.empty()) return;
    painter.save();
    painter.setFont(font_);
    for (std::size_t i = 0; i < scene_.session.annotations.size(); ++i) {
        const std::optional<Shape> shape = shape_of(i);
        if (!shape) continue;
        const Annotation& annotation = scene_.session.annotations[i];
        const QColor color = screen_color(annotation.color);
        painter.setRenderHint(QPainter::Antialiasing, annotation.kind != AnnotationKind::box);
        if (shape->has_lines) {
            draw_lines(painter, annotation, *shape, QPen(rim_of(color), (kLine + 2 * kRim) * unit_));
            draw_lines(painter, annotation, *shape, QPen(color, kLine * unit_));
        }
        painter.setRenderHint(QPainter::Antialiasing, false);
        if (!shape->text.isEmpty()) draw_label(painter, *shape, color);
        if (selected == i) draw_grips(painter, annotation, *shape);
    }
    painter.restore();
}

void AnnotationShapes::draw_lines(QPainter& painter, const Annotation& annotation, const Shape& shape,
                                  const QPen& pen) const {
    const double reach = 64 * unit_;
    const QRectF area = canvas_.adjusted(-reach, -reach, reach, reach);
    const auto draw_line = [&](QPointF from, QPointF to) {
        if (const auto line = clipped(from, to, area)) painter.drawLine(*line);
    };
    QPen lines = pen;
    lines.setCapStyle(annotation.kind == AnnotationKind::box ? Qt::SquareCap : Qt::RoundCap);
    painter.setPen(lines);
    const QPointF line = shape.to - shape.from;
    const double size = length(line);
    const QPointF along = size > 0 ? line / size : QPointF(1, 0), across(-along.y(), along.x());
    switch (annotation.kind) {
        case AnnotationKind::text: return;
        case AnnotationKind::box: {
            const QPointF right(shape.to.x(), shape.from.y()), left(shape.from.x(), shape.to.y());
            draw_line(shape.from, right);
            draw_line(right, shape.to);
            draw_line(shape.to, left);
            draw_line(left, shape.from);
            return;
        }
        case AnnotationKind::arrow: {
            const double head = std::min(kHead * unit_, std::max(size, 1.0));
            draw_line(shape.from, shape.to);
            draw_line(shape.to, shape.to - along * head + across * head * 0.5);
            draw_line(shape.to, shape.to - along * head - across * head * 0.5);
            return;
        }
        case AnnotationKind::ruler: {
            const QPointF tick = across * kTick * unit_;
            draw_line(shape.from, shape.to);
            draw_line(shape.from - tick, shape.from + tick);
            draw_line(shape.to - tick, shape.to + tick);
            return;
        }
    }
}

void AnnotationShapes::draw_label(QPainter& painter, const Shape& shape, const QColor& color) const {
    painter.fillRect(shape.label, rim_of(color));
    painter.setPen(color);
    const double padding = kPadding * unit_;
    painter.drawText(shape.label.adjusted(padding, padding / 2, -padding, -padding / 2), kLabelText, shape.text);
}

void AnnotationShapes::draw_grips(QPainter& painter, const Annotation& annotation, const Shape& shape) const {
    std::vector<QPointF> grips{shape.from};
    if (shape.has_lines) grips.push_back(shape.to);
    if (annotation.kind == AnnotationKind::box) {
        grips.emplace_back(shape.to.x(), shape.from.y());
        grips.emplace_back(shape.from.x(), shape.to.y());
    }
    painter.setPen(QPen(Qt::black, unit_));
    painter.setBrush(Qt::white);
    const double half = kGripSide * unit_ / 2;
    for (const QPointF& grip : grips) {
        if (canvas_.contains(grip)) painter.drawRect(QRectF(grip.x() - half, grip.y() - half, 2 * half, 2 * half));
    }
    painter.setBrush(Qt::NoBrush);
}

// --- mouse -----------------------------------------------------------------------------------------------------------

std::optional<AnnotationShapes::Hit> AnnotationShapes::at(Position pixel) const {
    const QPointF point(pixel.x, pixel.y);
    const double reach = kReach * unit_;
    for (std::size_t i = scene_.session.annotations.size(); i-- > 0;) {
        const std::optional<Shape> shape = shape_of(i);
        if (!shape) continue;
        const Annotation& annotation = scene_.session.annotations[i];
        const QPointF right(shape->to.x(), shape->from.y()), left(shape->from.x(), shape->to.y());
        const bool is_box = annotation.kind == AnnotationKind::box;
        const auto is_near = [&](QPointF corner) { return length(point - corner) <= reach; };
        if (shape->has_lines) {
            if (is_near(shape->to)) return Hit{i, {false, false, true, true}};
            if (is_near(shape->from)) return Hit{i, {true, true, false, false}};
            if (is_box && is_near(right)) return Hit{i, {false, true, true, false}};
            if (is_box && is_near(left)) return Hit{i, {true, false, false, true}};
        }
        const auto is_on = [&](QPointF from, QPointF to) { return distance(point, from, to) <= reach; };
        const bool is_on_lines = is_box ? is_on(shape->from, right) || is_on(right, shape->to) ||
                                              is_on(shape->to, left) || is_on(left, shape->from)
                                        : shape->has_lines && is_on(shape->from, shape->to);
        if (is_on_lines || shape->label.contains(point)) return Hit{i, {}};
    }
    return std::nullopt;
}

}  // namespace texton::viewer
