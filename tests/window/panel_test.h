#pragma once
// One panel with a workspace, driven by keyboard and mouse events.
#include <QComboBox>

#include "tests/window/fixture.h"
#include "viewer/gui/panel.h"

namespace texton::viewer::test {

class PanelTest : public testing::Test {
protected:
    /// Opens assets by name, waits for the first one, and shows the panel at the usual width of a dock.
    void open(const char* panel, const std::vector<std::string>& assets) { open_session(panel, session_with(assets)); }
    void open_session(const char* panel, const Session& session) {
        panel_.reset();
        workspace_ = std::make_unique<Workspace>(session);
        for (const PanelInfo& info : panels()) {
            if (info.id == panel) panel_.reset(info.make(*workspace_));
        }
        ASSERT_NE(panel_, nullptr) << panel;
        panel_->resize(280, 620);
        show_active(*panel_);
        workspace_->settle();
    }
    const Session& session() const { return workspace_->session(); }
    void settle() const { workspace_->settle(); }

    /// Returns the control with this accessible name.
    template <class Widget>
    Widget* find(const QString& name) const {
        for (Widget* widget : panel_->findChildren<Widget*>()) {
            if (widget->accessibleName() == name) return widget;
        }
        ADD_FAILURE() << "no " << name.toStdString();
        return nullptr;
    }
    /// Types text into the field with this name and presses Return.
    template <class Field>
    void type(const QString& name, const QString& text) const {
        auto* field = find<Field>(name);
        ASSERT_NE(field, nullptr);
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, text);
        QTest::keyClick(field, Qt::Key_Return);
        settle();
    }
    /// Selects an entry with the keyboard, starting from the first.
    void choose(const QString& name, const QString& text) const {
        auto* box = find<QComboBox>(name);
        ASSERT_NE(box, nullptr);
        press(box, Qt::Key_Home);
        while (box->currentText() != text && box->currentIndex() < box->count() - 1) press(box, Qt::Key_Down);
        ASSERT_EQ(box->currentText(), text);
    }
    void click(QWidget* widget, Qt::MouseButton button = Qt::LeftButton) const {
        ASSERT_NE(widget, nullptr);
        QTest::mouseClick(widget, button);
        settle();
    }
    void press(QWidget* widget, int key, Qt::KeyboardModifiers modifiers = {}) const {
        ASSERT_NE(widget, nullptr);
        widget->setFocus();
        QTest::keyClick(widget, static_cast<Qt::Key>(key), modifiers);
        settle();
    }
    /// Saves the panel as a PNG for manual checks if TEXTON_PANEL_IMAGES names a folder.
    void image(const char* name) const {
        const QString folder = qEnvironmentVariable("TEXTON_PANEL_IMAGES");
        if (!folder.isEmpty()) panel_->grab().save(folder + "/" + name + ".png");
    }

    std::unique_ptr<Workspace> workspace_;
    std::unique_ptr<QWidget> panel_;  // destroyed first
};

}  // namespace texton::viewer::test
