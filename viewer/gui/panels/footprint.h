#pragma once
#include <QComboBox>
#include <QLabel>
#include <QTableView>

#include "viewer/gui/panels/inspection_panel.h"
#include "viewer/inspect/model.h"

namespace texton::viewer {

class FootprintRows;

/// Panel that lists the texels that contribute to a fetch, or to a pixel of a kernel's result, with their weights.
class FootprintPanel : public InspectionPanel {
    Q_OBJECT

public:
    explicit FootprintPanel(Workspace& workspace);

protected:
    void refresh() override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// A fetch and its results.
    struct Found {
        Inspected at;
        Footprint footprint;
        Texel device{};  ///< result on the device of the document
        std::uint32_t device_ulp = 0;
        std::optional<Texel> other{};  ///< result on the GPU if the document is on the CPU device
        std::uint32_t other_ulp = 0;
        std::shared_ptr<const Array> twin{};  ///< copy of the array on the GPU
    };

    void show_nothing() override;
    void make_controls();
    NumberEdit* number(const QString& name, const char* id, const QString& tip, double FootprintChoice::*member);
    void show_choices();
    std::optional<Fetch> fetch_at(const Inspected& at) const;
    void inspect_kernel(const SeenTexel& pixel);
    void show_found(const Found& found);
    void fit_table();
    QString head_text(const Found& found) const;
    void outline(const std::vector<Outline>& outlines);

    QComboBox* fetching_;
    QComboBox* channel_;
    QWidget* gradients_;
    NumberEdit* longer_;
    NumberEdit* shorter_;
    NumberEdit* turn_;
    QLabel* head_;
    QTableView* table_;
    FootprintRows* rows_;
};

}  // namespace texton::viewer
