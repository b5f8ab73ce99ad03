#pragma once
#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>

#include "viewer/document.h"
#include "viewer/view_state.h"

namespace texton::viewer {

/// Shows a document: zooms at the cursor, pans by dragging. Renders the visible pixels only, again when something
/// changed.
class Canvas : public QWidget {
    Q_OBJECT

public:
    explicit Canvas(QWidget* parent = nullptr);

    /// Null shows nothing. A new document is fitted.
    void show_document(std::shared_ptr<const Document> document);
    void fit();
    void actual_size();
    /// Around the middle of the canvas.
    void zoom_by(double factor);
    const ViewState& view() const noexcept { return view_; }

    QSize sizeHint() const override { return {960, 640}; }

Q_SIGNALS:
    void view_changed();
    /// The texel under the mouse; (-1, -1) where there is none.
    void hovered(QPoint texel);
    /// The device refused to sample, in words.
    void failed(QString why);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;

private:
    QSize pixels() const;  // of the screen
    Position pixel_at(QPointF point) const;
    void set_view(const ViewState& view, bool fits);
    void hover(QPointF point);

    std::shared_ptr<const Document> document_;
    ViewState view_;
    bool fits_ = true;  // follows the size of the window
    QImage rendered_;   // null when it must be made again
    std::optional<QPointF> drag_;
};

}  // namespace texton::viewer
