#pragma once
#include <QImage>
#include <QWidget>
#include <optional>

namespace texton::viewer {

/// A map whose cells can be pointed at: by the mouse, and by the arrow keys and Enter.
class MapView : public QWidget {
    Q_OBJECT

public:
    explicit MapView(const QString& accessible_name, QWidget* parent = nullptr);

    /// One pixel for each cell; a null image: nothing is shown.
    void set_map(const QImage& map);
    /// A cell that is marked, beside the one that is pointed at.
    void mark(std::optional<QPoint> cell);
    std::optional<QPoint> pointed() const noexcept { return pointed_; }

    QSize sizeHint() const override { return {260, 180}; }
    QSize minimumSizeHint() const override { return {120, 90}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

Q_SIGNALS:
    /// (-1, -1) beside the map.
    void pointed_at(QPoint cell);
    void chosen(QPoint cell);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// Where the map is drawn, in the middle and with its own shape.
    QRectF target() const;
    std::optional<QPoint> cell_at(QPointF point) const;
    void point_at(std::optional<QPoint> cell);
    QRectF rectangle_of(QPoint cell) const;

    QImage map_;
    std::optional<QPoint> pointed_;
    std::optional<QPoint> marked_;
};

}  // namespace texton::viewer
