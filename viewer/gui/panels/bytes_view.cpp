#include "viewer/gui/panels/bytes_view.h"

#include <QFontDatabase>
#include <QImage>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>

#include "viewer/gui/panels/memory_panel.h"

namespace texton::viewer {
namespace {

constexpr int kFarthest = -6;  // 2^6 bytes per pixel
constexpr int kNearest = 5;    // 2^5 pixels per byte
constexpr int kHexSide = 24;   // minimum width in pixels of a cell that shows its value

int clamped(std::size_t value) { return static_cast<int>(std::min<std::size_t>(value, 1u << 30)); }

}  // namespace

BytesView::BytesView(QWidget* parent) : QAbstractScrollArea(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Byte map"));
    setAccessibleDescription(tr("Bytes of pitched memory. The arrow keys select a byte, plus and minus zoom."));
    setFrameShape(QFrame::StyledPanel);
    viewport()->setMouseTracking(false);
}

void BytesView::show_memory(std::shared_ptr<const PitchedCopy> memory) {
    memory_ = std::move(memory);
    overwritten_.clear();
    selected_.reset();
    values_.clear();
    box_ = {};
    fit_bars();
    viewport()->update();
    Q_EMIT seen_changed();
}

void BytesView::mark_overwritten(const std::vector<std::size_t>& bytes) {
    overwritten_ = {bytes.begin(), bytes.end()};
    viewport()->update();
}

void BytesView::select(std::size_t byte) {
    if (memory_ == nullptr || byte >= memory_->layout().bytes()) return;
    selected_ = byte;
    const QRect where = cell(byte);
    if (!viewport()->rect().contains(where)) {
        horizontalScrollBar()->setValue(clamped(byte % pitch() / static_cast<std::size_t>(group())) -
                                        horizontalScrollBar()->pageStep() / 2);
        verticalScrollBar()->setValue(clamped(byte / pitch() / static_cast<std::size_t>(group())) -
                                      verticalScrollBar()->pageStep() / 2);
    }
    setAccessibleDescription(tr("Byte %1").arg(byte));
    viewport()->update();
}

QRect BytesView::seen() const {
    if (memory_ == nullptr || group() > 1) return {};
    const int x = horizontalScrollBar()->value();
    const int y = verticalScrollBar()->value();
    return {x, y, std::min(viewport()->width() / side() + 1, clamped(pitch()) - x),
            std::min(viewport()->height() / side() + 1, clamped(rows()) - y)};
}

void BytesView::set_values(const QRect& box, std::vector<std::byte> values) {
    box_ = box;
    values_ = std::move(values);
    viewport()->update();
}

std::optional<std::size_t> BytesView::byte_at(QPoint point) const {
    if (memory_ == nullptr || !viewport()->rect().contains(point)) return std::nullopt;
    const std::size_t column = static_cast<std::size_t>(horizontalScrollBar()->value() + point.x() / side()) *
                               static_cast<std::size_t>(group());
    const std::size_t row =
        static_cast<std::size_t>(verticalScrollBar()->value() + point.y() / side()) * static_cast<std::size_t>(group());
    if (column >= pitch() || row >= rows()) return std::nullopt;
    return row * pitch() + column;
}

QRect BytesView::cell(std::size_t byte) const {
    const int x = clamped(byte % pitch() / static_cast<std::size_t>(group())) - horizontalScrollBar()->value();
    const int y = clamped(byte / pitch() / static_cast<std::size_t>(group())) - verticalScrollBar()->value();
    return {x * side(), y * side(), side(), side()};
}

QColor BytesView::color_of(std::size_t byte, std::size_t column, std::size_t row) const {
    const PitchedLayout& layout = memory_->layout();
    if (overwritten_.contains(byte)) return data_color(palette(), 0);
    QColor color;
    switch (layout.use_of(byte)) {
        case ByteUse::payload: color = data_color(palette(), 210); break;
        case ByteUse::padding: color = data_color(palette(), 40); break;
        case ByteUse::gap: color = data_color(palette(), 285); break;
    }
    const QPoint at(clamped(column), clamped(row));
    if (!box_.contains(at)) return color;
    const auto index = static_cast<std::size_t>(at.y() - box_.y()) * static_cast<std::size_t>(box_.width()) +
                       static_cast<std::size_t>(at.x() - box_.x());
    const double share = 0.35 + 0.65 * std::to_integer<int>(values_.at(index)) / 255.0;
    const QColor base = palette().color(QPalette::Base);
    const auto mix = [share](int from, int to) { return static_cast<int>(from + (to - from) * share); };
    return {mix(base.red(), color.red()), mix(base.green(), color.green()), mix(base.blue(), color.blue())};
}

void BytesView::paintEvent(QPaintEvent*) {
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), palette().color(QPalette::Base));
    if (memory_ == nullptr) return;
    const auto bytes_in_cell = static_cast<std::size_t>(group());
    const auto first_column = static_cast<std::size_t>(horizontalScrollBar()->value()) * bytes_in_cell;
    const auto first_row = static_cast<std::size_t>(verticalScrollBar()->value()) * bytes_in_cell;
    const auto cells = [bytes_in_cell](std::size_t first, std::size_t end, int room) {
        return std::min(static_cast<int>((end - std::min(first, end) + bytes_in_cell - 1) / bytes_in_cell), room);
    };
    const int columns = cells(first_column, pitch(), viewport()->width() / side() + 1);
    const int lines = cells(first_row, rows(), viewport()->height() / side() + 1);
    if (columns <= 0 || lines <= 0) return;
    QImage image(columns, lines, QImage::Format_RGB32);
    for (int y = 0; y < lines; ++y) {
        const std::size_t row = first_row + static_cast<std::size_t>(y) * bytes_in_cell;
        auto* out = reinterpret_cast<QRgb*>(image.scanLine(y));
        for (int x = 0; x < columns; ++x) {
            const std::size_t column = first_column + static_cast<std::size_t>(x) * bytes_in_cell;
            out[x] = color_of(row * pitch() + column, column, row).rgb();
        }
    }
    painter.drawImage(QRect(0, 0, columns * side(), lines * side()), image);
    if (side() >= kHexSide) {
        QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
        font.setPixelSize(side() / 2);
        painter.setFont(font);
        for (int y = box_.top(); y <= box_.bottom(); ++y) {
            for (int x = box_.left(); x <= box_.right(); ++x) {
                const QRect where = cell(static_cast<std::size_t>(y) * pitch() + static_cast<std::size_t>(x));
                const auto index = static_cast<std::size_t>((y - box_.y()) * box_.width() + x - box_.x());
                const bool dark = image.rect().contains(where.x() / side(), where.y() / side()) &&
                                  qGray(image.pixel(where.x() / side(), where.y() / side())) < 128;
                painter.setPen(dark ? Qt::white : Qt::black);
                painter.drawText(where, Qt::AlignCenter,
                                 QString("%1").arg(std::to_integer<int>(values_.at(index)), 2, 16, QChar('0')));
            }
        }
    }
    if (selected_) {
        const QRect where = cell(*selected_).adjusted(-2, -2, 1, 1);
        painter.setPen(QPen(palette().color(QPalette::Base), 3));
        painter.drawRect(where);
        painter.setPen(QPen(palette().color(QPalette::Text), 1));
        painter.drawRect(where);
    }
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

void BytesView::fit_bars() {
    if (memory_ == nullptr) {
        horizontalScrollBar()->setRange(0, 0);
        verticalScrollBar()->setRange(0, 0);
        return;
    }
    const auto set = [this](QScrollBar* bar, std::size_t bytes, int room) {
        const int page = std::max(1, room / side());
        const auto groups = (bytes + static_cast<std::size_t>(group()) - 1) / static_cast<std::size_t>(group());
        bar->setRange(0, std::max(0, clamped(groups) - page));
        bar->setPageStep(page);
        bar->setSingleStep(std::max(1, page / 8));
    };
    set(horizontalScrollBar(), pitch(), viewport()->width());
    set(verticalScrollBar(), rows(), viewport()->height());
}

void BytesView::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    fit_bars();
    Q_EMIT seen_changed();
}

void BytesView::scrollContentsBy(int, int) {
    viewport()->update();
    Q_EMIT seen_changed();
}

void BytesView::set_zoom(int zoom, QPoint anchor) {
    zoom = std::clamp(zoom, kFarthest, kNearest);
    if (zoom == zoom_ || memory_ == nullptr) return;
    const std::size_t byte = byte_at(anchor).value_or(selected_.value_or(0));
    zoom_ = zoom;
    fit_bars();
    horizontalScrollBar()->setValue(clamped(byte % pitch() / static_cast<std::size_t>(group())) - anchor.x() / side());
    verticalScrollBar()->setValue(clamped(byte / pitch() / static_cast<std::size_t>(group())) - anchor.y() / side());
    viewport()->update();
    Q_EMIT seen_changed();
}

void BytesView::wheelEvent(QWheelEvent* event) {
    const int notches = event->angleDelta().y();
    if (notches != 0) set_zoom(zoom_ + (notches > 0 ? 1 : -1), event->position().toPoint());
    event->accept();
}

void BytesView::step(std::ptrdiff_t bytes) {
    if (memory_ == nullptr) return;
    const auto last = static_cast<std::ptrdiff_t>(memory_->layout().bytes()) - 1;
    const auto next = std::clamp(static_cast<std::ptrdiff_t>(selected_.value_or(0)) + (selected_ ? bytes : 0),
                                 std::ptrdiff_t{0}, last);
    select(static_cast<std::size_t>(next));
    Q_EMIT selected_by_person(static_cast<qulonglong>(next));
}

bool BytesView::event(QEvent* event) {
    return claims_key(event, {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_PageUp, Qt::Key_PageDown,
                              Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus}) ||
           QAbstractScrollArea::event(event);
}

void BytesView::keyPressEvent(QKeyEvent* event) {
    if (memory_ == nullptr) return QAbstractScrollArea::keyPressEvent(event);
    const auto row = static_cast<std::ptrdiff_t>(pitch());
    const QPoint center = selected_ ? cell(*selected_).center() : viewport()->rect().center();
    switch (event->key()) {
        case Qt::Key_Left: return step(-1);
        case Qt::Key_Right: return step(1);
        case Qt::Key_Up: return step(-row);
        case Qt::Key_Down: return step(row);
        case Qt::Key_PageUp: return step(-row * verticalScrollBar()->pageStep());
        case Qt::Key_PageDown: return step(row * verticalScrollBar()->pageStep());
        case Qt::Key_Plus:
        case Qt::Key_Equal: return set_zoom(zoom_ + 1, center);
        case Qt::Key_Minus: return set_zoom(zoom_ - 1, center);
        default: QAbstractScrollArea::keyPressEvent(event);
    }
}

void BytesView::mousePressEvent(QMouseEvent* event) {
    const std::optional<std::size_t> byte = byte_at(event->pos());
    if (event->button() != Qt::LeftButton || !byte) return;
    select(*byte);
    Q_EMIT selected_by_person(static_cast<qulonglong>(*byte));
}

void BytesView::mouseMoveEvent(QMouseEvent* event) {
    const std::optional<std::size_t> byte = byte_at(event->pos());
    if (!(event->buttons() & Qt::LeftButton) || !byte || byte == selected_) return;
    select(*byte);
    Q_EMIT selected_by_person(static_cast<qulonglong>(*byte));
}

}  // namespace texton::viewer
