#include "viewer/gui/panels/line_plot.h"

#include <QFontDatabase>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace texton::viewer {
namespace {

constexpr double kBorderDistance = 4;  // minimum distance between edges of texels in pixels
constexpr double kShortest = 1e-6;     // minimum visible fraction of the line

// Red, green, blue and alpha; visible on dark and light backgrounds.
const QColor kChannels[] = {QColor(226, 82, 75), QColor(72, 168, 84), QColor(82, 130, 236), QColor(150, 150, 150)};

std::pair<double, double> range_of(const LinePlot::Curves& curves) {
    double low = INFINITY, high = -INFINITY;
    for (const auto& sample : curves.samples) {
        for (int c = 0; c < curves.channels; ++c) {
            const double value = sample[static_cast<std::size_t>(c)];
            if (!std::isfinite(value)) continue;
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    if (low > high) return {0, 1};
    return low == high ? std::pair(low - 0.5, high + 0.5) : std::pair(low, high);
}

}  // namespace

LinePlot::LinePlot(const QString& accessible_name, QWidget* parent) : QWidget(parent) {
    setAccessibleName(accessible_name);
    setAccessibleDescription(tr("Plus and minus zoom, the arrow keys move, Home shows the whole line"));
    setToolTip(tr("Drag to move. Click, then turn the wheel to zoom. Double-click to show the whole line."));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void LinePlot::set_curves(Curves curves) {
    curves_ = std::move(curves);
    if (pointed_ && *pointed_ >= curves_.samples.size()) pointed_.reset();
    update();
}

void LinePlot::set_range(double first, double last) {
    const double length = std::clamp(last - first, kShortest, 1.0);
    first = std::clamp(first, 0.0, 1.0 - length);
    if (first == first_ && first + length == last_) return;
    first_ = first;
    last_ = first + length;
    update();
    Q_EMIT range_changed();
}

QRectF LinePlot::field() const {
    const int text = fontMetrics().height();
    return QRectF(rect()).adjusted(4, text + 4, -4, -4);
}

double LinePlot::share_at(double x) const {
    return first_ + (x - field().x()) / std::max(1.0, field().width()) * (last_ - first_);
}

double LinePlot::x_of(double share) const {
    return field().x() + (share - first_) / (last_ - first_) * field().width();
}

void LinePlot::zoom_at(double share, double factor) {
    const double length = std::clamp((last_ - first_) / factor, kShortest, 1.0);
    const double before = (share - first_) / (last_ - first_);
    set_range(share - before * length, share - before * length + length);
}

void LinePlot::move_by(double shares) {
    const double length = last_ - first_;
    const double to = std::clamp(first_ + shares, 0.0, 1.0 - length);
    set_range(to, to + length);
}

void LinePlot::point_at(std::optional<std::size_t> sample) {
    if (sample == pointed_) return;
    pointed_ = sample;
    update();
    Q_EMIT pointed_at();
}

void LinePlot::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const auto [low, high] = range_of(curves_);
    painter.setPen(QPen(palette().color(QPalette::Mid), 1));
    // Edges are omitted if they are too close to be distinguished.
    const auto seen = [this](double border) { return border >= first_ && border <= last_; };
    const auto count = static_cast<double>(std::ranges::count_if(curves_.borders, seen));
    for (const double border : curves_.borders) {
        if (!seen(border) || field().width() < count * kBorderDistance) continue;
        painter.drawLine(QPointF(x_of(border), field().top()), QPointF(x_of(border), field().bottom()));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    if (!curves_.samples.empty()) draw_curves(painter, low, high);
    painter.setRenderHint(QPainter::Antialiasing, false);
    painter.setPen(palette().color(QPalette::Text));
    const QRectF text = QRectF(rect()).adjusted(6, 2, -6, 0);
    painter.drawText(text, Qt::AlignLeft | Qt::AlignTop, tr("%1 to %2").arg(low, 0, 'g', 5).arg(high, 0, 'g', 5));
    if (width() > fontMetrics().horizontalAdvance('0') * 40)
        painter.drawText(text, Qt::AlignRight | Qt::AlignTop,
                         tr("%1 to %2 of the line").arg(first_, 0, 'g', 5).arg(last_, 0, 'g', 5));
    painter.setPen(palette().color(hasFocus() ? QPalette::Highlight : QPalette::Mid));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void LinePlot::draw_curves(QPainter& painter, double low, double high) const {
    const auto count = curves_.samples.size();
    const auto share_of = [&](std::size_t i) {
        return count < 2 ? curves_.first
                         : curves_.first +
                               (curves_.last - curves_.first) * static_cast<double>(i) / static_cast<double>(count - 1);
    };
    const QRectF box = field();
    painter.setClipRect(box.adjusted(0, -2, 0, 2));
    for (int c = curves_.channels - 1; c >= 0; --c) {
        QPainterPath path;
        bool down = false;
        for (std::size_t i = 0; i < count; ++i) {
            const double value = curves_.samples[i][static_cast<std::size_t>(c)];
            if (!std::isfinite(value)) {
                down = false;  // the curve has a gap here
                continue;
            }
            const QPointF at(x_of(share_of(i)), box.bottom() - (value - low) / (high - low) * box.height());
            if (down) path.lineTo(at);
            if (!down) path.moveTo(at);
            down = true;
        }
        painter.setPen(QPen(kChannels[c], 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawPath(path);
    }
    if (pointed_) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1));
        const double x = x_of(share_of(*pointed_));
        painter.drawLine(QPointF(x, box.top()), QPointF(x, box.bottom()));
    }
    painter.setClipping(false);
}

void LinePlot::wheelEvent(QWheelEvent* event) {
    if (!hasFocus()) return event->ignore();  // so that the panel scrolls
    zoom_at(share_at(event->position().x()), std::pow(2.0, event->angleDelta().y() / 240.0));
    event->accept();
}

void LinePlot::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) dragged_ = share_at(event->position().x());
}

void LinePlot::mouseMoveEvent(QMouseEvent* event) {
    const double share = share_at(event->position().x());
    if (dragged_) move_by(*dragged_ - share);
    const auto count = curves_.samples.size();
    if (count == 0) return;
    const double way = (share - curves_.first) / std::max(kShortest, curves_.last - curves_.first);
    const double nearest = std::round(way * static_cast<double>(count - 1));
    point_at(static_cast<std::size_t>(std::clamp(nearest, 0.0, static_cast<double>(count - 1))));
}

void LinePlot::mouseReleaseEvent(QMouseEvent*) { dragged_.reset(); }

void LinePlot::mouseDoubleClickEvent(QMouseEvent*) { set_range(0, 1); }

void LinePlot::leaveEvent(QEvent*) { point_at(std::nullopt); }

void LinePlot::keyPressEvent(QKeyEvent* event) {
    const double center = (first_ + last_) / 2;
    const double step = (last_ - first_) / 10;
    switch (event->key()) {
        case Qt::Key_Plus:
        case Qt::Key_Equal: return zoom_at(center, 2);
        case Qt::Key_Minus: return zoom_at(center, 0.5);
        case Qt::Key_Left: return move_by(-step);
        case Qt::Key_Right: return move_by(step);
        case Qt::Key_Home: return set_range(0, 1);
        default: return QWidget::keyPressEvent(event);
    }
}

}  // namespace texton::viewer
