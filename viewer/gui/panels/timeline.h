#pragma once
#include <QTableWidget>
#include <algorithm>
#include <optional>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/inspect/timeline.h"

namespace texton::viewer {

/// View of a timeline, with a line of bars for each lane. The wheel zooms at the cursor, + and - at the center. Drags
/// and arrow keys pan; Home and F show everything.
class TimelineView : public QWidget {
    Q_OBJECT

public:
    explicit TimelineView(QWidget* parent = nullptr);

    void show_timeline(Timeline timeline);
    double begin() const noexcept { return begin_; }  ///< start of the axis in milliseconds
    double end() const noexcept { return end_; }      ///< end of the axis in milliseconds
    std::optional<TimelineBar> bar_at(QPoint point) const;
    QRectF rectangle(const TimelineBar& bar) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;

private:
    int line_height() const { return fontMetrics().height() + 6; }
    int names_width() const;  // width of the lane names, left of the axis
    double axis_width() const { return std::max(width() - names_width(), 1); }
    double x_of(double milliseconds) const {
        return names_width() + (milliseconds - begin_) / (end_ - begin_) * axis_width();
    }
    void zoom(double factor, double x);
    void pan(double milliseconds);

    Timeline timeline_;
    double begin_ = 0;
    double end_ = 1;
    std::optional<double> dragged_;  // x of the last mouse position of the drag
};

/// Panel with the times of decoding, converting and copying the image and of its kernel. It compares the copy rate with
/// the rate of a test copy.
class TimelinePanel : public MemoryPanel {
    Q_OBJECT

public:
    explicit TimelinePanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;

private:
    void show_numbers();

    Timeline timeline_;
    std::optional<double> peak_;  // GB/s
    QLabel* summary_;
    TimelineView* view_;
    QTableWidget* table_;
};

}  // namespace texton::viewer
