#include "viewer/gui/panels/map_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

namespace texton::viewer {

MapView::MapView(const QString& accessible_name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(accessible_name);
    setAccessibleDescription(tr("The arrow keys select a cell, Enter chooses it"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void MapView::set_map(const QImage& map) {
    if (map.size() != map_.size()) pointed_.reset();
    if (map.size() != map_.size()) updateGeometry();
    map_ = map;
    update();
}

void MapView::mark(std::optional<QPoint> cell) {
    marked_ = cell;
    update();
}

int MapView::heightForWidth(int width) const {
    if (map_.isNull()) return sizeHint().height();
    return std::clamp(width * map_.height() / map_.width(), 90, 2 * width);
}

QRectF MapView::target() const {
    if (map_.isNull()) return {};
    const QSizeF room = size();
    const QSizeF shape = QSizeF(map_.size()).scaled(room, Qt::KeepAspectRatio);
    return {(room.width() - shape.width()) / 2, (room.height() - shape.height()) / 2, shape.width(), shape.height()};
}

std::optional<QPoint> MapView::cell_at(QPointF point) const {
    const QRectF box = target();
    if (!box.contains(point)) return std::nullopt;
    const int column = static_cast<int>((point.x() - box.x()) / box.width() * map_.width());
    const int row = static_cast<int>((point.y() - box.y()) / box.height() * map_.height());
    return QPoint(std::min(column, map_.width() - 1), std::min(row, map_.height() - 1));
}

QRectF MapView::rectangle_of(QPoint cell) const {
    const QRectF box = target();
    const QSizeF one(box.width() / map_.width(), box.height() / map_.height());
    return {box.x() + cell.x() * one.width(), box.y() + cell.y() * one.height(), one.width(), one.height()};
}

void MapView::point_at(std::optional<QPoint> cell) {
    if (cell == pointed_) return;
    pointed_ = cell;
    update();
    Q_EMIT pointed_at(cell.value_or(QPoint(-1, -1)));
}

void MapView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (!map_.isNull()) {
        painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
        painter.drawImage(target(), map_);
        // The frame is larger than the cell, because a cell can be too small to be visible.
        const auto draw = [&](QPoint cell, const QColor& color) {
            const QRectF box = rectangle_of(cell);
            const QRectF ring = box.adjusted(-4, -4, 4, 4);
            painter.setPen(QPen(Qt::black, 3));
            painter.drawRect(ring);
            painter.setPen(QPen(color, 1));
            painter.drawRect(ring);
        };
        if (marked_) draw(*marked_, Qt::white);
        if (pointed_ && hasFocus()) draw(*pointed_, palette().color(QPalette::Highlight));
    }
    painter.setPen(palette().color(hasFocus() ? QPalette::Highlight : QPalette::Mid));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void MapView::mouseMoveEvent(QMouseEvent* event) { point_at(cell_at(event->position())); }

void MapView::mousePressEvent(QMouseEvent* event) {
    const std::optional<QPoint> cell = cell_at(event->position());
    if (event->button() != Qt::LeftButton || !cell) return QWidget::mousePressEvent(event);
    point_at(cell);
    Q_EMIT chosen(*cell);
}

void MapView::leaveEvent(QEvent*) { point_at(std::nullopt); }

void MapView::keyPressEvent(QKeyEvent* event) {
    if (map_.isNull()) return QWidget::keyPressEvent(event);
    const QPoint from = pointed_.value_or(QPoint(map_.width() / 2, map_.height() / 2));
    const int step = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
    QPoint to = from;
    switch (event->key()) {
        case Qt::Key_Left: to.rx() -= step; break;
        case Qt::Key_Right: to.rx() += step; break;
        case Qt::Key_Up: to.ry() -= step; break;
        case Qt::Key_Down: to.ry() += step; break;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (pointed_) Q_EMIT chosen(*pointed_);
            return;
        default: return QWidget::keyPressEvent(event);
    }
    point_at(QPoint(std::clamp(to.x(), 0, map_.width() - 1), std::clamp(to.y(), 0, map_.height() - 1)));
}

}  // namespace texton::viewer
