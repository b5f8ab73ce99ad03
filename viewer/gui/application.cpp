#include "viewer/gui/application.h"

#include <QString>
#include <exception>
#include <iostream>

#include "viewer/text/error_text.h"

namespace texton::viewer {

bool Application::notify(QObject* receiver, QEvent* event) {
    std::string why;
    try {
        return QApplication::notify(receiver, event);
    } catch (const std::exception& error) {
        why = error_text(error);
    } catch (...) {
        why = "An unknown error occurred.";
    }
    std::cerr << "texton-view: " << why << '\n';
    // Queued, because the window may be inside the handler that threw.
    QMetaObject::invokeMethod(
        this, [this, why = QString::fromStdString(why)] { Q_EMIT failed(why); }, Qt::QueuedConnection);
    return false;
}

}  // namespace texton::viewer
