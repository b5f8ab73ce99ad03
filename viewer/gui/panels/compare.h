#pragma once
#include <QCheckBox>
#include <QLabel>
#include <QListWidget>
#include <optional>
#include <vector>

#include "viewer/gui/live_panel.h"
#include "viewer/place_comparison.h"

namespace texton::viewer {

/// What the picture is held against, how that is shown, and by how much the texels differ.
class ComparePanel : public LivePanel {
    Q_OBJECT

public:
    explicit ComparePanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    // What the figures are of.
    struct Subject {
        std::shared_ptr<const Document> shown;
        std::shared_ptr<const Document> against;
        Place place;
        bool samplers = false;
        bool flip = false;
        bool operator==(const Subject&) const = default;
    };

    QWidget* make_figures();
    void show_choices();
    void show_comparison(const PlaceComparison& found);
    void show_nothing(const QString& why);

    QComboBox* mode_;
    QComboBox* against_;
    QComboBox* reference_;
    SliderField* wipe_;
    QCheckBox* flip_;
    QWidget* figures_ = nullptr;
    std::vector<QLabel*> cells_;
    QLabel* worst_title_;
    QListWidget* worst_;
    CalmText* note_;
    std::optional<Subject> subject_;
    std::optional<PlaceComparison> found_;
};

}  // namespace texton::viewer
