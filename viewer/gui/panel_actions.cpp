// Actions of the Panels menu.
#include <algorithm>

#include "viewer/gui/main_window.h"
#include "viewer/gui/panel.h"

namespace texton::viewer {

void add_panel_actions(MainWindow& window) {
    const QString menu = MainWindow::tr("P&anels");
    for (const PanelInfo& panel : panels()) {
        const QString id = panel.id;
        const auto is_open = [&window, id] {
            const auto& open = window.workspace().session().panels;
            return std::ranges::find(open, id.toStdString()) != open.end();
        };
        window.actions().add({"panel-" + id,
                              menu,
                              panel.title,
                              panel.tip,
                              {},
                              [&window, id, is_open] { window.show_panel(id, !is_open()); },
                              is_open});
    }
    window.actions().add({"panels",
                          menu,
                          MainWindow::tr("&Hide panels"),
                          MainWindow::tr("Hides all panels, or shows them again"),
                          {Qt::Key_F9},
                          [&window] { window.toggle_panels(); },
                          [&window] { return window.panels_are_hidden(); }});
}

}  // namespace texton::viewer
