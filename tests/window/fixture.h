#pragma once
// A window with a workspace, and the events that people cause: on any of Qt's platforms.
#include <QApplication>
#include <QCursor>
#include <QScreen>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
#include <filesystem>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/place.h"
#include "viewer/gui/main_window.h"
#include "viewer/gui/workspace.h"

namespace texton::viewer::test {

/// Milliseconds that a busy machine may take for what comes by itself.
constexpr int kPatience = 60000;
/// Changes of one control are undone together if no more milliseconds lie between them.
constexpr int kTogether = 1000;

/// A file of assets/.
inline std::filesystem::path asset(const std::string& name) {
    return std::filesystem::path(texton::test::place("TEXTON_TEST_ASSETS", TEXTON_TEST_ASSETS)) / name;
}

inline Session session_with(const std::vector<std::string>& assets) {
    Session session;
    session.device = "cpu";
    for (const std::string& name : assets) session.pictures.push_back({.paths = {asset(name)}, .options = {}});
    return session;
}

/// Shows it with the keyboard's focus, also where no window manager gives it; the pointer of a screen is not in the way.
inline void show_active(QWidget& widget) {
    QCursor::setPos(QGuiApplication::primaryScreen()->geometry().bottomRight());
    widget.show();
    widget.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&widget, kPatience));
}

class WindowFixture : public testing::Test {
protected:
    /// Shows these pictures and waits until they are there.
    void start(const Session& session, QSize size = {1000, 750}) {
        QSettings().clear();
        workspace_ = std::make_unique<Workspace>(session);
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
    /// The mouse without a button. It is told, not moved: the pointer of a screen comes when its server says so.
    static void hover(QWidget& widget, QPoint point) {
        QMouseEvent event(QEvent::MouseMove, point, widget.mapToGlobal(QPointF(point)), Qt::NoButton, Qt::NoButton,
                          Qt::NoModifier);
        QApplication::sendEvent(&widget, &event);
    }
    void hover(QPoint point) { hover(canvas(), point); }
    /// Where a place of the picture is on the canvas, on which it lies on whole pixels of the screen.
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
