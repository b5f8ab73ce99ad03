#include "viewer/gui/panels/timeline.h"

#include <QFontDatabase>
#include <QHeaderView>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace texton::viewer {
namespace {

constexpr double kMinSpan = 1e-4;  // minimum visible time in milliseconds
constexpr int kMaxRows = 500;

int hue_of(TimelineLane lane) {
    switch (lane) {
        case TimelineLane::decode: return 40;
        case TimelineLane::convert: return 10;
        case TimelineLane::staging: return 285;
        case TimelineLane::copy: return 210;
        case TimelineLane::kernel: return 130;
    }
    return 0;
}

QString lane_text(TimelineLane lane) { return QString::fromUtf8(name(lane).data()); }

QString decimals(double value, int digits) { return QLocale().toString(value, 'f', digits); }

// Returns the distance of the ticks: 1, 2 or 5 times a power of ten. At most eight fit into the span.
double tick_step(double span) {
    const double minimum = span / 8;
    const double power = std::pow(10, std::floor(std::log10(minimum)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (power * factor >= minimum) return power * factor;
    }
    return power * 10;
}

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Timeline"));
    setMinimumWidth(120);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TimelineView::show_timeline(Timeline timeline) {
    timeline_ = std::move(timeline);
    begin_ = 0;
    end_ = std::max(timeline_.total, kMinSpan);
    setAccessibleDescription(
        tr("%1 milliseconds in %2 bars").arg(decimals(timeline_.total, 3)).arg(timeline_.bars.size()));
    update();
}

QSize TimelineView::sizeHint() const {
    return {280, line_height() * static_cast<int>(kTimelineLanes.size()) + fontMetrics().height() + 8};
}

int TimelineView::names_width() const {
    int widest = 0;
    for (const TimelineLane lane : kTimelineLanes)
        widest = std::max(widest, fontMetrics().horizontalAdvance(lane_text(lane)));
    return widest + 12;
}

QRectF TimelineView::rectangle(const TimelineBar& bar) const {
    const int line = static_cast<int>(bar.lane) * line_height() + 3;
    const double left = x_of(bar.begin);
    return {left, static_cast<double>(line), std::max(x_of(bar.end) - left, 1.0),
            static_cast<double>(fontMetrics().height())};
}

std::optional<TimelineBar> TimelineView::bar_at(QPoint point) const {
    if (point.x() < names_width() - 2) return std::nullopt;
    for (const TimelineBar& bar : timeline_.bars) {
        if (rectangle(bar).adjusted(-1, 0, 1, 0).contains(point)) return bar;
    }
    return std::nullopt;
}

bool TimelineView::event(QEvent* event) {
    if (claims_key(event,
                   {Qt::Key_Left, Qt::Key_Right, Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus, Qt::Key_Home, Qt::Key_F}))
        return true;
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const std::optional<TimelineBar> bar = bar_at(help->pos());
    if (!bar) {
        QToolTip::hideText();
        return true;
    }
    QString text = tr("%1, part %2: %3 to %4 ms")
                       .arg(lane_text(bar->lane))
                       .arg(bar->part + 1)
                       .arg(decimals(bar->begin, 3), decimals(bar->end, 3));
    if (bar->bytes > 0) text += tr("; %1, %2 GB/s").arg(byte_text(bar->bytes), decimals(bar->rate(), 2));
    QToolTip::showText(help->globalPos(), text, this);
    return true;
}

void TimelineView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const int bottom = line_height() * static_cast<int>(kTimelineLanes.size());
    const double step = tick_step(end_ - begin_);
    const int digits = std::clamp(static_cast<int>(-std::floor(std::log10(step))), 0, 6);
    double free_from = 0;
    for (double at = std::ceil(begin_ / step) * step; at <= end_; at += step) {
        const double x = x_of(at);
        painter.setPen(palette().color(QPalette::Mid));
        painter.drawLine(QPointF(x, 0), QPointF(x, bottom));
        const QString label = decimals(at, digits) + (free_from == 0 ? tr(" ms") : QString());
        const double wide = fontMetrics().horizontalAdvance(label);
        if (x < free_from || x + wide + 4 > width()) continue;
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(QPointF(x + 3, bottom + fontMetrics().ascent() + 3), label);
        free_from = x + wide + 12;
    }
    painter.setPen(palette().color(QPalette::Text));
    for (const TimelineLane lane : kTimelineLanes)
        painter.drawText(QPointF(4, static_cast<int>(lane) * line_height() + 3 + fontMetrics().ascent()),
                         lane_text(lane));
    painter.setClipRect(rect().adjusted(names_width() - 2, 0, 0, 0));
    for (const TimelineBar& bar : timeline_.bars) {
        const QRectF where = rectangle(bar).intersected(QRectF(rect()).adjusted(-2, 0, 2, 0));
        if (where.isEmpty()) continue;
        const QColor color = data_color(palette(), hue_of(bar.lane));
        painter.fillRect(where, color);
        if (where.width() > 4) {
            painter.setPen(palette().color(QPalette::Base));
            painter.drawRect(where.adjusted(0, 0, -1, -1));
        }
    }
    painter.setClipping(false);
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(rect().adjusted(0, 0, -1, -1));
    }
}

void TimelineView::zoom(double factor, double x) {
    const double maximum = std::max(timeline_.total, kMinSpan);
    const double share = std::clamp((x - names_width()) / axis_width(), 0.0, 1.0);
    const double at = begin_ + (end_ - begin_) * share;
    const double span = std::clamp((end_ - begin_) / factor, kMinSpan, maximum);
    begin_ = std::clamp(at - span * share, 0.0, maximum - span);
    end_ = begin_ + span;
    update();
}

void TimelineView::pan(double milliseconds) {
    const double span = end_ - begin_;
    begin_ = std::clamp(begin_ + milliseconds, 0.0, std::max(timeline_.total, kMinSpan) - span);
    end_ = begin_ + span;
    update();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
    if (event->angleDelta().y() != 0) zoom(event->angleDelta().y() > 0 ? 1.5 : 1 / 1.5, event->position().x());
    event->accept();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
    const double tenth = (end_ - begin_) / 10;
    switch (event->key()) {
        case Qt::Key_Plus:
        case Qt::Key_Equal: return zoom(1.5, names_width() + axis_width() / 2);
        case Qt::Key_Minus: return zoom(1 / 1.5, names_width() + axis_width() / 2);
        case Qt::Key_Left: return pan(-tenth);
        case Qt::Key_Right: return pan(tenth);
        case Qt::Key_Home:
        case Qt::Key_F: return zoom(0, 0);
        default: QWidget::keyPressEvent(event);
    }
}

void TimelineView::mousePressEvent(QMouseEvent* event) { dragged_ = event->position().x(); }

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
    if (!dragged_ || !(event->buttons() & Qt::LeftButton)) return;
    pan((*dragged_ - event->position().x()) / axis_width() * (end_ - begin_));
    dragged_ = event->position().x();
}

// --- panel -----------------------------------------------------------------------------------------------------------

TimelinePanel::TimelinePanel(Workspace& workspace, QWidget* parent)
    : MemoryPanel(workspace, "timeline", LooksAt::image, parent),
      summary_(new QLabel),
      view_(new TimelineView),
      table_(new QTableWidget(0, 6)) {
    summary_->setObjectName("summary");
    summary_->setWordWrap(true);
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    table_->setObjectName("table");
    table_->setAccessibleName(tr("Times of the bars"));
    table_->setHorizontalHeaderLabels(
        {tr("Activity"), tr("Part"), tr("Begin (ms)"), tr("End (ms)"), tr("Bytes"), tr("GB/s")});
    table_->verticalHeader()->hide();
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setTabKeyNavigation(false);
    table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
    table_->setMinimumHeight(table_->fontMetrics().height() * 4);
    auto* again = new QPushButton(tr("&Load again"));
    again->setObjectName("again");
    again->setToolTip(tr("Reads the files again and measures the times"));
    content()->addWidget(summary_);
    content()->addWidget(view_);
    content()->addWidget(table_, 1);
    content()->addWidget(again);
    connect(again, &QPushButton::clicked, this,
            [this] { this->workspace().reload(this->workspace().session().current); });
}

void TimelinePanel::renew() {
    say({});
    const std::shared_ptr<const Document> current = workspace().document();
    const bool kernel = !workspace().session().kernel.name.empty();
    timeline_ = timeline_of(current != nullptr ? current->timing() : LoadTiming{},
                            kernel ? std::optional(workspace().kernel_milliseconds()) : std::nullopt);
    view_->show_timeline(timeline_);
    show_numbers();
    if (peak_) return;
    work([this, device = workspace().device()](const CancellationToken& token) -> Finish {
        const double peak = upload_peak(device, std::size_t{64} << 20, token);
        return [this, peak] {
            peak_ = peak;
            show_numbers();
        };
    });
}

void TimelinePanel::forget() {
    stop();
    peak_.reset();
    timeline_ = {};
    view_->show_timeline({});
    table_->setRowCount(0);
}

void TimelinePanel::show_numbers() {
    const double copied = timeline_.rate(TimelineLane::copy);
    QString text =
        tr("%1 in %2 ms. Decoding: %3 GB/s. Conversion: %4 ms. Copying: %5 GB/s. Overlap of copies "
           "with decoding and conversion: %6 ms.")
            .arg(byte_text(timeline_.bytes), decimals(timeline_.total, 2),
                 decimals(timeline_.rate(TimelineLane::decode), 2), decimals(timeline_.busy(TimelineLane::convert), 2),
                 decimals(copied, 2), decimals(timeline_.overlap(), 2));
    if (timeline_.bars.empty()) text = tr("Nothing was loaded from files.");
    text += ' ';
    if (peak_) {
        text += tr("A test copy of 64 MiB from pinned memory reaches %1 GB/s").arg(decimals(*peak_, 2));
        text += timeline_.bytes > 0 ? tr("; loading reached %1 % of this rate.").arg(decimals(copied / *peak_ * 100, 0))
                                    : QString('.');
    } else {
        text += tr("Measuring the rate of a test copy...");
    }
    summary_->setText(text);
    table_->setRowCount(std::min<int>(static_cast<int>(timeline_.bars.size()), kMaxRows));
    for (int row = 0; row < table_->rowCount(); ++row) {
        const TimelineBar& bar = timeline_.bars[static_cast<std::size_t>(row)];
        const QString cells[] = {
            lane_text(bar.lane),
            QString::number(bar.part + 1),
            decimals(bar.begin, 3),
            decimals(bar.end, 3),
            bar.bytes > 0 ? number_text(bar.bytes) : QString(),
            bar.bytes > 0 && bar.lane != TimelineLane::staging ? decimals(bar.rate(), 2) : QString()};
        for (int column = 0; column < table_->columnCount(); ++column) {
            auto* item = new QTableWidgetItem(cells[column]);
            item->setTextAlignment(column == 0 ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter);
            table_->setItem(row, column, item);
        }
    }
}

}  // namespace texton::viewer
