#include "viewer/gui/theme.h"

#include <QApplication>
#include <QPalette>
#include <QSettings>
#include <QStyleFactory>

namespace texton::viewer {
namespace {

struct Colors {
    QColor window, base, raised, line, text, dim, accent;
};

const Colors kDark{"#26272b", "#1c1d20", "#303238", "#3a3c42", "#d8dade", "#8d9098", "#4a6fa5"};
const Colors kLight{"#eceded", "#ffffff", "#f7f7f8", "#c4c6ca", "#1f2124", "#62656c", "#3d6cb0"};

}  // namespace

Theme theme() { return QSettings().value("theme").toString() == "light" ? Theme::light : Theme::dark; }

void set_theme(Theme theme) {
    QSettings().setValue("theme", theme == Theme::light ? "light" : "dark");
    apply_theme(*qApp);
}

void apply_theme(QApplication& application) {
    const Colors& colors = theme() == Theme::light ? kLight : kDark;
    application.setStyle(QStyleFactory::create("Fusion"));
    QPalette palette;
    palette.setColor(QPalette::Window, colors.window);
    palette.setColor(QPalette::Button, colors.raised);
    palette.setColor(QPalette::Base, colors.base);
    palette.setColor(QPalette::AlternateBase, colors.window);
    palette.setColor(QPalette::ToolTipBase, colors.raised);
    palette.setColor(QPalette::Highlight, colors.accent);
    palette.setColor(QPalette::HighlightedText, Qt::white);
    palette.setColor(QPalette::Link, colors.accent);
    palette.setColor(QPalette::PlaceholderText, colors.dim);
    palette.setColor(QPalette::Mid, colors.line);
    palette.setColor(QPalette::Light, colors.line);  // lines below tabs
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) {
        palette.setColor(role, colors.text);
        palette.setColor(QPalette::Disabled, role, colors.dim);
    }
    application.setPalette(palette);
    application.setStyleSheet(QString("QMenuBar { background: %1; padding: 2px; }"
                                      "QStatusBar { background: %1; border-top: 1px solid %2; min-height: 26px; }"
                                      "QStatusBar::item { border: none; }"
                                      "QStatusBar QLabel { padding: 0 10px; }"
                                      "QStatusBar QLabel#device { border-left: 1px solid %2; }"
                                      "QToolTip { border: 1px solid %2; padding: 3px; }")
                                  .arg(colors.window.name(), colors.line.name()));
}

}  // namespace texton::viewer
