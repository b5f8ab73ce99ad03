#pragma once
#include <QCheckBox>
#include <QProgressBar>
#include <QPushButton>
#include <QTableWidget>
#include <QTimer>
#include <atomic>
#include <memory>
#include <vector>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/inspect/round_trip.h"

namespace texton::viewer {

/// Panel that uploads the image to a new array, reads it back and compares every byte. A click on a row shows its first
/// difference on the canvas and in the byte map.
class RoundTripPanel : public MemoryPanel {
    Q_OBJECT

public:
    explicit RoundTripPanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;

private:
    void start();
    void cancel();
    void show_results(const std::vector<TripResult>& results);
    void show_running(bool running);
    void go_to(int row);

    std::vector<TripResult> results_;
    std::shared_ptr<std::atomic<std::size_t>> done_;  // number of compared parts; written by the job
    QTimer progress_timer_;
    QPushButton* run_;
    QCheckBox* damage_;
    QProgressBar* progress_;
    QLabel* verdict_;
    QTableWidget* table_;
    bool running_ = false;
};

}  // namespace texton::viewer
