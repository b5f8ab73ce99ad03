#pragma once
#include <QCheckBox>
#include <QComboBox>
#include <QSpinBox>
#include <QWidget>
#include <array>

#include <texton/sampler.h>

#include "viewer/gui/controls.h"

namespace texton::viewer {

/// Input fields for all members of a Sampler. The widget does not check whether a texture accepts the sampler: creating
/// the texture throws the Error.
class SamplerFields : public QWidget {
    Q_OBJECT

public:
    explicit SamplerFields(QWidget* parent = nullptr);

    /// Shows the sampler. Does not emit edited().
    void set_sampler(const Sampler& sampler);
    const Sampler& sampler() const noexcept { return sampler_; }

Q_SIGNALS:
    /// Emitted for changes by the user only.
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
