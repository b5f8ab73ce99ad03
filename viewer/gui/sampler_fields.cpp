#include "viewer/gui/sampler_fields.h"

#include <QGridLayout>
#include <QSignalBlocker>

#include "viewer/text/enum_names.h"

namespace texton::viewer {
namespace {

template <class Button>
void set_quietly(Button* button, bool on) {
    const QSignalBlocker quiet(button);
    button->setChecked(on);
}

template <class Choice>
void choose_quietly(QComboBox* box, Choice choice) {
    const QSignalBlocker quiet(box);
    box->setCurrentIndex(static_cast<int>(choice));
}

}  // namespace

SamplerFields::SamplerFields(QWidget* parent) : QWidget(parent) {
    QFormLayout* form = narrow_form();
    form->setContentsMargins(0, 0, 0, 0);
    setLayout(form);
    add_choices(form);
    add_levels(form);
    add_border(form);
    set_sampler({});
}

template <class Edit>
void SamplerFields::edit(Edit edit) {
    const Sampler before = sampler_;
    edit(sampler_);
    if (sampler_ != before) Q_EMIT edited(sampler_);
}

void SamplerFields::add_choices(QFormLayout* form) {
    const auto choice = [&](const QString& label, const QString& tip, const auto& names, const auto& set) {
        QComboBox* box = choice_box(label, names);
        box->setToolTip(tip);
        form->addRow(label, box);
        connect(box, &QComboBox::currentIndexChanged, this,
                [this, set](int index) { edit([&](Sampler& sampler) { set(sampler, index); }); });
        return box;
    };
    const std::array<QString, 3> axes{tr("Address x"), tr("Address y"), tr("Address z")};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        address_[axis] =
            choice(axes[axis], tr("Address mode for coordinates outside the texture"), all_names(kAddressModes),
                   [axis](Sampler& sampler, int index) { sampler.address[axis] = static_cast<AddressMode>(index); });
    }
    filter_ = choice(tr("Filter"), tr("Filter between texels"), all_names(kFilters),
                     [](Sampler& sampler, int index) { sampler.filter = static_cast<Filter>(index); });
    mip_filter_ = choice(tr("Mip filter"), tr("Filter between mip levels"), all_names(kFilters),
                         [](Sampler& sampler, int index) { sampler.mip_filter = static_cast<Filter>(index); });

    const auto flag = [&](const QString& label, const QString& tip, bool Sampler::*field) {
        auto* box = new QCheckBox(label);
        box->setAccessibleName(label);
        box->setToolTip(tip);
        form->addRow(box);
        connect(box, &QCheckBox::toggled, this,
                [this, field](bool on) { edit([&](Sampler& sampler) { sampler.*field = on; }); });
        return box;
    };
    normalized_ = flag(tr("Normalized coordinates"),
                       tr("Coordinates from 0 to 1 instead of texels; required for mip levels and cubemaps"),
                       &Sampler::normalized_coordinates);
    seamless_ =
        flag(tr("Seamless cubemap"), tr("Filters across the edges of cubemap faces"), &Sampler::seamless_cubemap);
    trilinear_ = flag(tr("Trilinear optimization"), tr("Allows the device to snap the blend between two mip levels"),
                      &Sampler::trilinear_optimization);
}

void SamplerFields::add_levels(QFormLayout* form) {
    anisotropy_ = new QSpinBox;
    anisotropy_->setRange(1, 16);
    anisotropy_->setAccessibleName(tr("Max anisotropy"));
    anisotropy_->setToolTip(tr("Maximum anisotropy, 1 to 16; 1 is isotropic"));
    leave_wheel_to_panel(anisotropy_);
    form->addRow(tr("Max anisotropy"), anisotropy_);
    connect(anisotropy_, &QSpinBox::valueChanged, this, [this](int value) {
        edit([&](Sampler& sampler) { sampler.max_anisotropy = static_cast<std::uint8_t>(value); });
    });

    const auto number = [&](const QString& label, const QString& tip, float Sampler::*field) {
        auto* box = new NumberEdit(label);
        box->setToolTip(tip);
        box->set_step(0.25);
        form->addRow(label, box);
        connect(box, &NumberEdit::edited, this, [this, field](double value) {
            edit([&](Sampler& sampler) { sampler.*field = static_cast<float>(value); });
        });
        return box;
    };
    mip_bias_ = number(tr("Mip bias"), tr("Added to the level of detail"), &Sampler::mip_bias);
    mip_min_ = number(tr("Lowest level"), tr("Minimum level of detail, after the bias"), &Sampler::mip_min);
    mip_max_ = number(tr("Highest level"), tr("Maximum level of detail, after the bias"), &Sampler::mip_max);
}

void SamplerFields::add_border(QFormLayout* form) {
    auto* grid = new QGridLayout;
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(6);
    const std::array<QString, 4> names{tr("Border red"), tr("Border green"), tr("Border blue"), tr("Border alpha")};
    for (std::size_t channel = 0; channel < 4; ++channel) {
        auto* box = new NumberEdit(names[channel]);
        box->setToolTip(names[channel]);
        box->set_step(0.1);
        grid->addWidget(box, static_cast<int>(channel) / 2, static_cast<int>(channel) % 2);
        connect(box, &NumberEdit::edited, this, [this, channel](double value) {
            edit([&](Sampler& sampler) { sampler.border[channel] = static_cast<float>(value); });
        });
        border_[channel] = box;
    }
    form->addRow(tr("Border"), grid);
}

void SamplerFields::set_sampler(const Sampler& sampler) {
    sampler_ = sampler;
    for (std::size_t axis = 0; axis < 3; ++axis) choose_quietly(address_[axis], sampler.address[axis]);
    choose_quietly(filter_, sampler.filter);
    choose_quietly(mip_filter_, sampler.mip_filter);
    set_quietly(normalized_, sampler.normalized_coordinates);
    set_quietly(seamless_, sampler.seamless_cubemap);
    set_quietly(trilinear_, sampler.trilinear_optimization);
    const QSignalBlocker quiet(anisotropy_);
    anisotropy_->setValue(sampler.max_anisotropy);
    mip_bias_->set_value(sampler.mip_bias);
    mip_min_->set_value(sampler.mip_min);
    mip_max_->set_value(sampler.mip_max);
    for (std::size_t channel = 0; channel < 4; ++channel) border_[channel]->set_value(sampler.border[channel]);
}

}  // namespace texton::viewer
