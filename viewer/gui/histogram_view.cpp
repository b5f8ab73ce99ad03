#include "viewer/gui/histogram_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "viewer/text/value_text.h"

namespace texton::viewer {
namespace {

constexpr double kReach = 6;  // maximum distance of a mouse press from an edge to drag it, in pixels

}  // namespace

HistogramView::HistogramView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Histogram"));
    setToolTip(tr("Drag an edge of the range, or drag out a new range. Left and Right move white; with Shift, black."));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

QSize HistogramView::sizeHint() const { return {160, fontMetrics().lineSpacing() * 9}; }

void HistogramView::show_statistics(const std::optional<RegionStatistics>& statistics) {
    statistics_ = statistics;
    update();
}

void HistogramView::show_channels(const std::array<bool, 4>& channels) {
    channels_ = channels;
    update();
}

void HistogramView::show_range(const ValueRange& range) {
    range_ = range;
    setAccessibleDescription(tr("Black %1, white %2")
                                 .arg(QString::fromStdString(float_text(range.low)))
                                 .arg(QString::fromStdString(float_text(range.high))));
    update();
}

void HistogramView::set_logarithmic(bool on) {
    logarithmic_ = on;
    update();
}

double HistogramView::x_of(double value) const {
    const ValueRange of = statistics_ ? statistics_->range : ValueRange{};
    return (value - of.low) / (static_cast<double>(of.high) - of.low) * width();
}

float HistogramView::value_at(double x) const {
    const ValueRange of = statistics_ ? statistics_->range : ValueRange{};
    return static_cast<float>(of.low + x / width() * (static_cast<double>(of.high) - of.low));
}

void HistogramView::paint_channel(QPainter& painter, int channel, double maximum, const QColor& color) const {
    const auto height_of = [&](double count) {
        const double share = logarithmic_ ? std::log1p(count) / std::log1p(maximum) : count / maximum;
        return share * (height() - 2);
    };
    QPainterPath path(QPointF(0, height()));
    for (int bin = 0; bin < Statistics::kBins; ++bin) {
        const double y = height() - height_of(statistics_->statistics.histogram[channel][bin]);
        path.lineTo(width() * bin / static_cast<double>(Statistics::kBins), y);
        path.lineTo(width() * (bin + 1) / static_cast<double>(Statistics::kBins), y);
    }
    path.lineTo(width(), height());
    QColor inside = color;
    inside.setAlphaF(0.35f);
    painter.fillPath(path, inside);
    painter.setPen(color);
    painter.drawPath(path);
}

void HistogramView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().base());
    if (statistics_) {
        const bool gray = statistics_->channels == 1;
        const std::array<QColor, 4> colors{gray ? palette().color(QPalette::Text) : QColor(0xe0, 0x50, 0x48),
                                           QColor(0x48, 0xb0, 0x58), QColor(0x50, 0x80, 0xe8),
                                           palette().color(QPalette::PlaceholderText)};
        double maximum = 1;
        const auto shown = [&](int channel) { return channels_[static_cast<std::size_t>(channel)]; };
        for (int channel = 0; channel < statistics_->channels; ++channel) {
            if (!shown(channel)) continue;
            for (const std::uint32_t count : statistics_->statistics.histogram[channel])
                maximum = std::max(maximum, static_cast<double>(count));
        }
        painter.setRenderHint(QPainter::Antialiasing);
        for (int channel = statistics_->channels - 1; channel >= 0; --channel) {
            if (shown(channel)) paint_channel(painter, channel, maximum, colors[static_cast<std::size_t>(channel)]);
        }
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.setPen(QPen(palette().color(QPalette::Text), 1, Qt::DashLine));
        for (const float edge : {range_.low, range_.high}) {
            const double x = std::clamp(x_of(edge), 0.0, width() - 1.0);
            painter.drawLine(QPointF(x, 0), QPointF(x, height()));
        }
    }
    painter.setPen(hasFocus() ? palette().color(QPalette::Highlight) : palette().color(QPalette::Mid));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void HistogramView::drag_to(double x) {
    const float value = value_at(std::clamp(x, 0.0, static_cast<double>(width())));
    ValueRange next = range_;
    if (drag_ == Drag::low) next.low = value;
    if (drag_ == Drag::high) next.high = value;
    if (drag_ == Drag::both) next = {std::min(value, pressed_), std::max(value, pressed_)};
    if (!(next.low < next.high) || next == range_) return;
    show_range(next);
    Q_EMIT range_edited(next);
}

void HistogramView::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !statistics_) return;
    const double x = event->position().x();
    const auto distance = [&](float edge) { return std::abs(x - std::clamp(x_of(edge), 0.0, width() - 1.0)); };
    pressed_ = value_at(x);
    drag_ = Drag::both;
    if (distance(range_.low) <= kReach) drag_ = Drag::low;
    if (distance(range_.high) <= kReach && distance(range_.high) < distance(range_.low)) drag_ = Drag::high;
}

void HistogramView::mouseMoveEvent(QMouseEvent* event) {
    if (drag_ != Drag::none) drag_to(event->position().x());
}

void HistogramView::mouseReleaseEvent(QMouseEvent*) { drag_ = Drag::none; }

void HistogramView::keyPressEvent(QKeyEvent* event) {
    const int direction = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
    if (direction == 0 || !statistics_) return QWidget::keyPressEvent(event);
    const float bin = (statistics_->range.high - statistics_->range.low) / Statistics::kBins;
    ValueRange next = range_;
    (event->modifiers() & Qt::ShiftModifier ? next.low : next.high) += static_cast<float>(direction) * bin;
    if (!(next.low < next.high)) return;
    show_range(next);
    Q_EMIT range_edited(next);
}

}  // namespace texton::viewer
