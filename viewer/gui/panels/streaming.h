#pragma once
#include <QCheckBox>
#include <QLabel>
#include <QListWidget>
#include <chrono>

#include "viewer/gui/live_panel.h"
#include "viewer/model/streamed_image.h"

namespace texton::viewer {

/// Panel with the tiles of a streamed image: how many of the visible ones are resident, how fast they are read, and
/// which could not be read. It outlines the visible tiles on the canvas.
class StreamingPanel : public LivePanel {
    Q_OBJECT

public:
    explicit StreamingPanel(Workspace& workspace);

protected:
    void refresh() override;
    void let_go() override { show_nothing({}); }
    void hideEvent(QHideEvent* event) override;

private:
    void show_status(const StreamedStatus& status);
    void show_failures(const StreamedStatus& status);
    void show_nothing(const QString& why);
    void outline();
    void go_to_failure(int row);

    QLabel* tiles_;
    QWidget* numbers_;
    QLabel* memory_;
    QLabel* queue_;
    QLabel* requests_;
    QLabel* loaded_;
    QLabel* evicted_;
    QCheckBox* outlines_;
    QListWidget* failures_;
    CalmText* note_;
    StreamedStatus status_;
    std::weak_ptr<StreamedImage> image_;        // of status_
    std::chrono::steady_clock::time_point at_;  // of the last count
    std::uint64_t counted_ = 0;                 // tiles that were loaded until then
    double rate_ = 0;                           // tiles per second
};

}  // namespace texton::viewer
