#pragma once
#include <QImage>
#include <QWidget>
#include <optional>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Shows the workspace's scene: zooms at the cursor, pans by dragging.
class Canvas : public QWidget {
    Q_OBJECT

public:
    explicit Canvas(Workspace& workspace, QWidget* parent = nullptr);

    void fit();
    void actual_size();
    /// Around the middle of the canvas.
    void zoom_by(double factor);
    /// Brings the texel to the middle.
    void look_at(Position texel);
    /// What is seen, at the screen's resolution, without panels and labels around it.
    QImage picture();

    QSize sizeHint() const override { return {960, 640}; }

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QSize pixels() const;  // of the screen
    Position pixel_at(QPointF point) const;
    Scene scene() const;
    void refit();
    void set_view(const ViewState& view);

    Workspace& workspace_;
    QImage rendered_;
    std::optional<Position> dragged_;
};

}  // namespace texton::viewer
