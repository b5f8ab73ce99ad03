#pragma once
#include <QWidget>
#include <array>
#include <optional>
#include <vector>

namespace texton::viewer {

/// Plot of one curve per channel along a line. The user can zoom into the line and move along it.
class LinePlot : public QWidget {
    Q_OBJECT

public:
    /// Samples at equal distances from `first` to `last`, which are fractions of the line.
    struct Curves {
        double first = 0;
        double last = 1;
        std::vector<std::array<double, 4>> samples;
        int channels = 0;
        std::vector<double> borders;  ///< edges of texels, as fractions of the line
    };

    explicit LinePlot(const QString& accessible_name, QWidget* parent = nullptr);

    void set_curves(Curves curves);
    double first() const noexcept { return first_; }
    double last() const noexcept { return last_; }
    /// Sets the visible part of the line. Emits range_changed() if it changes.
    void set_range(double first, double last);
    /// Returns the index of the sample nearest to the mouse.
    std::optional<std::size_t> pointed() const noexcept { return pointed_; }

    QSize sizeHint() const override { return {320, 160}; }
    QSize minimumSizeHint() const override { return {160, 110}; }

Q_SIGNALS:
    void range_changed();
    /// pointed() changed.
    void pointed_at();

protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    // Returns the rectangle of the curves.
    QRectF field() const;
    double share_at(double x) const;
    double x_of(double share) const;
    void zoom_at(double share, double factor);
    void move_by(double shares);
    void point_at(std::optional<std::size_t> sample);
    void draw_curves(QPainter& painter, double low, double high) const;

    Curves curves_;
    double first_ = 0;
    double last_ = 1;
    std::optional<double> dragged_;  // fraction of the line at which the drag began
    std::optional<std::size_t> pointed_;
};

}  // namespace texton::viewer
