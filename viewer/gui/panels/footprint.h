#pragma once
#include <QComboBox>
#include <QLabel>
#include <QTableView>

#include "viewer/gui/panels/inspection_panel.h"
#include "viewer/inspect/model.h"

namespace texton::viewer {

class FootprintRows;

/// The texels that lead to a fetch, or to a pixel that a kernel made, with their weights.
class FootprintPanel : public InspectionPanel {
    Q_OBJECT

public:
    explicit FootprintPanel(Workspace& workspace);

protected:
    void refresh() override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    /// What a fetch is, and what came of it.
    struct Found {
        Inspected at;
        Footprint footprint;
        Texel device{};  ///< what the picture's own device returns
        std::uint32_t device_ulp = 0;
        std::optional<Texel> other{};  ///< the other device, if there is one
        std::uint32_t other_ulp = 0;
        std::shared_ptr<const Array> twin{};  ///< of the picture, on the other device
    };

    void show_nothing() override;
    void make_controls();
    NumberEdit* number(const QString& name, const QString& tip, double FootprintChoice::*member);
    void show_choices();
    std::optional<Fetch> fetch_at(const Inspected& at) const;
    void inspect_fetch(const Inspected& at);
    void inspect_kernel(const SeenTexel& pixel);
    void show_found(const Found& found);
    void fit_table();
    QString head_words(const Found& found) const;
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
