#pragma once
#include <QLabel>
#include <QPushButton>
#include <QTreeWidget>

#include "viewer/gui/panels/inspection_panel.h"
#include "viewer/gui/sampler_fields.h"
#include "viewer/inspect/sampler_difference.h"

namespace texton::viewer {

/// Panel with a second sampler for the same image. It lists the fields that cause the differences.
class SamplerComparePanel : public InspectionPanel {
    Q_OBJECT

public:
    explicit SamplerComparePanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    void show_nothing() override;
    void show_found(const SamplerDifference& found);
    void add_row(const FieldDifference& field, std::size_t fetches);

    QPushButton* copy_;
    QPushButton* swap_;
    QPushButton* wipe_;
    SamplerFields* fields_;
    QTreeWidget* table_;
};

}  // namespace texton::viewer
