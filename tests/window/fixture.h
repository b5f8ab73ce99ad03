#pragma once
// A window with a workspace, and synthetic input events that work on every platform plugin of Qt.
#include <QApplication>
#include <QCursor>
#include <QScreen>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/configured_path.h"
#include "viewer/gui/main_window.h"
#include "viewer/gui/workspace.h"

namespace texton::viewer::test {

/// Milliseconds to wait for asynchronous changes on a busy machine.
constexpr int kPatience = 60000;
/// Changes of one control within this many milliseconds are one undo step.
constexpr int kTogether = 1000;

/// Returns the path of a file in assets/.
inline std::filesystem::path asset(const std::string& name) {
    return std::filesystem::path(texton::test::configured_path("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS)) / name;
}

/// Returns the device of the windows: TEXTON_WINDOW_TEST_DEVICE, as Session::device has it, or else the CPU device.
inline std::string device_name() {
    const char* const name = std::getenv("TEXTON_WINDOW_TEST_DEVICE");
    return name != nullptr ? name : "cpu";
}

/// Returns true if the windows use a GPU.
inline bool uses_gpu() { return device_name().starts_with("cuda"); }

inline Session session_with(const std::vector<std::string>& assets) {
    Session session;
    session.device = device_name();
    for (const std::string& name : assets) session.images.push_back({.paths = {asset(name)}, .options = {}});
    return session;
}

/// Shows the widget with keyboard focus, even without a window manager, and moves the mouse pointer out of the way.
inline void show_active(QWidget& widget) {
    QCursor::setPos(QGuiApplication::primaryScreen()->geometry().bottomRight());
    widget.show();
    widget.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&widget, kPatience));
}

class WindowFixture : public testing::Test {
protected:
    /// Opens a window with this session and waits until its images are loaded.
    void start(const Session& session, QSize size = {1000, 750}, const ImageMemory& memory = {}) {
        QSettings().clear();
        window_.reset();  // before the workspace, which it uses
        workspace_ = std::make_unique<Workspace>(session, memory);
        window_ = std::make_unique<MainWindow>(*workspace_);
        window_->resize(size);
        show_active(*window_);
        workspace_->settle();
    }
    void start(const std::vector<std::string>& assets) { start(session_with(assets)); }
    void TearDown() override {
        window_.reset();
        workspace_.reset();
    }

    Workspace& workspace() { return *workspace_; }
    MainWindow& window() { return *window_; }
    Canvas& canvas() { return window_->canvas(); }
    const Session& session() const { return workspace_->session(); }
    void settle() { workspace_->settle(); }

    /// Opens the panel and returns its widget.
    template <class Panel>
    Panel& panel(const char* id) {
        window_->show_panel(id, true);
        settle();
        Panel* found = window_->docks().at(id)->findChild<Panel*>();
        if (found == nullptr) throw std::runtime_error(std::string("no widget in the panel ") + id);
        return *found;
    }

    void wheel(QPoint point, int notches, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        QWheelEvent event(point, canvas().mapToGlobal(QPointF(point)), {}, {0, notches * 120}, Qt::NoButton, modifiers,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(&canvas(), &event);
    }
    /// Sends a mouse move without a button. The event is synthetic, because a real pointer move arrives only when the
    /// display server delivers it.
    static void hover(QWidget& widget, QPoint point) {
        QMouseEvent event(QEvent::MouseMove, point, widget.mapToGlobal(QPointF(point)), Qt::NoButton, Qt::NoButton,
                          Qt::NoModifier);
        QApplication::sendEvent(&widget, &event);
    }
    void hover(QPoint point) { hover(canvas(), point); }
    /// Returns the canvas point of a position in the image. The position must lie on whole pixels of the screen.
    QPoint on_canvas(Position texel) {
        const double ratio = canvas().devicePixelRatioF();
        const PlanePixel origin = canvas_origin(
            workspace().scene(static_cast<int>(canvas().width() * ratio), static_cast<int>(canvas().height() * ratio)));
        const double zoom = session().view.zoom;
        return {static_cast<int>((texel.x * zoom - origin.x) / ratio),
                static_cast<int>((texel.y * zoom - origin.y) / ratio)};
    }

private:
    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<MainWindow> window_;
};

}  // namespace texton::viewer::test
