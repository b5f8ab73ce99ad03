#pragma once
#include <QPushButton>
#include <functional>

#include "viewer/gui/panels/inspection_panel.h"
#include "viewer/gui/panels/map_view.h"
#include "viewer/inspect/ulp_map.h"

namespace texton::viewer {

/// Histogram of distances in ulps, with a bar for each power of two.
class UlpHistogram : public QWidget {
    Q_OBJECT

public:
    explicit UlpHistogram(QWidget* parent = nullptr);
    void set_counts(const std::array<std::size_t, 33>& counts);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    struct Bar {
        QString range;
        std::size_t count;
    };
    std::vector<Bar> bars_;  // only ranges with fetches
};

/// Panel with a map of the positions where the device of the document and the other device return different bits.
class UlpMapPanel : public InspectionPanel {
    Q_OBJECT

public:
    explicit UlpMapPanel(Workspace& workspace);

    /// Creates the array to compare with, from the shown array.
    using Twin = std::function<Array(const Array& shown)>;
    /// Replaces the comparison with the copy of the array on the other device; for tests.
    void set_twin(Twin twin);

protected:
    void refresh() override;

private:
    struct Found {
        Inspected at;
        UlpMap map;
    };

    void show_nothing() override;
    void show_found(const Found& found);
    void go_to(Position texel);

    Twin twin_;
    QComboBox* region_;
    QComboBox* points_;
    MapView* map_;
    UlpHistogram* histogram_;
    QPushButton* worst_;
    CalmText* pointed_;
    std::optional<Found> found_;
};

}  // namespace texton::viewer
