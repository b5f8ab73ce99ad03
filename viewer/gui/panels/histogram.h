#pragma once
#include <QCheckBox>
#include <QLabel>
#include <array>

#include "viewer/gui/histogram_view.h"
#include "viewer/gui/live_panel.h"

namespace texton::viewer {

/// Panel with the histogram and the statistics of each channel, for the visible, the selected or all texels.
class HistogramPanel : public LivePanel {
    Q_OBJECT

public:
    explicit HistogramPanel(Workspace& workspace);

protected:
    void refresh() override;
    void let_go() override { show_nothing({}); }

private:
    // The subject of the displayed statistics.
    struct Subject {
        std::shared_ptr<const Document> document;
        SubresourceIndex subresource;
        TexelBox box;
        bool operator==(const Subject&) const = default;
    };

    QWidget* make_table();
    std::optional<Subject> subject(QString& why_not) const;
    void show_statistics(const RegionStatistics& statistics);
    void show_nothing(const QString& why);

    QComboBox* scope_;
    QCheckBox* logarithmic_;
    HistogramView* view_;
    QLabel* lowest_;
    QLabel* highest_;
    QWidget* table_ = nullptr;
    std::array<std::array<QLabel*, 4>, 4> cells_{};  // a row for each channel: letter, minimum, mean, maximum
    CalmText* specials_;
    CalmText* problem_;
    std::optional<Subject> subject_;
    float unit_ = 1;  // display_unit() of the format
};

}  // namespace texton::viewer
