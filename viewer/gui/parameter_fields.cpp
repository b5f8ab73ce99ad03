#include "viewer/gui/parameter_fields.h"

#include <QCheckBox>
#include <QFontDatabase>
#include <QGridLayout>
#include <QSignalBlocker>
#include <QSpinBox>
#include <cmath>

#include "viewer/gui/controls.h"
#include "viewer/text/parameter_text.h"

namespace texton::viewer {
namespace {

QString title_of(const ParameterInfo& parameter) { return QString::fromStdString(title_of_name(parameter.name)); }

int bounded(double value) {
    return static_cast<int>(std::clamp(value, static_cast<double>(std::numeric_limits<int>::min()),
                                       static_cast<double>(std::numeric_limits<int>::max())));
}

}  // namespace

ParameterFields::ParameterFields(const KernelInfo& kernel, QWidget* parent) : QWidget(parent) {
    QFormLayout* form = narrow_form();
    form->setContentsMargins(0, 0, 0, 0);
    setLayout(form);
    for (const ParameterInfo& parameter : kernel.parameters) {
        Field field{&parameter, {}};
        QWidget* made = nullptr;
        switch (parameter.kind) {
            case ParameterKind::flag: made = make_flag(parameter, field.show); break;
            case ParameterKind::number: made = make_number(parameter, field.show); break;
            case ParameterKind::integer: made = make_integer(parameter, field.show); break;
            case ParameterKind::choice: made = make_choice(parameter, field.show); break;
            case ParameterKind::text: made = make_text(parameter, field.show); break;
            case ParameterKind::numbers: made = make_numbers(parameter, field.show); break;
        }
        made->setToolTip(QString::fromStdString(parameter_text(parameter)));
        made->setObjectName(QString::fromStdString(parameter.name));
        if (parameter.kind == ParameterKind::flag) {
            form->addRow(made);
        } else {
            form->addRow(title_of(parameter), made);
        }
        fields_.push_back(std::move(field));
    }
    set_values({});
}

void ParameterFields::set_values(const std::map<std::string, ParameterValue>& values) {
    for (const Field& field : fields_) {
        const auto found = values.find(field.parameter->name);
        field.show(found != values.end() ? found->second : field.parameter->standard);
    }
}

QWidget* ParameterFields::make_flag(const ParameterInfo& parameter, Show& show) {
    auto* box = new QCheckBox(title_of(parameter));
    box->setAccessibleName(title_of(parameter));
    connect(box, &QCheckBox::clicked, this, [this, name = parameter.name](bool on) { Q_EMIT edited(name, on); });
    show = [box](const ParameterValue& value) {
        if (const auto* on = std::get_if<bool>(&value)) box->setChecked(*on);
    };
    return box;
}

QWidget* ParameterFields::make_number(const ParameterInfo& parameter, Show& show) {
    const auto send = [this, name = parameter.name](double value) { Q_EMIT edited(name, value); };
    const double width = parameter.highest - parameter.lowest;
    if (std::isfinite(width) && width > 0) {
        auto* field = new SliderField(title_of(parameter), parameter.lowest, parameter.highest, width / 200);
        field->number()->set_range(parameter.lowest, parameter.highest);
        connect(field, &SliderField::edited, this, send);
        show = [field](const ParameterValue& value) {
            if (const auto* number = std::get_if<double>(&value)) field->set_value(*number);
        };
        return field;
    }
    auto* field = new NumberEdit(title_of(parameter));
    field->set_range(parameter.lowest, parameter.highest);
    field->set_step(0.1);
    connect(field, &NumberEdit::edited, this, send);
    show = [field](const ParameterValue& value) {
        if (const auto* number = std::get_if<double>(&value)) field->set_value(*number);
    };
    return field;
}

QWidget* ParameterFields::make_integer(const ParameterInfo& parameter, Show& show) {
    auto* box = new QSpinBox;
    box->setRange(bounded(std::ceil(parameter.lowest)), bounded(std::floor(parameter.highest)));
    box->setKeyboardTracking(false);
    box->setAccessibleName(title_of(parameter));
    leave_wheel_to_panel(box);
    connect(box, &QSpinBox::valueChanged, this,
            [this, name = parameter.name](int value) { Q_EMIT edited(name, static_cast<double>(value)); });
    show = [box](const ParameterValue& value) {
        const QSignalBlocker quiet(box);
        if (const auto* number = std::get_if<double>(&value)) box->setValue(bounded(*number));
    };
    return box;
}

QWidget* ParameterFields::make_choice(const ParameterInfo& parameter, Show& show) {
    QComboBox* box = choice_box(title_of(parameter), parameter.choices);
    connect(box, &QComboBox::currentTextChanged, this,
            [this, name = parameter.name](const QString& text) { Q_EMIT edited(name, text.toStdString()); });
    show = [box](const ParameterValue& value) {
        const QSignalBlocker quiet(box);
        if (const auto* text = std::get_if<std::string>(&value)) box->setCurrentText(QString::fromStdString(*text));
    };
    return box;
}

QWidget* ParameterFields::make_text(const ParameterInfo& parameter, Show& show) {
    auto* field = new QLineEdit;
    field->setAccessibleName(title_of(parameter));
    field->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    connect(field, &QLineEdit::editingFinished, this, [this, field, name = parameter.name] {
        if (!field->isModified()) return;
        field->setModified(false);
        Q_EMIT edited(name, field->text().toStdString());
    });
    show = [field](const ParameterValue& value) {
        const auto* text = std::get_if<std::string>(&value);
        if (text != nullptr && field->text().toStdString() != *text) field->setText(QString::fromStdString(*text));
    };
    return field;
}

// Creates one field per number for a fixed count of up to 12 numbers. Other lists are edited as text with commas.
QWidget* ParameterFields::make_numbers(const ParameterInfo& parameter, Show& show) {
    const auto* standard = std::get_if<std::vector<double>>(&parameter.standard);
    const std::size_t count = parameter.count;
    if (count == 0 || count > 12 || standard == nullptr || standard->size() != count) return make_list(parameter, show);
    auto* grid = new QWidget;
    auto* layout = new QGridLayout(grid);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    const std::size_t columns = count % 3 == 0 ? 3 : 2;
    std::vector<NumberEdit*> fields;
    for (std::size_t i = 0; i < count; ++i) {
        auto* field = new NumberEdit(tr("%1, number %2 of %3").arg(title_of(parameter)).arg(i + 1).arg(count));
        field->set_range(parameter.lowest, parameter.highest);
        field->set_step(0.1);
        layout->addWidget(field, static_cast<int>(i / columns), static_cast<int>(i % columns));
        fields.push_back(field);
    }
    for (NumberEdit* field : fields) {
        connect(field, &NumberEdit::edited, this, [this, fields, name = parameter.name] {
            std::vector<double> values;
            for (const NumberEdit* each : fields) values.push_back(each->value());
            Q_EMIT edited(name, values);
        });
    }
    show = [fields](const ParameterValue& value) {
        const auto* numbers = std::get_if<std::vector<double>>(&value);
        if (numbers == nullptr || numbers->size() != fields.size()) return;
        for (std::size_t i = 0; i < fields.size(); ++i) fields[i]->set_value((*numbers)[i]);
    };
    return grid;
}

QWidget* ParameterFields::make_list(const ParameterInfo& parameter, Show& show) {
    auto* field = new QLineEdit;
    field->setAccessibleName(title_of(parameter));
    field->setPlaceholderText(tr("numbers, separated by commas"));
    field->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    // The last valid value. It is shown again if the text is not a list of numbers.
    const auto last = std::make_shared<std::vector<double>>();
    connect(field, &QLineEdit::editingFinished, this, [this, field, last, name = parameter.name] {
        if (!field->isModified()) return;
        field->setModified(false);
        const auto numbers = list_of(field->text().toStdString());
        if (numbers && *numbers != *last) {
            *last = *numbers;
            Q_EMIT edited(name, *numbers);
        }
        field->setText(QString::fromStdString(list_text(*last)));
    });
    show = [field, last](const ParameterValue& value) {
        const auto* numbers = std::get_if<std::vector<double>>(&value);
        if (numbers == nullptr || field->isModified()) return;
        *last = *numbers;
        field->setText(QString::fromStdString(list_text(*numbers)));
    };
    return field;
}

}  // namespace texton::viewer
