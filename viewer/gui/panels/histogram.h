#pragma once
#include <QCheckBox>
#include <QLabel>
#include <array>

#include "viewer/gui/histogram_view.h"
#include "viewer/gui/live_panel.h"

namespace texton::viewer {

/// How often values come, channel by channel, in what is seen, selected or there.
class HistogramPanel : public LivePanel {
    Q_OBJECT

public:
    explicit HistogramPanel(Workspace& workspace);

protected:
    void refresh() override;
    void let_go() override { show_nothing({}); }

private:
    // What the figures are of.
    struct Subject {
        std::shared_ptr<const Document> document;
        Place place;
        TexelBox box;
        bool operator==(const Subject&) const = default;
    };

    QWidget* make_table();
    std::optional<Subject> subject(QString& why_not) const;
    void show_statistics(const PlaceStatistics& statistics);
    void show_nothing(const QString& why);

    QComboBox* scope_;
    QCheckBox* logarithmic_;
    HistogramView* view_;
    QLabel* lowest_;
    QLabel* highest_;
    QWidget* table_ = nullptr;
    std::array<std::array<QLabel*, 4>, 4> cells_{};  // a row for each channel: its letter, least, mean, most
    CalmText* specials_;
    CalmText* problem_;
    std::optional<Subject> subject_;
    float unit_ = 1;
};

}  // namespace texton::viewer
