#include "viewer/gui/canvas.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <cmath>
#include <cstring>

#include <texton/error.h>

#include "viewer/render.h"

namespace texton::viewer {

Canvas::Canvas(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(64, 64);
    setAccessibleName(tr("Picture"));
}

QSize Canvas::pixels() const {
    const double ratio = devicePixelRatioF();
    return {std::max(1, static_cast<int>(std::lround(width() * ratio))),
            std::max(1, static_cast<int>(std::lround(height() * ratio)))};
}

Position Canvas::pixel_at(QPointF point) const {
    const double ratio = devicePixelRatioF();
    return {point.x() * ratio, point.y() * ratio};
}

void Canvas::show_document(std::shared_ptr<const Document> document) {
    document_ = std::move(document);
    rendered_ = {};
    fit();
}

void Canvas::set_view(const ViewState& view, bool fits) {
    fits_ = fits;
    view_ = view;
    rendered_ = {};
    update();
    Q_EMIT view_changed();
}

void Canvas::fit() {
    if (document_) set_view(fitted(document_->extent(), pixels().width(), pixels().height()), true);
}

void Canvas::actual_size() { zoom_by(1 / view_.zoom); }

void Canvas::zoom_by(double factor) {
    const QSize size = pixels();
    const Position middle{size.width() / 2.0, size.height() / 2.0};
    if (document_) set_view(zoomed(view_, factor, middle, size.width(), size.height()), false);
}

void Canvas::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QSize size = pixels();
    if (document_ && rendered_.size() != size) {
        try {
            const auto picture = viewer::render(*document_, view_, size.width(), size.height());
            rendered_ = QImage(size, QImage::Format_RGB32);
            for (int y = 0; y < size.height(); ++y) {
                const auto columns = static_cast<std::size_t>(size.width());
                std::memcpy(rendered_.scanLine(y), picture.data() + static_cast<std::size_t>(y) * columns, columns * 4);
            }
            rendered_.setDevicePixelRatio(devicePixelRatioF());
        } catch (const std::exception& error) {
            document_.reset();  // or each repaint would fail again
            rendered_ = {};
            Q_EMIT failed(QString::fromUtf8(error.what()));
        }
    }
    if (rendered_.isNull()) {
        painter.fillRect(rect(), QColor::fromRgb(kBackground));
        return;
    }
    painter.drawImage(0, 0, rendered_);
}

void Canvas::resizeEvent(QResizeEvent*) {
    rendered_ = {};
    if (fits_) fit();
}

void Canvas::wheelEvent(QWheelEvent* event) {
    if (!document_) return;
    const QSize size = pixels();
    const double factor = std::exp2(event->angleDelta().y() / 240.0);  // a notch is 120: by the root of 2
    set_view(zoomed(view_, factor, pixel_at(event->position()), size.width(), size.height()), false);
    hover(event->position());
    event->accept();
}

void Canvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton) return;
    drag_ = event->position();
    setCursor(Qt::ClosedHandCursor);
}

void Canvas::mouseMoveEvent(QMouseEvent* event) {
    if (drag_ && document_) {
        const QPointF moved = event->position() - *drag_;
        drag_ = event->position();
        set_view(panned(view_, pixel_at(moved), document_->extent()), false);
    }
    hover(event->position());
}

void Canvas::mouseReleaseEvent(QMouseEvent*) {
    drag_.reset();
    unsetCursor();
}

void Canvas::mouseDoubleClickEvent(QMouseEvent*) { fit(); }

void Canvas::leaveEvent(QEvent*) { Q_EMIT hovered({-1, -1}); }

void Canvas::hover(QPointF point) {
    QPoint texel(-1, -1);
    if (document_) {
        const QSize size = pixels();
        const Position at = to_picture(view_, pixel_at(point), size.width(), size.height());
        const Extent extent = document_->extent();
        if (at.x >= 0 && at.y >= 0 && at.x < static_cast<double>(extent.width) &&
            at.y < static_cast<double>(extent.height)) {
            texel = {static_cast<int>(at.x), static_cast<int>(at.y)};
        }
    }
    Q_EMIT hovered(texel);
}

}  // namespace texton::viewer
