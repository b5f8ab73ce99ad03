#include "viewer/gui/controls.h"

#include <fmt/format.h>

#include <QEvent>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <cmath>

namespace texton::viewer {
namespace {

class WheelToPanel : public QObject {
public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return false;
        event->ignore();
        return true;
    }
};

}  // namespace

NumberEdit::NumberEdit(const QString& accessible_name, QWidget* parent) : QLineEdit(parent) {
    setAccessibleName(accessible_name);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    set_value(0.0);
    connect(this, &QLineEdit::editingFinished, this, [this] {
        bool is_number = false;
        const double typed = text().trimmed().toDouble(&is_number);
        if (is_number && !(typed < lowest_) && !(typed > highest_)) {
            take(typed);
        } else {
            set_value(value_);
        }
    });
}

void NumberEdit::set_range(double lowest, double highest) {
    lowest_ = lowest;
    highest_ = highest;
}

void NumberEdit::set_value(double value) {
    value_ = value;
    const QString new_text = QString::fromStdString(fmt::format("{}", value));
    if (new_text != text()) setText(new_text);
    setCursorPosition(0);
}

void NumberEdit::set_value(float value) { set_value(QString::fromStdString(fmt::format("{}", value)).toDouble()); }

void NumberEdit::take(double value) {
    if (value == value_ || (std::isnan(value) && std::isnan(value_))) return set_value(value_);
    set_value(value);
    Q_EMIT edited(value);
}

QSize NumberEdit::sizeHint() const {
    const QSize usual = QLineEdit::sizeHint();
    const int room =
        usual.width() - fontMetrics().horizontalAdvance('x') * 17;  // QLineEdit's size hint is for 17 letters
    return {room + fontMetrics().horizontalAdvance("-0.00000"), usual.height()};
}

void NumberEdit::keyPressEvent(QKeyEvent* event) {
    const int direction = event->key() == Qt::Key_Up ? 1 : event->key() == Qt::Key_Down ? -1 : 0;
    if (direction == 0) return QLineEdit::keyPressEvent(event);
    // The value is rounded to 9 digits, so that ten steps of 0.1 give exactly 1.
    const double stepped = value_ + direction * step_ * (event->modifiers() & Qt::ShiftModifier ? 10 : 1);
    take(std::clamp(QString::number(stepped, 'g', 9).toDouble(), lowest_, highest_));
}

SliderField::SliderField(const QString& accessible_name, double low, double high, double step, QWidget* parent)
    : QWidget(parent),
      low_(low),
      step_(step),
      slider_(new QSlider(Qt::Horizontal)),
      number_(new NumberEdit(accessible_name)) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(slider_, 1);
    row->addWidget(number_);
    slider_->setRange(0, static_cast<int>(std::lround((high - low) / step)));
    slider_->setPageStep(std::max(1, slider_->maximum() / 10));
    slider_->setAccessibleName(tr("%1, slider").arg(accessible_name));
    leave_wheel_to_panel(slider_);
    number_->set_step(step);
    setFocusProxy(number_);
    connect(number_, &NumberEdit::edited, this, [this](double value) {
        set_slider_position(value);
        Q_EMIT edited(value);
    });
    connect(slider_, &QSlider::valueChanged, this, [this](int at) {
        number_->set_value(QString::number(low_ + at * step_, 'g', 9).toDouble());
        Q_EMIT edited(number_->value());
    });
}

void SliderField::set_slider_position(double value) {
    const QSignalBlocker quiet(slider_);
    const double at = (value - low_) / step_;
    if (!std::isnan(at))
        slider_->setValue(static_cast<int>(std::lround(std::clamp(at, 0.0, slider_->maximum() * 1.0))));
}

void SliderField::set_value(double value) {
    number_->set_value(value);
    set_slider_position(value);
}

void SliderField::set_value(float value) {
    number_->set_value(value);
    set_slider_position(value);
}

IndexField::IndexField(const QString& accessible_name, QWidget* parent)
    : QWidget(parent), slider_(new QSlider(Qt::Horizontal)), number_(new QSpinBox) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(slider_, 1);
    row->addWidget(number_);
    slider_->setAccessibleName(tr("%1, slider").arg(accessible_name));
    slider_->setMinimumWidth(40);
    number_->setAccessibleName(accessible_name);
    number_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    number_->setWrapping(true);
    leave_wheel_to_panel(slider_);
    leave_wheel_to_panel(number_);
    setFocusProxy(number_);
    connect(slider_, &QSlider::valueChanged, number_, &QSpinBox::setValue);
    connect(number_, &QSpinBox::valueChanged, this, [this](int index) {
        const QSignalBlocker quiet(slider_);
        slider_->setValue(index);
        Q_EMIT edited(index);
    });
}

void IndexField::set(std::size_t index, std::size_t count) {
    const QSignalBlocker quiet_slider(slider_), quiet_number(number_);
    const int last = static_cast<int>(std::min<std::size_t>(count, std::numeric_limits<int>::max())) - 1;
    slider_->setMaximum(last);
    number_->setMaximum(last);
    number_->setSuffix(tr(" of %1").arg(count));
    slider_->setValue(static_cast<int>(index));
    number_->setValue(static_cast<int>(index));
}

QComboBox* choice_box(const QString& accessible_name, const std::vector<std::string>& names) {
    auto* box = new QComboBox;
    for (const std::string& name : names) box->addItem(QString::fromStdString(name));
    box->setAccessibleName(accessible_name);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    leave_wheel_to_panel(box);
    return box;
}

void leave_wheel_to_panel(QWidget* widget) {
    widget->setFocusPolicy(Qt::StrongFocus);
    widget->installEventFilter(new WheelToPanel(widget));
}

CalmText::CalmText(const QString& accessible_name, QWidget* parent) : QLabel(parent) {
    setAccessibleName(accessible_name);
    setWordWrap(true);
    setTextFormat(Qt::PlainText);
    setTextInteractionFlags(Qt::TextSelectableByMouse);
    setForegroundRole(QPalette::PlaceholderText);
    hide();
}

void CalmText::say(const QString& text) {
    setText(text);
    setVisible(!text.isEmpty());
}

QFormLayout* narrow_form() {
    auto* form = new QFormLayout;
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    form->setRowWrapPolicy(QFormLayout::WrapLongRows);
    form->setLabelAlignment(Qt::AlignLeft);
    form->setHorizontalSpacing(10);
    form->setVerticalSpacing(6);
    return form;
}

QToolButton* toggle_button(const QString& text, const QString& accessible_name, const QString& tip) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setCheckable(true);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setAccessibleName(accessible_name);
    button->setToolTip(tip);
    button->setStyleSheet(
        "QToolButton { border: 1px solid palette(mid); border-radius: 3px; padding: 3px 8px; }"
        "QToolButton:checked { background: palette(highlight); color: palette(highlighted-text); }"
        "QToolButton:focus { border-color: palette(text); }");
    return button;
}

}  // namespace texton::viewer
