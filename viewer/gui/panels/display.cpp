#include "viewer/gui/panels/display.h"

#include <QEvent>
#include <QGridLayout>
#include <QMouseEvent>
#include <QSignalBlocker>
#include <algorithm>

#include <texton/error.h>

#include "viewer/gui/fit_range.h"
#include "viewer/inspect/region_statistics.h"
#include "viewer/model/session_names.h"
#include "viewer/render/color_transform.h"
#include "viewer/text/error_text.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {
namespace {

QCheckBox* check_box(const QString& text, const QString& tip) {
    auto* box = new QCheckBox(text);
    box->setAccessibleName(text);
    box->setToolTip(tip);
    return box;
}

// Shows these names, and selects the chosen one. A chosen name that is not among them is added, so that it is visible.
void show_names(QComboBox* box, std::vector<std::string> names, const std::string& chosen) {
    if (!chosen.empty() && std::ranges::find(names, chosen) == names.end()) names.push_back(chosen);
    QStringList items;
    for (const std::string& name : names) items.append(QString::fromStdString(name));
    const QSignalBlocker quiet(box);
    QStringList present;
    for (int i = 0; i < box->count(); ++i) present.append(box->itemText(i));
    if (items != present) {
        box->clear();
        box->addItems(items);
    }
    box->setCurrentIndex(chosen.empty() ? 0 : static_cast<int>(items.indexOf(QString::fromStdString(chosen))));
}

}  // namespace

DisplayPanel::DisplayPanel(Workspace& workspace)
    : LivePanel(workspace),
      exposure_(new SliderField(tr("Exposure"), -10, 10, 0.1)),
      gamma_(new SliderField(tr("Gamma"), 0.1, 4, 0.05)),
      problem_(new CalmText(tr("Problem with the range"))),
      false_color_(choice_box(tr("False color"), all_names(kFalseColors))),
      mark_nan_(check_box(tr("Mark NaN and infinities"), tr("Shows NaN and infinities in marker colors"))),
      mark_range_(
          check_box(tr("Mark values out of range"), tr("Shows values below black and above white in marker colors"))),
      zebra_(check_box(tr("Zebra"), tr("Shows stripes over values below black and above white"))),
      tone_curve_(choice_box(tr("Tone curve"), all_names(kToneCurves))),
      config_(new QLineEdit),
      input_(choice_box(tr("Color space of the image"), {})),
      color_display_(choice_box(tr("Color display"), {})),
      color_view_(choice_box(tr("Color view"), {})),
      color_problem_(new CalmText(tr("Problem with the color conversion"))),
      color_table_(new CalmText(tr("Accuracy of the colors"))),
      reset_(new QPushButton(tr("Reset display"))) {
    exposure_->setToolTip(tr("In stops; one stop doubles the brightness"));
    gamma_->setToolTip(tr("Applied in addition to the transfer curve of the screen"));
    gamma_->number()->set_range(0.01, 100);
    false_color_->setToolTip(tr("Color map for a single channel or the luminance"));

    QFormLayout* form = narrow_form();
    form->addRow(tr("Channels"), make_channels());
    form->addRow(tr("Exposure"), exposure_);
    form->addRow(tr("Gamma"), gamma_);
    form->addRow(tr("Range"), make_range());
    form->addRow(tr("Fit to"), make_fits());
    form->addRow(tr("False color"), false_color_);
    form->addRow(tr("Tone"), tone_curve_);
    auto* column = new QVBoxLayout;
    column->addLayout(form);
    column->addWidget(problem_);
    column->addWidget(mark_nan_);
    column->addWidget(mark_range_);
    column->addWidget(zebra_);
    QFormLayout* color_form = narrow_form();
    add_color(color_form);
    column->addLayout(color_form);
    column->addWidget(color_problem_);
    column->addWidget(color_table_);
    column->addWidget(reset_);
    column->addStretch();
    lay_out(column);

    connect(&workspace, &Workspace::color_table_changed, this, &DisplayPanel::stale);
    connect(exposure_, &SliderField::edited, this, [this](double value) {
        edit(tr("Exposure"), "exposure", [=](Display& display) { display.exposure = static_cast<float>(value); });
    });
    connect(gamma_, &SliderField::edited, this, [this](double value) {
        edit(tr("Gamma"), "gamma", [=](Display& display) { display.gamma = static_cast<float>(value); });
    });
    connect(false_color_, &QComboBox::currentIndexChanged, this, [this](int index) {
        edit(tr("False color"), "false_color",
             [=](Display& display) { display.false_color = static_cast<FalseColor>(index); });
    });
    tone_curve_->setToolTip(tr("Compresses large values of colors, so that highlights stay visible"));
    connect(tone_curve_, &QComboBox::currentIndexChanged, this, [this](int index) {
        edit(tr("Tone curve"), "tone_curve",
             [=](Display& display) { display.tone_curve = static_cast<ToneCurve>(index); });
    });
    connect(zebra_, &QCheckBox::toggled, this,
            [this](bool on) { edit(tr("Zebra"), "zebra", [=](Display& display) { display.zebra = on; }); });
    connect(mark_nan_, &QCheckBox::toggled, this,
            [this](bool on) { edit(tr("Mark NaN"), "mark_nan", [=](Display& display) { display.mark_nan = on; }); });
    connect(mark_range_, &QCheckBox::toggled, this, [this](bool on) {
        edit(tr("Mark range"), "mark_range", [=](Display& display) { display.mark_range = on; });
    });
    connect(reset_, &QPushButton::clicked, this,
            [this] { edit(tr("Reset display"), "reset", [](Display& display) { display = {}; }); });
}

QWidget* DisplayPanel::make_channels() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    const auto button = [&](const QString& letter, const QString& name, const QString& tip) {
        QToolButton* made = toggle_button(letter, name, tip);
        made->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        layout->addWidget(made);
        return made;
    };
    const std::array<QString, 4> names{tr("Red"), tr("Green"), tr("Blue"), tr("Alpha")};
    for (std::size_t i = 0; i < 4; ++i) {
        channels_[i] =
            button(QString(channel_letter(static_cast<int>(i))), names[i],
                   tr("%1. Right-click or press Shift+Space to show only this channel, or all again.").arg(names[i]));
        channels_[i]->installEventFilter(this);
        connect(channels_[i], &QToolButton::clicked, this, [this, i](bool on) {
            edit(tr("Channels"), "channels", [=](Display& display) { display.channels[i] = on; });
        });
    }
    luminance_ = button("L", tr("Luminance"), tr("Shows the luminance as gray"));
    connect(luminance_, &QToolButton::clicked, this,
            [this](bool on) { edit(tr("Luminance"), "luminance", [=](Display& display) { display.luminance = on; }); });
    return row;
}

QWidget* DisplayPanel::make_range() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    low_ = new NumberEdit(tr("Black"));
    low_->setToolTip(tr("Value that is shown as black; for integers a fraction of their range"));
    high_ = new NumberEdit(tr("White"));
    high_->setToolTip(tr("Value that is shown as white; for integers a fraction of their range"));
    for (NumberEdit* number : {low_, high_}) {
        number->set_step(0.05);
        layout->addWidget(number);
    }
    connect(low_, &NumberEdit::edited, this, [this](double value) {
        edit(tr("Range"), "low", [=](Display& display) { display.low = static_cast<float>(value); });
    });
    connect(high_, &NumberEdit::edited, this, [this](double value) {
        edit(tr("Range"), "high", [=](Display& display) { display.high = static_cast<float>(value); });
    });
    return row;
}

QWidget* DisplayPanel::make_fits() {
    auto* row = new QWidget;
    auto* layout = new QHBoxLayout(row);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    const auto button = [&](const QString& text, const QString& name, const QString& tip, Fit to) {
        auto* made = new QPushButton(text);
        made->setAccessibleName(name);
        made->setToolTip(tip);
        made->setMinimumWidth(made->fontMetrics().horizontalAdvance(text) + 16);
        layout->addWidget(made);
        fits_.push_back(made);
        connect(made, &QPushButton::clicked, this, [this, to] { fit(to); });
        return made;
    };
    button(tr("View"), tr("Fit range to view"), tr("Sets black and white to the lowest and the highest visible value"),
           Fit::view);
    fit_selection_ =
        button(tr("Selection"), tr("Fit range to selection"),
               tr("Sets black and white to the lowest and the highest value of the selection"), Fit::selection);
    button(tr("All"), tr("Fit range to all"),
           tr("Sets black and white to the lowest and the highest value of the image"), Fit::all);
    return row;
}

void DisplayPanel::add_color(QFormLayout* form) {
    config_->setAccessibleName(tr("Color config"));
    config_->setPlaceholderText(tr("$OCIO or built in"));
    config_->setToolTip(tr("Config file of OpenColorIO; empty for the file in $OCIO, or else for the built-in config"));
    input_->setToolTip(tr("Color space of the image, or none for no color management"));
    color_display_->setToolTip(tr("Display of the config, whose code values are shown"));
    color_view_->setToolTip(tr("View of the display"));
    form->addRow(tr("Config"), config_);
    form->addRow(tr("Input"), input_);
    form->addRow(tr("Display"), color_display_);
    form->addRow(tr("View"), color_view_);
    // Names of another config or display are usually unknown, so that the choices after this one are reset.
    connect(config_, &QLineEdit::editingFinished, this, [this] {
        const std::string config = config_->text().toStdString();
        if (config == workspace().session().display.color.config) return;
        edit(tr("Color config"), "color_config", [=](Display& display) { display.color = {.config = config}; });
    });
    connect(input_, &QComboBox::currentIndexChanged, this, [this](int index) {
        const std::string name = index > 0 ? input_->currentText().toStdString() : std::string();
        edit(tr("Color space"), "color_input", [=](Display& display) { display.color.input = name; });
    });
    connect(color_display_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
        edit(tr("Color display"), "color_display", [=](Display& display) {
            display.color.display = name.toStdString();
            display.color.view.clear();
        });
    });
    connect(color_view_, &QComboBox::currentTextChanged, this, [this](const QString& name) {
        edit(tr("Color view"), "color_view", [=](Display& display) { display.color.view = name.toStdString(); });
    });
}

void DisplayPanel::refresh_color() {
    const ColorConversion& color = workspace().session().display.color;
    if (!config_->hasFocus() || !config_->isModified()) config_->setText(QString::fromStdString(color.config));
    ColorNames names;
    QString problem;
    try {
        names = color_names(color);
        const auto shown = workspace().shown();
        if (shown || color.input != kFileProfile)
            problem = QString::fromStdString(color_problem(color, shown ? file_colors(*shown) : FileColors{}));
    } catch (const Error& error) {
        problem = QString::fromStdString(error_text(error));
    }
    names.inputs.insert(names.inputs.begin(), {tr("none").toStdString(), kFileProfile});
    show_names(input_, names.inputs, color.input);
    show_names(color_display_, names.displays, color.display);
    show_names(color_view_, names.views, color.view);
    for (QWidget* field : {static_cast<QWidget*>(config_), static_cast<QWidget*>(input_)})
        field->setEnabled(has_color_management());
    for (QComboBox* field : {color_display_, color_view_}) field->setEnabled(!color.input.empty());
    color_problem_->say(problem);
    color_table_->say(color_table_text());
}

// The canvas uses tables only for images on a GPU.
QString DisplayPanel::color_table_text() const {
    const std::optional<ColorTableError>& table = workspace().color_table();
    const auto shown = workspace().shown();
    if (!table || !shown) return {};
    const Display& display = workspace().session().display;
    if (shown_transform(display, meaning_of(shown->info().format), file_colors(*shown)) != table->transform) return {};
    const QString error = QString::number(static_cast<double>(table->error), 'g', 2);
    return table->is_used()
               ? tr("The canvas converts colors by a table. Measured error: %1 of 255.").arg(error)
               : tr("The canvas converts colors exactly. A table would have an error of %1 of 255.").arg(error);
}

void DisplayPanel::edit(const QString& what, const char* id, const std::function<void(Display&)>& edit) {
    workspace().change(
        what, [&](Session& session) { edit(session.display); }, QString("display ") + id);
}

void DisplayPanel::solo(std::size_t channel) {
    edit(tr("Channels"), "channels", [=](Display& display) {
        std::array<bool, 4> alone{};
        alone[channel] = true;
        display.channels = display.channels == alone ? Display{}.channels : alone;
    });
}

bool DisplayPanel::eventFilter(QObject* watched, QEvent* event) {
    for (std::size_t i = 0; i < 4; ++i) {
        if (watched != channels_[i]) continue;
        const bool right =
            event->type() == QEvent::MouseButtonPress && static_cast<QMouseEvent*>(event)->button() == Qt::RightButton;
        const auto* key = event->type() == QEvent::KeyPress ? static_cast<QKeyEvent*>(event) : nullptr;
        if (right || (key != nullptr && key->key() == Qt::Key_Space && key->modifiers() == Qt::ShiftModifier)) {
            solo(i);
            return true;
        }
    }
    return LivePanel::eventFilter(watched, event);
}

void DisplayPanel::fit(Fit to) {
    const std::shared_ptr<const Document> shown = workspace().shown();
    if (!shown) return;
    const Session& session = workspace().session();
    std::optional<TexelBox> box = whole_box(*shown, session.subresource);
    if (to == Fit::view) box = visible_texels();
    if (to == Fit::selection)
        box = session.selection ? clamped(*session.selection, shown->extent(session.subresource)) : box;
    if (!box) return problem_->say(tr("No texels of the image are in this area."));
    fit_range(workspace(), *box, this, [this](const QString& problem) { problem_->say(problem); });
}

void DisplayPanel::refresh() {
    const Display& display = workspace().session().display;
    for (std::size_t i = 0; i < 4; ++i) channels_[i]->setChecked(display.channels[i]);
    luminance_->setChecked(display.luminance);
    exposure_->set_value(display.exposure);
    gamma_->set_value(display.gamma);
    low_->set_value(display.low);
    high_->set_value(display.high);
    const QSignalBlocker quiet_color(false_color_), quiet_nan(mark_nan_), quiet_range(mark_range_), quiet_zebra(zebra_),
        quiet_curve(tone_curve_);
    false_color_->setCurrentIndex(static_cast<int>(display.false_color));
    mark_nan_->setChecked(display.mark_nan);
    mark_range_->setChecked(display.mark_range);
    zebra_->setChecked(display.zebra);
    tone_curve_->setCurrentIndex(static_cast<int>(display.tone_curve));
    refresh_color();
    const bool there = workspace().shown() != nullptr;
    for (QPushButton* button : fits_) button->setEnabled(there);
    fit_selection_->setEnabled(there && workspace().session().selection.has_value());
    reset_->setEnabled(display != Display{});
}

}  // namespace texton::viewer
