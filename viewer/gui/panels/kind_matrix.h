#pragma once
#include <QProgressBar>
#include <QPushButton>
#include <QTableWidget>
#include <memory>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/inspect/kind_matrix.h"

namespace texton::viewer {

/// Panel that measures the subresource in every kind of array and memory: size, times and valid samplers, or the reason
/// why a kind is not possible.
class KindMatrixPanel : public MemoryPanel {
    Q_OBJECT

public:
    explicit KindMatrixPanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;

private:
    void start();
    void cancel();
    void measure(std::size_t row);
    void show_row(std::size_t row, const KindRow& measured);
    void show_running(bool running);
    void explain();

    std::shared_ptr<const KindTexels> texels_;
    QTableWidget* table_;
    QPushButton* run_;
    QProgressBar* progress_;
    QLabel* details_;
    bool running_ = false;
};

}  // namespace texton::viewer
