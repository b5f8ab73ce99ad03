#pragma once
#include <QPushButton>
#include <QRadioButton>

#include "viewer/gui/live_panel.h"
#include "viewer/gui/sampler_fields.h"

namespace texton::viewer {

/// Panel for all fields of the sampler. It says why the image cannot be sampled with them.
class SamplerPanel : public LivePanel {
    Q_OBJECT

public:
    explicit SamplerPanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    QRadioButton* stored_;
    QRadioButton* sampled_;
    SamplerFields* fields_;
    CalmText* problem_;
    QPushButton* reset_;
};

}  // namespace texton::viewer
