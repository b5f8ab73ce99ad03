#pragma once
#include <QApplication>

namespace texton::viewer {

/// QApplication that continues after an exception of an event handler or a slot. Without it, such an exception would
/// end the program and lose the session.
class Application : public QApplication {
    Q_OBJECT

public:
    /// `argc` and `argv` must outlive the object.
    Application(int& argc, char** argv) : QApplication(argc, argv) {}

    /// Returns false for an event whose handler threw an exception.
    bool notify(QObject* receiver, QEvent* event) override;

Q_SIGNALS:
    /// An exception was caught. It is also printed on standard error.
    void failed(QString why);
};

}  // namespace texton::viewer
