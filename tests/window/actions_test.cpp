// Every action of the window, one by one and in random order.
#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QTimer>
#include <QTreeWidget>
#include <random>
#include <set>

#include "tests/window/fixture.h"
#include "viewer/gui/command_palette.h"
#include "viewer/gui/keys_dialog.h"
#include "viewer/gui/panel.h"

namespace texton::viewer {
namespace {

// Triggers the action and closes the dialog that it may open.
void trigger(QAction& action) {
    QTimer closes;
    QObject::connect(&closes, &QTimer::timeout, [] {
        if (QWidget* dialog = QApplication::activeModalWidget()) dialog->close();
        if (QWidget* popup = QApplication::activePopupWidget()) popup->close();
    });
    closes.start(1);
    action.trigger();
}

bool ends_the_window(const ActionInfo& info) { return info.id == "quit"; }

class ActionsTest : public test::WindowFixture {
protected:
    void SetUp() override { start({"card.png", "cube.dds", "sky.exr"}); }
};

TEST_F(ActionsTest, EveryActionRunsWithAndWithoutAnImage) {
    for (const bool with_images : {true, false}) {
        if (!with_images) start(Session{});
        for (const ActionInfo& info : window().actions().all()) {
            if (ends_the_window(info)) continue;
            trigger(*window().actions().find(info.id));
            settle();
        }
    }
}

TEST_F(ActionsTest, EveryActionHasAUniqueNameAndUniqueKeys) {
    std::set<QString> ids;
    std::map<QString, QString> holders;
    for (const ActionInfo& info : window().actions().all()) {
        EXPECT_TRUE(ids.insert(info.id).second) << info.id.toStdString();
        EXPECT_FALSE(info.text.isEmpty()) << info.id.toStdString();
        for (const QKeySequence& keys : window().actions().find(info.id)->shortcuts()) {
            const auto [holder, is_new] = holders.emplace(keys.toString(), info.id);
            EXPECT_TRUE(is_new) << keys.toString().toStdString() << " of " << info.id.toStdString() << " and "
                                << holder->second.toStdString();
        }
    }
    EXPECT_GT(ids.size(), 40u);
}

TEST_F(ActionsTest, NoMenuHasAMnemonicTwice) {
    const auto check = [](const QString& menu, const QList<QAction*>& actions) {
        std::map<QString, QString> holders;
        for (const QAction* action : actions) {
            const QString mnemonic = QKeySequence::mnemonic(action->text()).toString();
            if (mnemonic.isEmpty()) continue;
            const auto [holder, is_new] = holders.emplace(mnemonic, action->text());
            EXPECT_TRUE(is_new) << menu.toStdString() << ": " << mnemonic.toStdString() << " of "
                                << action->text().toStdString() << " and " << holder->second.toStdString();
        }
    };
    const QList<QAction*> menus = window().menuBar()->actions();
    ASSERT_GE(menus.size(), 6);
    check("menu bar", menus);
    for (const QAction* menu : menus) check(menu->text(), menu->menu()->actions());
}

TEST_F(ActionsTest, ThousandRandomActionsAreSafeAndCanBeUndone) {
    const Session before = session();
    std::mt19937 random(20);
    const std::vector<ActionInfo>& all = window().actions().all();
    for (int i = 0; i < 1000; ++i) {
        const ActionInfo& info = all[random() % all.size()];
        if (ends_the_window(info)) continue;
        trigger(*window().actions().find(info.id));
        if (i % 7 == 0) QApplication::processEvents();
        if (i % 100 == 0) settle();
    }
    settle();
    while (workspace().history().can_undo()) workspace().undo();
    settle();
    EXPECT_EQ(session().images, before.images);
}

TEST_F(ActionsTest, AssignedKeysAreTakenFromTheirPreviousActionAndSaved) {
    Actions& actions = window().actions();
    actions.set_keys("fit", {QKeySequence(Qt::Key_R)});
    EXPECT_EQ(actions.holder_of(Qt::Key_R), "fit");
    EXPECT_TRUE(actions.find("red")->shortcuts().isEmpty());
    start({"card.png"});  // clears the settings
    EXPECT_EQ(window().actions().holder_of(Qt::Key_R), "red");
    window().actions().set_keys("fit", {QKeySequence(Qt::Key_R)});
    {
        MainWindow another(workspace());
        EXPECT_EQ(another.actions().holder_of(Qt::Key_R), "fit") << "the settings store the shortcut";
        another.actions().reset_keys();
        EXPECT_EQ(another.actions().holder_of(Qt::Key_R), "red");
    }
}

TEST_F(ActionsTest, KeysSavedForTheOldNameOfAnActionAreUsed) {
    QSettings().setValue("keys/colour", QKeySequence(Qt::Key_F7).toString(QKeySequence::PortableText));
    MainWindow another(workspace());
    EXPECT_EQ(another.actions().holder_of(Qt::Key_F7), "color");
}

TEST_F(ActionsTest, CommandPaletteMatchesLettersInOrder) {
    EXPECT_TRUE(CommandPalette::distance("ftw", "Fit to window"));
    EXPECT_TRUE(CommandPalette::distance("", "Fit to window"));
    EXPECT_FALSE(CommandPalette::distance("wtf", "Fit to window"));
    EXPECT_LT(*CommandPalette::distance("fit", "Fit to window"), *CommandPalette::distance("fit", "Offer it"));
    QTimer::singleShot(0, [] {
        QWidget* palette = QApplication::activeModalWidget();
        ASSERT_NE(palette, nullptr);
        QTest::keyClicks(palette->findChild<QLineEdit*>(), "one pixel p");
        QTest::keyClick(palette->findChild<QLineEdit*>(), Qt::Key_Return);
    });
    window().actions().find("palette")->trigger();
    EXPECT_EQ(session().view.zoom, 1);
}

TEST_F(ActionsTest, CommandPaletteSearchesDescriptionsAndSaysIfNothingMatches) {
    CommandPalette palette(window().actions(), &window());
    auto* line = palette.findChild<QLineEdit*>();
    auto* list = palette.findChild<QListWidget*>();
    QTest::keyClicks(line, "diff");
    QStringList found;
    for (int row = 0; row < list->count(); ++row) found.append(list->item(row)->data(Qt::UserRole).toString());
    EXPECT_EQ(found.value(0), "compare-difference") << found.join(' ').toStdString();
    EXPECT_TRUE(found.contains("panel-compare")) << "its description contains the word 'Differences'";
    EXPECT_FALSE(found.contains("panel-histogram"));

    line->setText("no such thing");
    ASSERT_EQ(list->count(), 1);
    EXPECT_EQ(list->item(0)->text(), "No action matches 'no such thing'.");
    EXPECT_FALSE(list->item(0)->flags() & Qt::ItemIsEnabled);
    QTest::keyClick(line, Qt::Key_Return);
    line->clear();
    EXPECT_GT(list->count(), 40);
}

TEST_F(ActionsTest, CompareActionsSetTheModeOfComparison) {
    const auto run = [&](const char* id) {
        QAction* action = window().actions().find(id);
        ASSERT_NE(action, nullptr) << id;
        action->trigger();
    };
    run("compare-wipe");
    EXPECT_EQ(session().compare.mode, CompareMode::none) << "there is nothing to compare with";
    workspace().change("Reference", [](Session& session) { session.reference = 1; });
    run("compare-wipe");
    EXPECT_EQ(session().compare.mode, CompareMode::wipe);
    run("compare-ulp");
    EXPECT_EQ(session().compare.mode, CompareMode::ulp);
    run("compare-none");
    EXPECT_EQ(session().compare.mode, CompareMode::none);
}

TEST_F(ActionsTest, KeysAreFoundByActionDescriptionOrKey) {
    KeysDialog dialog(window().actions(), &window());
    auto* tree = dialog.findChild<QTreeWidget*>();
    QLineEdit* search = nullptr;
    for (QLineEdit* line : dialog.findChildren<QLineEdit*>())
        if (line->accessibleName() == "Search") search = line;
    ASSERT_NE(search, nullptr);
    const auto found = [&] {
        QStringList out;
        for (int row = 0; row < tree->topLevelItemCount(); ++row) {
            if (!tree->topLevelItem(row)->isHidden()) out.append(tree->topLevelItem(row)->text(0));
        }
        return out;
    };
    const qsizetype all = found().size();
    search->setText("wipe metric");
    EXPECT_EQ(found(), QStringList{"Next metric"}) << "one word is in the description";
    search->setText("Ctrl+G");
    EXPECT_EQ(found(), QStringList{"Go to"});
    EXPECT_EQ(tree->currentItem()->text(0), "Go to") << "keys are set for an action that is visible";
    search->setText("no such thing");
    EXPECT_TRUE(found().isEmpty());
    EXPECT_EQ(tree->currentItem(), nullptr);
    search->clear();
    EXPECT_EQ(found().size(), all);
}

TEST_F(ActionsTest, TheKeysDialogNamesTheActionThatWouldLoseTheKeys) {
    KeysDialog dialog(window().actions(), &window());
    auto* tree = dialog.findChild<QTreeWidget*>();
    auto* keys = dialog.findChild<QKeySequenceEdit*>();
    QLabel* note = nullptr;
    for (QLabel* label : dialog.findChildren<QLabel*>())
        if (label->accessibleName() == "Note on the keys") note = label;
    ASSERT_NE(note, nullptr);
    tree->setCurrentItem(tree->findItems("Go to", Qt::MatchExactly).value(0));
    EXPECT_EQ(note->text(), "");
    keys->setKeySequence(Qt::Key_F);
    EXPECT_EQ(note->text(), "F is used by the action Fit to window, which will lose it.");
    keys->setKeySequence(QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_F12));
    EXPECT_EQ(note->text(), "");
}

TEST_F(ActionsTest, UndoAndRedoNameTheChange) {
    const auto text = [this](const char* id) { return window().actions().find(id)->text().toStdString(); };
    EXPECT_EQ(text("undo"), "&Undo");
    EXPECT_EQ(text("redo"), "&Redo");
    workspace().change("Sampler A & B", [](Session& session) { session.display.exposure = 1; });
    EXPECT_EQ(text("undo"), "&Undo: Sampler A && B");
    workspace().change("Exposure", [](Session& session) { session.display.exposure = 2; });
    EXPECT_EQ(text("undo"), "&Undo: Exposure");
    workspace().undo();
    EXPECT_EQ(text("undo"), "&Undo: Sampler A && B");
    EXPECT_EQ(text("redo"), "&Redo: Exposure");
}

TEST_F(ActionsTest, EveryControlOfEveryPanelHasAnAccessibleName) {
    for (const PanelInfo& panel : panels()) window().show_panel(panel.id, true);
    settle();
    for (const QWidget* widget : window().findChildren<QWidget*>()) {
        const bool is_control = qobject_cast<const QAbstractButton*>(widget) != nullptr ||
                                qobject_cast<const QAbstractSlider*>(widget) != nullptr ||
                                qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
                                qobject_cast<const QComboBox*>(widget) != nullptr ||
                                qobject_cast<const QLineEdit*>(widget) != nullptr ||
                                qobject_cast<const QAbstractItemView*>(widget) != nullptr;
        const bool is_own = widget->objectName().startsWith("qt_") || widget->inherits("QScrollBar") ||
                            widget->inherits("QComboBoxListView") || widget->inherits("QHeaderView") ||
                            widget->inherits("QTabBar") || widget->inherits("QDockWidgetTitleButton") ||
                            widget->inherits("QMenuBarExtension") || widget->inherits("QToolButton");
        if (!is_control || is_own || widget->focusPolicy() == Qt::NoFocus) continue;
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const bool has_text = button != nullptr && !button->text().isEmpty();
        EXPECT_TRUE(has_text || !widget->accessibleName().isEmpty())
            << widget->metaObject()->className() << " '" << widget->objectName().toStdString() << "' in "
            << (widget->parentWidget() != nullptr ? widget->parentWidget()->metaObject()->className() : "");
    }
}

}  // namespace
}  // namespace texton::viewer
