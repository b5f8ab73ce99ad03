#pragma once
#include <QLabel>
#include <QPushButton>

#include "viewer/gui/panels/inspection_panel.h"
#include "viewer/gui/panels/line_plot.h"
#include "viewer/inspect/probe.h"

namespace texton::viewer {

/// Panel with one fetch at entered coordinates, on both devices, and a plot of the fetches along a line.
class ProbePanel : public InspectionPanel {
    Q_OBJECT

public:
    explicit ProbePanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    struct Result {
        QString name;
        Texel texel{};
    };
    struct Found {
        Format format = Format::rgba8_unorm;
        int channels = 4;
        std::vector<Result> results;
        std::uint32_t ulp = 0;
        ScanLine line;
        std::vector<double> borders;
        std::shared_ptr<const Array> twin{};  ///< copy of the array on the GPU if the document is on the CPU device
    };

    void show_nothing() override;
    void make_fields();
    NumberEdit* number(const QString& name, float (*get)(const Probe&), void (*set)(Probe&, float));
    void take_texel();
    void show_found(const Found& found);
    void show_pointed();

    struct Number {
        NumberEdit* field;
        float (*get)(const Probe&);
    };
    std::vector<Number> numbers_;
    QComboBox* operation_;
    QComboBox* component_;
    QPushButton* take_;
    QLabel* results_;
    LinePlot* plot_;
    CalmText* pointed_;
    Found found_;
};

}  // namespace texton::viewer
