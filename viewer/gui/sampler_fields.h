#pragma once
#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>
#include <QWidget>
#include <array>

#include <texton/sampler.h>

#include "viewer/gui/controls.h"

namespace texton::viewer {

/// Every field of a Sampler. Knows no texture: whether one takes the sampler, its own Error says.
class SamplerFields : public QWidget {
    Q_OBJECT

public:
    explicit SamplerFields(QWidget* parent = nullptr);

    /// Emits nothing.
    void set_sampler(const Sampler& sampler);
    const Sampler& sampler() const noexcept { return sampler_; }

Q_SIGNALS:
    /// By a person.
    void edited(const texton::Sampler& sampler);

private:
    void add_choices(QFormLayout* form);
    void add_levels(QFormLayout* form);
    void add_border(QFormLayout* form);
    template <class Edit>
    void edit(Edit edit);

    Sampler sampler_;
    std::array<QComboBox*, 3> address_{};
    QComboBox* filter_ = nullptr;
    QComboBox* mip_filter_ = nullptr;
    QCheckBox* normalized_ = nullptr;
    QCheckBox* seamless_ = nullptr;
    QCheckBox* trilinear_ = nullptr;
    QSpinBox* anisotropy_ = nullptr;
    NumberEdit* mip_bias_ = nullptr;
    NumberEdit* mip_min_ = nullptr;
    NumberEdit* mip_max_ = nullptr;
    std::array<NumberEdit*, 4> border_{};
};

}  // namespace texton::viewer
