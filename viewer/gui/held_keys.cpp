#include "viewer/gui/held_keys.h"

#include <QKeyEvent>
#include <QWidget>

namespace texton::viewer {

HeldKeys::HeldKeys(Workspace& workspace, QWidget* window) : QObject(window), workspace_(workspace) {
    window->installEventFilter(this);
    // The stored index may belong to another image now, so the current image stays.
    connect(&workspace, &Workspace::changed, this, [this](const Session& before) {
        if (before.images != workspace_.session().images) current_.reset();
    });
}

bool HeldKeys::eventFilter(QObject* watched, QEvent* event) {
    switch (event->type()) {
        case QEvent::KeyPress: {
            const auto* key = static_cast<QKeyEvent*>(event);
            if (!key->isAutoRepeat()) press(key->key(), key->modifiers());
            break;
        }
        case QEvent::KeyRelease:
            if (static_cast<QKeyEvent*>(event)->isAutoRepeat()) break;
            show_reference(false);
            show_hexadecimal(false);
            break;
        case QEvent::WindowDeactivate:
            show_reference(false);
            show_hexadecimal(false);
            break;
        default: break;
    }
    return QObject::eventFilter(watched, event);
}

void HeldKeys::press(int key, Qt::KeyboardModifiers modifiers) {
    const bool both = (key == Qt::Key_Shift && modifiers.testFlag(Qt::ControlModifier)) ||
                      (key == Qt::Key_Control && modifiers.testFlag(Qt::ShiftModifier));
    show_hexadecimal(both);
    show_reference(!both && (key == Qt::Key_T || key == Qt::Key_Shift));
}

void HeldKeys::show_reference(bool shown) {
    if (shown == current_.has_value()) return;
    const Session& session = workspace_.session();
    if (shown) {
        if (!session.reference || *session.reference == session.current) return;
        current_ = session.current;
        workspace_.look([](Session& now) { now.current = *now.reference; });
    } else {
        workspace_.look([this](Session& now) { now.current = *current_; });
        current_.reset();
    }
}

void HeldKeys::show_hexadecimal(bool shown) {
    if (shown == hexadecimal_.has_value()) return;
    if (shown) hexadecimal_ = workspace_.session().overlays.hexadecimal;
    const bool value = shown || *hexadecimal_;
    workspace_.look([value](Session& now) { now.overlays.hexadecimal = value; });
    if (!shown) hexadecimal_.reset();
}

}  // namespace texton::viewer
