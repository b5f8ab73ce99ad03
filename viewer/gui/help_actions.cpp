// Actions of the Help menu: command palette, keys, about.
#include <QMessageBox>

#include "viewer/gui/command_palette.h"
#include "viewer/gui/keys_dialog.h"
#include "viewer/gui/main_window.h"

namespace texton::viewer {

void add_help_actions(MainWindow& window) {
    Actions& actions = window.actions();
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    const QString help = tr("&Help");
    actions.add({"palette",
                 help,
                 tr("&Command palette..."),
                 tr("Finds an action by its name"),
                 {QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P)},
                 [&window] {
                     CommandPalette palette(window.actions(), &window);
                     palette.exec();
                 }});
    actions.add({"keys",
                 help,
                 tr("&Keys..."),
                 tr("Shows all actions and changes their keys"),
                 {QKeySequence("?"), QKeySequence("Shift+?"), QKeySequence::HelpContents},
                 [&window] {
                     KeysDialog dialog(window.actions(), &window);
                     dialog.exec();
                 }});
    actions.add({"about", help, tr("&About Texton"), {}, {}, [&window] {
                     QMessageBox::about(&window, MainWindow::tr("About Texton"),
                                        MainWindow::tr("Displays images as a GPU samples them.\n\nDevice: %1")
                                            .arg(QString::fromStdString(window.workspace().device().name())));
                 }});
}

}  // namespace texton::viewer
