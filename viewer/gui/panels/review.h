#pragma once
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTreeWidget>
#include <vector>

#include "viewer/gui/controls.h"
#include "viewer/gui/live_panel.h"
#include "viewer/gui/suite_review.h"

namespace texton::viewer {

/// Panel with the failing cases of a suite, the most severe ones first, and with the decisions about them.
class ReviewPanel : public LivePanel {
    Q_OBJECT

public:
    explicit ReviewPanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    QWidget* make_progress();
    QWidget* make_buttons();
    QTreeWidgetItem* item_of(std::size_t index) const;
    void make_items();
    void show_decision(QTreeWidgetItem& item, std::size_t index) const;
    void show_run();
    void show_case();

    SuiteReview* review_;  // null without a review
    CalmText* status_;
    QWidget* running_ = nullptr;
    QProgressBar* progress_ = nullptr;
    QTreeWidget* list_;
    QComboBox* image_;
    QComboBox* view_;
    QLabel* message_;
    QPlainTextEdit* output_;
    QLineEdit* note_;
    CalmText* problem_;
    std::vector<QWidget*> case_widgets_;   // hidden without a current case
    std::vector<QWidget*> image_widgets_;  // hidden if the current case has no images
    std::vector<QPushButton*> buttons_;
    const verify::SuiteRun* shown_run_ = nullptr;
    std::size_t shown_cases_ = 0;
    std::optional<std::size_t> noted_case_;  // whose note the field shows
    bool refreshing_ = false;
};

}  // namespace texton::viewer
