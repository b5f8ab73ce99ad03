#pragma once
#include <QPushButton>
#include <QRadioButton>

#include "viewer/gui/live_panel.h"
#include "viewer/gui/sampler_fields.h"

namespace texton::viewer {

/// How the picture is sampled, and whether it can be.
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
