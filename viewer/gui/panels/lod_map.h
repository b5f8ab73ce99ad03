#pragma once
#include <QCheckBox>
#include <QLabel>

#include "viewer/gui/panels/inspection_panel.h"
#include "viewer/gui/panels/map_view.h"
#include "viewer/inspect/lod_map.h"

namespace texton::viewer {

/// The color scale of a map, with the values of both ends.
class Legend : public QWidget {
    Q_OBJECT

public:
    explicit Legend(QWidget* parent = nullptr);
    void set_range(double low, double high);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    double low_ = 0;
    double high_ = 1;
};

/// Panel with a map of the levels of detail that the sampler selects across a plane in perspective, or across the
/// canvas.
class LodMapPanel : public InspectionPanel {
    Q_OBJECT

public:
    explicit LodMapPanel(Workspace& workspace);

protected:
    void refresh() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void show_nothing() override;
    SliderField* slider(const QString& name, const char* id, double low, double high, double step,
                        double LodPlane::*member);
    void show_colors();
    void show_pointed(QPoint cell);

    QComboBox* quantity_;
    QCheckBox* plane_;
    SliderField* tilt_;
    SliderField* turn_;
    SliderField* repeats_;
    MapView* map_view_;
    Legend* legend_;
    CalmText* pointed_;
    LodMap map_;
};

}  // namespace texton::viewer
