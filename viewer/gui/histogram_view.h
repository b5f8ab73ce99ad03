#pragma once
#include <QWidget>
#include <array>
#include <optional>

#include "viewer/inspect/region_statistics.h"

namespace texton::viewer {

/// Draws the histograms of up to four channels and the display range. The user can drag an edge of the range or drag
/// out a new range. Left and Right move the white edge by one bin, with Shift the black edge.
class HistogramView : public QWidget {
    Q_OBJECT

public:
    explicit HistogramView(QWidget* parent = nullptr);

    void show_statistics(const std::optional<RegionStatistics>& statistics);
    void show_channels(const std::array<bool, 4>& channels);
    /// Sets the displayed range, in the unit of the bins' values.
    void show_range(const ValueRange& range);
    void set_logarithmic(bool on);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

Q_SIGNALS:
    void range_edited(texton::viewer::ValueRange range);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    enum class Drag : std::uint8_t { none, low, high, both };

    double x_of(double value) const;
    float value_at(double x) const;
    void drag_to(double x);
    void paint_channel(QPainter& painter, int channel, double maximum, const QColor& color) const;

    std::optional<RegionStatistics> statistics_;
    std::array<bool, 4> channels_{true, true, true, true};
    ValueRange range_;
    bool logarithmic_ = false;
    Drag drag_ = Drag::none;
    float pressed_ = 0;  // value where a new range begins
};

}  // namespace texton::viewer
