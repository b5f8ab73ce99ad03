#pragma once
#include <QPlainTextEdit>
#include <QTabWidget>

#include "viewer/gui/panels/memory_panel.h"

namespace texton::viewer {

/// Panel with the visible texels as `texton` commands, as a C++ program and as a session file.
class ReproducePanel : public MemoryPanel {
    Q_OBJECT

public:
    explicit ReproducePanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;
    void session_changed() override;

private:
    QPlainTextEdit* add_page(const QString& name, const QString& title, const QString& tip);

    QTabWidget* pages_;
    QPlainTextEdit* commands_;
    QPlainTextEdit* program_;
    QPlainTextEdit* session_;
};

}  // namespace texton::viewer
