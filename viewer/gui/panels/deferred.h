#pragma once
#include <QPlainTextEdit>
#include <QPushButton>
#include <array>
#include <memory>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/inspect/deferred_steps.h"

namespace texton::viewer {

/// The life of a deferred array, a button for each step; of those that cannot be done it says why.
class DeferredPanel : public MemoryPanel {
    Q_OBJECT

public:
    explicit DeferredPanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;

private:
    struct State {
        std::array<std::string, kDeferredSteps.size()> obstacles;
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
