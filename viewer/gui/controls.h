#pragma once
// Small widgets that the panels share. They emit signals only for changes by the user, not for calls of their setters.
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

/// A field for a number, shown with all its digits. Up and Down change it by the step, with Shift by ten steps. Text
/// that is not a number in the range is rejected: the field returns to its last value.
class NumberEdit : public QLineEdit {
    Q_OBJECT

public:
    explicit NumberEdit(const QString& accessible_name, QWidget* parent = nullptr);

    void set_range(double lowest, double highest);
    void set_step(double step) { step_ = step; }
    void set_value(double value);
    /// Shows the shortest text that identifies the float.
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

/// A slider for the common values of a number, and a field that accepts any value.
class SliderField : public QWidget {
    Q_OBJECT

public:
    /// The slider covers `low` to `high` in steps of `step`. The range of the field is that of number(), unlimited by
    /// default.
    SliderField(const QString& accessible_name, double low, double high, double step, QWidget* parent = nullptr);

    void set_value(double value);
    void set_value(float value);
    double value() const noexcept { return number_->value(); }
    NumberEdit* number() const noexcept { return number_; }
    QSlider* slider() const noexcept { return slider_; }

Q_SIGNALS:
    void edited(double value);

private:
    void set_slider_position(double value);

    double low_;
    double step_;
    QSlider* slider_;
    NumberEdit* number_;
};

/// A slider and a number field for an index that starts at 0.
class IndexField : public QWidget {
    Q_OBJECT

public:
    explicit IndexField(const QString& accessible_name, QWidget* parent = nullptr);

    /// Sets the index and the number of items; `count` must be at least 1.
    void set(std::size_t index, std::size_t count);
    QSpinBox* number() const noexcept { return number_; }

Q_SIGNALS:
    void edited(int index);

private:
    QSlider* slider_;
    QSpinBox* number_;
};

/// Returns a new combo box with these names. The wheel changes it only while it has the focus.
[[nodiscard]] QComboBox* choice_box(const QString& accessible_name, const std::vector<std::string>& names);
/// Makes the wheel scroll the panel instead of changing this widget, unless the widget has the focus.
void leave_wheel_to_panel(QWidget* widget);

/// A label with word wrap in the placeholder color of the palette. It is hidden while its text is empty.
class CalmText : public QLabel {
public:
    explicit CalmText(const QString& accessible_name, QWidget* parent = nullptr);
    void say(const QString& text);
};

/// Returns a form layout whose rows fit into a narrow dock.
[[nodiscard]] QFormLayout* narrow_form();
/// Returns a checkable button that has the highlight color while it is checked.
[[nodiscard]] QToolButton* toggle_button(const QString& text, const QString& accessible_name, const QString& tip);

}  // namespace texton::viewer
