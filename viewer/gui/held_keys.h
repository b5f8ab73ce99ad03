#pragma once
#include <QObject>
#include <optional>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// Changes the view while keys are held: T or Shift shows the reference, Ctrl+Shift shows hexadecimal values. Filters
/// the key events of the window, that is those that no widget accepted.
class HeldKeys : public QObject {
    Q_OBJECT

public:
    HeldKeys(Workspace& workspace, QWidget* window);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void press(int key, Qt::KeyboardModifiers modifiers);
    void show_reference(bool shown);
    void show_hexadecimal(bool shown);

    Workspace& workspace_;
    std::optional<std::size_t> current_;  // image to return to
    std::optional<bool> hexadecimal_;     // setting to restore
};

}  // namespace texton::viewer
