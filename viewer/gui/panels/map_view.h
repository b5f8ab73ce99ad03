#pragma once
#include <QImage>
#include <QWidget>
#include <optional>

namespace texton::viewer {

/// View of a map. The user points at cells with the mouse or the arrow keys, and chooses them with a click or Enter.
class MapView : public QWidget {
    Q_OBJECT

public:
    explicit MapView(const QString& accessible_name, QWidget* parent = nullptr);

    /// Sets the map, with one pixel for each cell. A null image shows nothing.
    void set_map(const QImage& map);
    /// Marks a cell, independent of the cell that the user points at.
    void mark(std::optional<QPoint> cell);
    std::optional<QPoint> pointed() const noexcept { return pointed_; }

    QSize sizeHint() const override { return {260, 180}; }
    QSize minimumSizeHint() const override { return {120, 90}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

Q_SIGNALS:
    /// The user points at a cell, or at (-1, -1) outside the map.
    void pointed_at(QPoint cell);
    /// The user clicked the cell or pressed Enter.
    void chosen(QPoint cell);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// Returns the rectangle of the map: centered, with the aspect ratio of the map.
    QRectF target() const;
    std::optional<QPoint> cell_at(QPointF point) const;
    void point_at(std::optional<QPoint> cell);
    QRectF rectangle_of(QPoint cell) const;

    QImage map_;
    std::optional<QPoint> pointed_;
    std::optional<QPoint> marked_;
};

}  // namespace texton::viewer
