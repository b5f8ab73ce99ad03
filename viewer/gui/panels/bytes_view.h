#pragma once
#include <QAbstractScrollArea>
#include <QRect>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "viewer/inspect/pitched_map.h"

namespace texton::viewer {

/// View of pitched memory as a grid of cells, one row of cells for each row of memory. The color of a cell is the use
/// of its byte; low values are drawn closer to the background. Only visible cells are drawn. The wheel, + and - zoom;
/// the arrow keys select the neighboring bytes.
class BytesView : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit BytesView(QWidget* parent = nullptr);

    /// Shows a memory, or nothing if `memory` is null. Clears the selection, the values and the overwritten bytes.
    void show_memory(std::shared_ptr<const PitchedCopy> memory);
    void mark_overwritten(const std::vector<std::size_t>& bytes);
    /// Selects a byte and scrolls to it. Does not emit selected_by_person().
    void select(std::size_t byte);
    std::optional<std::size_t> selected() const noexcept { return selected_; }

    /// Returns the visible bytes, as columns and rows of the memory. Empty if a cell represents several bytes: their
    /// values are not shown.
    QRect seen() const;
    /// Sets the values of the bytes in the box, row by row.
    void set_values(const QRect& box, std::vector<std::byte> values);
    /// Returns the byte at a point of the viewport.
    std::optional<std::size_t> byte_at(QPoint point) const;
    /// Returns the rectangle of the byte's cell in the viewport.
    QRect cell(std::size_t byte) const;

    QSize sizeHint() const override { return {320, 220}; }
    QSize minimumSizeHint() const override { return {120, 120}; }

Q_SIGNALS:
    /// The user selected a byte with the mouse or the keyboard.
    void selected_by_person(qulonglong byte);
    /// seen() or the memory changed.
    void seen_changed();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    // Returns the width and height of a cell in pixels.
    int side() const noexcept { return zoom_ > 0 ? 1 << zoom_ : 1; }
    // Returns how many bytes of a row, and how many rows, a cell represents.
    int group() const noexcept { return zoom_ < 0 ? 1 << -zoom_ : 1; }
    std::size_t pitch() const { return memory_->layout().pitch; }
    std::size_t rows() const { return memory_->layout().bytes() / pitch(); }
    void set_zoom(int zoom, QPoint anchor);
    void fit_bars();
    void step(std::ptrdiff_t bytes);
    QColor color_of(std::size_t byte, std::size_t column, std::size_t row) const;

    std::shared_ptr<const PitchedCopy> memory_;
    std::set<std::size_t> overwritten_;
    std::optional<std::size_t> selected_;
    int zoom_ = 2;  // positive: 2^zoom_ pixels per byte; negative: 2^-zoom_ bytes per pixel
    QRect box_;     // the bytes whose values are in values_
    std::vector<std::byte> values_;
};

}  // namespace texton::viewer
