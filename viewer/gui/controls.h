#pragma once
// Small widgets that panels share. None emits anything when a program sets its value.
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSlider>
#include <QSpinBox>
#include <QToolButton>
#include <QWidget>
#include <limits>
#include <string>
#include <vector>

namespace texton::viewer {

/// A number as text, with all its digits; Up and Down step it. Text that is no number in the range is not taken: the field
/// goes back to what it had.
class NumberEdit : public QLineEdit {
    Q_OBJECT

public:
    explicit NumberEdit(const QString& accessible_name, QWidget* parent = nullptr);

    void set_range(double lowest, double highest);
    void set_step(double step) { step_ = step; }
    void set_value(double value);
    /// Written with no more digits than a float needs.
    void set_value(float value);
    double value() const noexcept { return value_; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

Q_SIGNALS:
    void edited(double value);

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void take(double value);

    double value_ = 0;
    double lowest_ = -std::numeric_limits<double>::infinity();
    double highest_ = std::numeric_limits<double>::infinity();
    double step_ = 1;
};

/// A slider for the usual values of a number, and its text for all others.
class SliderField : public QWidget {
    Q_OBJECT

public:
    /// The slider goes from `low` to `high` by `step`.
    SliderField(const QString& accessible_name, double low, double high, double step, QWidget* parent = nullptr);

    void set_value(double value);
    void set_value(float value);
    double value() const noexcept { return number_->value(); }
    NumberEdit* number() const noexcept { return number_; }
    QSlider* slider() const noexcept { return slider_; }

Q_SIGNALS:
    void edited(double value);

private:
    void place_slider(double value);

    double low_;
    double step_;
    QSlider* slider_;
    NumberEdit* number_;
};

/// One of so many, from 0 on: a slider and its number.
class IndexField : public QWidget {
    Q_OBJECT

public:
    explicit IndexField(const QString& accessible_name, QWidget* parent = nullptr);

    void set(std::size_t index, std::size_t count);
    QSpinBox* number() const noexcept { return number_; }

Q_SIGNALS:
    void edited(int index);

private:
    QSlider* slider_;
    QSpinBox* number_;
};

/// A box to choose one of the names, which the wheel changes only while it has the focus.
[[nodiscard]] QComboBox* choice_box(const QString& accessible_name, const std::vector<std::string>& names);
/// Lets the wheel scroll the panel instead of changing this widget, unless it has the focus.
void leave_wheel_to_panel(QWidget* widget);

/// Text that wraps, in the weaker colour of the palette; hidden while it is empty.
class CalmText : public QLabel {
public:
    explicit CalmText(const QString& accessible_name, QWidget* parent = nullptr);
    void say(const QString& text);
};

/// A form whose rows fit a narrow dock.
[[nodiscard]] QFormLayout* narrow_form();
/// A button that shows with the highlight's colour that it is on.
[[nodiscard]] QToolButton* toggle_button(const QString& text, const QString& accessible_name, const QString& tip);

}  // namespace texton::viewer
