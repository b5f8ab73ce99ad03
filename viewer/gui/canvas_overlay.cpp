#include "viewer/gui/canvas_overlay.h"

#include <QFontDatabase>
#include <QImage>
#include <algorithm>
#include <cmath>

#include "viewer/gui/annotation_shapes.h"
#include "viewer/gui/letter_sheet.h"
#include "viewer/gui/vector_graphics.h"

namespace texton::viewer {
namespace {

// A colored line with a dark outline is visible on any image.
const QColor kRim(0, 0, 0, 170);
const QColor kSelection(255, 255, 255);
const QColor kPin(255, 214, 64);
const QColor kGrid(128, 128, 128, 110);

bool is_dark(QRgb color) { return qRed(color) * 299 + qGreen(color) * 587 + qBlue(color) * 114 < 128'000; }

}  // namespace

QFont overlay_font(double unit) {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    const double pixels = font.pointSizeF() > 0 ? font.pointSizeF() * 96 / 72 : font.pixelSize();
    font.setPixelSize(std::max(1, static_cast<int>(std::lround(pixels * unit))));
    return font;
}

CanvasOverlay::CanvasOverlay(const Scene& scene, QPainter& painter, double unit)
    : scene_(scene), painter_(painter), unit_(unit), origin_(canvas_origin(scene)) {
    if (scene.shown && plane_box(scene).x >= 0) parts_ = parts_of(scene.session, *scene.shown);
    painter_.setFont(overlay_font(unit));
}

QRectF CanvasOverlay::box_in(const Part& part, const QRectF& texels) const {
    const double zoom = scene_.session.view.zoom;
    const double x = zoom / part.texels_across(), y = zoom / part.texels_down();
    return {part.at.x * zoom + texels.x() * x - origin_.x, part.at.y * zoom + texels.y() * y - origin_.y,
            texels.width() * x, texels.height() * y};
}

std::optional<QRectF> CanvasOverlay::box_of(const SubresourceIndex& subresource, const QRectF& texels) const {
    for (const Part& part : parts_) {
        if (part.subresource == subresource) return box_in(part, texels);
    }
    return std::nullopt;
}

// Draws lines by copying an image. QPainter would distribute the spans of a pen's line to threads, and each frame would
// wait for them.
void CanvasOverlay::draw_grid() {
    const QRect canvas(0, 0, scene_.width, scene_.height);
    QImage down(1, canvas.height(), QImage::Format_ARGB32_Premultiplied);
    QImage across(canvas.width(), 1, QImage::Format_ARGB32_Premultiplied);
    down.fill(kGrid);
    across.fill(kGrid);
    const auto draw = [&](const QRect& line, const QImage& ink) {
        const QRect seen = line & canvas;
        if (!seen.isEmpty()) painter_.drawImage(seen.topLeft(), ink, QRect(QPoint(0, 0), seen.size()));
    };
    // The first pixel of the texel that begins at the edge.
    const auto first_of = [](double edge) { return static_cast<int>(std::floor(edge + 0.5)); };
    for (const CanvasText::Box& seen : texels_on_canvas(scene_)) {
        const QRectF box =
            box_in(seen.part, QRectF(static_cast<double>(seen.texels.x), static_cast<double>(seen.texels.y),
                                     static_cast<double>(seen.texels.width), static_cast<double>(seen.texels.height)));
        const QRect all(QPoint(static_cast<int>(std::floor(box.left())), static_cast<int>(std::floor(box.top()))),
                        QPoint(static_cast<int>(std::floor(box.right())), static_cast<int>(std::floor(box.bottom()))));
        const auto columns = static_cast<double>(seen.texels.width), rows = static_cast<double>(seen.texels.height);
        const double wide = box.width() / columns, high = box.height() / rows;
        for (double i = 0; wide >= kMinForGrid * unit_ && i <= columns; ++i)
            draw({first_of(box.left() + i * wide), all.top(), 1, all.height()}, down);
        for (double i = 0; high >= kMinForGrid * unit_ && i <= rows; ++i)
            draw({all.left(), first_of(box.top() + i * high), all.width(), 1}, across);
    }
}

void CanvasOverlay::draw_text(const std::vector<CanvasText::Text>& text,
                              const std::function<QRgb(int x, int y)>& color) {
    const QFont font = painter_.font();
    for (const CanvasText::Text& all : text) {
        const QRectF first = box_in(
            all.box.part, QRectF(static_cast<double>(all.box.texels.x), static_cast<double>(all.box.texels.y), 1, 1));
        qsizetype lines = 1, letters = 1;
        for (const QStringList& texel : all.texels) {
            lines = std::max(lines, texel.size());
            for (const QString& line : texel) letters = std::max(letters, line.size());
        }
        QFont fitted = font;
        const double space = QFontMetricsF(font).horizontalAdvance('0') / font.pixelSize();
        const double size =
            std::min({first.height() * 0.9 / (static_cast<double>(lines) * 1.25),
                      first.width() * 0.9 / (static_cast<double>(letters) * space), 1.0 * font.pixelSize()});
        if (size < 7 * unit_) continue;  // too small to read
        fitted.setPixelSize(static_cast<int>(size));
        painter_.setFont(fitted);
        LetterSheet white(fitted, Qt::white), black(fitted, Qt::black);
        for (std::size_t i = 0; i < all.texels.size(); ++i) {
            const auto column = static_cast<double>(i % all.box.texels.width),
                       row = static_cast<double>(i / all.box.texels.width);
            const QRectF box = first.translated(column * first.width(), row * first.height());
            const QPoint center = box.center().toPoint();
            const bool on_dark = is_dark(color(center.x() + origin_.x, center.y() + origin_.y));
            if (std::ranges::all_of(all.texels[i], LetterSheet::has)) {
                (on_dark ? white : black).draw(painter_, box, all.texels[i]);
            } else {
                painter_.setPen(on_dark ? Qt::white : Qt::black);
                painter_.drawText(box, Qt::AlignCenter, all.texels[i].join('\n'));
            }
        }
    }
    painter_.setFont(font);
}

void CanvasOverlay::draw_part_names() {
    if (parts_.size() < 2) return;
    for (const Part& part : parts_) {
        const QRectF box =
            box_in(part, QRectF(0, 0, static_cast<double>(part.extent.width), static_cast<double>(part.extent.height)));
        if (box.right() < 0 || box.bottom() < 0 || box.left() > scene_.width || box.top() > scene_.height) continue;
        const QPointF corner(std::max(box.left(), 0.0), std::max(box.top(), 0.0));
        if (box.height() < 2 * QFontMetricsF(painter_.font()).height() && part.extent.height > 1) continue;
        draw_chip(corner, QString::fromStdString(label_of(*scene_.shown, part.subresource)), box.right() - corner.x());
    }
}

void CanvasOverlay::draw_chip(const QPointF& corner, const QString& text, double max_width) {
    const QFontMetricsF metrics(painter_.font());
    const double margin = 3 * unit_;
    const QRectF chip(corner, QSizeF(metrics.horizontalAdvance(text) + 2 * margin, metrics.height() + margin));
    if (text.isEmpty() || chip.width() > max_width) return;
    painter_.fillRect(chip, QColor(0, 0, 0, 150));
    painter_.setPen(Qt::white);
    painter_.drawText(chip, Qt::AlignCenter, text);
}

void CanvasOverlay::draw_frame(const QRectF& box, const QColor& color, Qt::PenStyle style) {
    painter_.setBrush(Qt::NoBrush);
    const QRectF around = box.adjusted(-unit_, -unit_, unit_, unit_);
    painter_.setPen(QPen(kRim, 3 * unit_));
    painter_.drawRect(around);
    painter_.setPen(QPen(color, 1.5 * unit_, style));
    painter_.drawRect(around);
}

void CanvasOverlay::draw_commands(const std::vector<tev::Command>& commands) {
    const auto texel = box_of(scene_.shown->clamped(scene_.session.subresource), QRectF(0, 0, 1, 1));
    if (!texel) return;
    painter_.save();
    painter_.translate(texel->topLeft());
    painter_.scale(texel->width(), texel->height());
    draw_vector_graphics(painter_, commands, unit_ / std::max(texel->width(), 1e-9));
    painter_.restore();
}

void CanvasOverlay::draw_outlines(const std::vector<Outline>& outlines) {
    const QRectF canvas(0, 0, scene_.width, scene_.height);
    for (const Outline& outline : outlines) {
        const auto box = box_of(outline.subresource, QRectF(outline.x, outline.y, outline.width, outline.height));
        if (!box || !box->adjusted(-4, -4, 4, 4).intersects(canvas)) continue;
        draw_frame(*box, outline.color, Qt::SolidLine);
        draw_chip(box->topLeft(), outline.label, std::max(box->width(), 0.0));
    }
}

void CanvasOverlay::draw_selection(const TexelBox& box) {
    const SubresourceIndex subresource = scene_.shown->clamped(scene_.session.subresource);
    const auto on_canvas = box_of(subresource, QRectF(static_cast<double>(box.x), static_cast<double>(box.y),
                                                      static_cast<double>(box.width), static_cast<double>(box.height)));
    if (on_canvas) draw_frame(*on_canvas, kSelection, Qt::DashLine);
}

void CanvasOverlay::draw_pins(const std::vector<Position>& pins) {
    const SubresourceIndex subresource = scene_.shown->clamped(scene_.session.subresource);
    for (std::size_t i = 0; i < pins.size(); ++i) {
        const auto texel = box_of(subresource, QRectF(std::floor(pins[i].x), std::floor(pins[i].y), 1, 1));
        if (!texel) continue;
        const bool is_inspected = i + 1 == pins.size();
        const double minimum = 9 * unit_;  // minimum size, as a texel may be too small to see
        QRectF box(0, 0, std::max(texel->width(), minimum), std::max(texel->height(), minimum));
        box.moveCenter(texel->center());
        draw_frame(box, is_inspected ? kPin : kPin.darker(140), Qt::SolidLine);
        if (pins.size() > 1) draw_chip(box.topRight() + QPointF(3 * unit_, 0), QString::number(i + 1), 1e9);
    }
}

void CanvasOverlay::draw_wipe() {
    const int column = wipe_column(scene_);
    if (column >= scene_.width && scene_.session.compare.mode != CompareMode::wipe) return;
    const double center = scene_.height / 2.0;
    painter_.setPen(QPen(kRim, 3 * unit_));
    painter_.drawLine(QPointF(column, 0), QPointF(column, scene_.height));
    painter_.setPen(QPen(Qt::white, unit_));
    painter_.drawLine(QPointF(column, 0), QPointF(column, scene_.height));
    painter_.setPen(QPen(kRim, unit_));
    painter_.setBrush(Qt::white);
    painter_.drawRoundedRect(QRectF(column - 4 * unit_, center - 14 * unit_, 8 * unit_, 28 * unit_), 4 * unit_,
                             4 * unit_);
}

void CanvasOverlay::draw_annotations(std::size_t image, std::optional<std::size_t> selected) {
    AnnotationShapes(scene_, image, painter_.font(), unit_).draw(painter_, selected);
}

void CanvasOverlay::draw_title(const QString& title) {
    const double margin = 6 * unit_;
    draw_chip({margin, margin}, title, scene_.width - 2 * margin);
}

}  // namespace texton::viewer
