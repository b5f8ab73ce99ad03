#pragma once
#include <QObject>
#include <optional>

#include "viewer/gui/workspace.h"

namespace texton::viewer {

/// What is seen while keys are held: T or Shift the reference, Shift and Ctrl values in hexadecimal. Watches the key events that no
/// widget of the window took.
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
    std::optional<std::size_t> current_;  // the picture that comes back
    std::optional<bool> hexadecimal_;     // what it was
};

}  // namespace texton::viewer
