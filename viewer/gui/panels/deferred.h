#pragma once
#include <QPlainTextEdit>
#include <QPushButton>
#include <array>
#include <memory>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/inspect/deferred_steps.h"

namespace texton::viewer {

/// Panel that runs the life cycle of a deferred array, with a button for each step. For steps that are not possible it
/// shows the reason.
class DeferredPanel : public MemoryPanel {
    Q_OBJECT

public:
    explicit DeferredPanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;

private:
    // State of the steps after a job.
    struct State {
        std::array<std::string, kDeferredSteps.size()> obstacles;  // why a step is not possible; empty if it is
        std::vector<DeferredSteps::Done> log;
    };

    void run(std::optional<DeferredStep> step);
    void show_state(const State& state);

    std::shared_ptr<DeferredSteps> steps_;
    std::array<QPushButton*, kDeferredSteps.size()> buttons_{};
    std::array<QLabel*, kDeferredSteps.size()> reasons_{};
    QPushButton* again_;
    QPlainTextEdit* log_;
};

}  // namespace texton::viewer
