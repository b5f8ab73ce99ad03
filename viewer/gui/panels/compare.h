#pragma once
#include <QCheckBox>
#include <QLabel>
#include <QListWidget>
#include <optional>
#include <vector>

#include "viewer/gui/live_panel.h"
#include "viewer/inspect/region_comparison.h"

namespace texton::viewer {

/// Panel that selects what the current image is compared with and how the canvas shows it, and that displays the
/// differences.
class ComparePanel : public LivePanel {
    Q_OBJECT

public:
    explicit ComparePanel(Workspace& workspace);

protected:
    void refresh() override;
    void let_go() override { show_nothing({}); }

private:
    // Two samplers, and the positions of their fetches.
    struct SamplerPair {
        Sampler shown;
        Sampler against;
        FetchGrid grid;
        bool operator==(const SamplerPair&) const = default;
    };
    // The subject of the displayed metrics.
    struct Subject {
        std::shared_ptr<const Document> shown;
        std::shared_ptr<const Document> against;
        SubresourceIndex subresource;
        bool flip = false;
        std::optional<SamplerPair> samplers{};  // only if two samplers are compared
        bool operator==(const Subject&) const = default;
    };

    QWidget* make_figures();
    void show_choices();
    SamplerPair samplers(const Document& shown, const SubresourceIndex& subresource) const;
    static RegionComparison compared(const Subject& subject, const Scene& scene, const CancellationToken& token);
    void show_comparison(const RegionComparison& found);
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
    std::optional<RegionComparison> found_;
};

}  // namespace texton::viewer
