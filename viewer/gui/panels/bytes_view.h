#pragma once
#include <QAbstractScrollArea>
#include <QRect>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "viewer/inspect/pitched_map.h"

namespace texton::viewer {

/// Pitched memory as a field of bytes: a row of cells for each row of memory, coloured by what a byte is for, and darker where
/// its value is low. Draws what can be seen alone. Wheel, + and - zoom; arrows go from byte to byte.
class BytesView : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit BytesView(QWidget* parent = nullptr);

    void show_memory(std::shared_ptr<const PitchedCopy> memory);
    void mark_overwritten(const std::vector<std::size_t>& bytes);
    /// Brings it in sight, too.
    void select(std::size_t byte);
    std::optional<std::size_t> selected() const noexcept { return selected_; }

    /// Bytes that can be seen, as columns and rows of the memory; empty if cells are several bytes, whose values are not shown.
    QRect seen() const;
    /// What is in the box.
    void set_values(const QRect& box, std::vector<std::byte> values);
    std::optional<std::size_t> byte_at(QPoint point) const;
    /// Where the byte's cell is in the viewport.
    QRect cell(std::size_t byte) const;

    QSize sizeHint() const override { return {320, 220}; }
    QSize minimumSizeHint() const override { return {120, 120}; }

Q_SIGNALS:
    void selected_by_person(qulonglong byte);
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
    int side() const noexcept { return zoom_ > 0 ? 1 << zoom_ : 1; }    // pixels of a cell
    int group() const noexcept { return zoom_ < 0 ? 1 << -zoom_ : 1; }  // bytes across, and rows, of a cell
    std::size_t pitch() const { return memory_->layout().pitch; }
    std::size_t rows() const { return memory_->layout().bytes() / pitch(); }
    void set_zoom(int zoom, QPoint anchor);
    void fit_bars();
    void step(std::ptrdiff_t bytes);
    QColor colour_of(std::size_t byte, std::size_t column, std::size_t row) const;

    std::shared_ptr<const PitchedCopy> memory_;
    std::set<std::size_t> overwritten_;
    std::optional<std::size_t> selected_;
    int zoom_ = 2;
    QRect box_;  // of values_
    std::vector<std::byte> values_;
};

}  // namespace texton::viewer
