#include "viewer/gui/canvas.h"

#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <cmath>
#include <cstring>

namespace texton::viewer {

Canvas::Canvas(Workspace& workspace, QWidget* parent) : QWidget(parent), workspace_(workspace) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setMinimumSize(64, 64);
    setObjectName("canvas");
    setAccessibleName(tr("Picture"));
    const auto again = [this] {
        rendered_ = {};
        refit();
        update();
    };
    connect(&workspace_, &Workspace::changed, this, again);
    connect(&workspace_, &Workspace::documents_changed, this, again);
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

Scene Canvas::scene() const { return workspace_.scene(pixels().width(), pixels().height()); }

void Canvas::set_view(const ViewState& view) {
    workspace_.look([&](Session& session) {
        session.view = view;
        session.fits = false;
    });
}

void Canvas::refit() {
    const Scene now = scene();
    if (!now.session.fits || !now.shown) return;
    const ViewState view = fitted(canvas_extent(now), now.width, now.height);
    workspace_.look([&](Session& session) { session.view = view; });
}

void Canvas::fit() {
    workspace_.look([](Session& session) { session.fits = true; });
    refit();
}

void Canvas::actual_size() { zoom_by(1 / workspace_.session().view.zoom); }

void Canvas::zoom_by(double factor) {
    const QSize size = pixels();
    set_view(zoomed(workspace_.session().view, factor, {size.width() / 2.0, size.height() / 2.0}, size.width(),
                    size.height()));
}

void Canvas::look_at(Position texel) { set_view({workspace_.session().view.zoom, texel}); }

QImage Canvas::picture() {
    const Scene now = scene();
    QImage image(now.width, now.height, QImage::Format_RGB32);
    const auto pixels = viewer::render(now, {0, 0, now.width, now.height});
    for (int y = 0; y < now.height; ++y) {
        const auto columns = static_cast<std::size_t>(now.width);
        std::memcpy(image.scanLine(y), pixels.data() + static_cast<std::size_t>(y) * columns, columns * 4);
    }
    return image;
}

void Canvas::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (rendered_.size() != pixels()) {
        rendered_ = picture();
        rendered_.setDevicePixelRatio(devicePixelRatioF());
    }
    painter.drawImage(0, 0, rendered_);
}

void Canvas::resizeEvent(QResizeEvent*) { refit(); }

void Canvas::wheelEvent(QWheelEvent* event) {
    const QSize size = pixels();
    set_view(zoomed(workspace_.session().view, std::pow(2.0, event->angleDelta().y() / 240.0),
                    pixel_at(event->position()), size.width(), size.height()));
    event->accept();
}

void Canvas::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) dragged_ = pixel_at(event->position());
}

void Canvas::mouseMoveEvent(QMouseEvent* event) {
    const Position pixel = pixel_at(event->position());
    const Scene now = scene();
    if (dragged_ && now.shown) {
        set_view(panned(now.session.view, {pixel.x - dragged_->x, pixel.y - dragged_->y}, canvas_extent(now)));
        dragged_ = pixel;
    }
    workspace_.hover(texel_at(now, pixel));
}

void Canvas::mouseReleaseEvent(QMouseEvent*) { dragged_.reset(); }

void Canvas::leaveEvent(QEvent*) { workspace_.hover({}); }

}  // namespace texton::viewer
