#pragma once
#include <QTableWidget>
#include <algorithm>
#include <optional>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/inspect/timeline.h"

namespace texton::viewer {

/// The bars of a timeline, a line for each lane. Wheel, + and - zoom at the cursor, drags and arrows pan, F shows all.
class TimelineView : public QWidget {
    Q_OBJECT

public:
    explicit TimelineView(QWidget* parent = nullptr);

    void show_timeline(Timeline timeline);
    double begin() const noexcept { return begin_; }  ///< milliseconds where the axis begins
    double end() const noexcept { return end_; }
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
    int names_width() const;  // of the lanes, left of the axis
    double axis_width() const { return std::max(width() - names_width(), 1); }
    double x_of(double milliseconds) const {
        return names_width() + (milliseconds - begin_) / (end_ - begin_) * axis_width();
    }
    void zoom(double factor, double x);
    void pan(double milliseconds);

    Timeline timeline_;
    double begin_ = 0;
    double end_ = 1;
    std::optional<double> dragged_;
};

/// When the picture was decoded and copied, and what its kernel took, with rates beside what a copy reaches now.
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
