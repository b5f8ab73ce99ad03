#include "viewer/gui/theme.h"

#include <QApplication>
#include <QPalette>
#include <QStyleFactory>

namespace texton::viewer {

void apply_theme(QApplication& application) {
    application.setStyle(QStyleFactory::create("Fusion"));
    QPalette palette;
    const QColor window(0x26, 0x27, 0x2b), base(0x1c, 0x1d, 0x20), text(0xd8, 0xda, 0xde), dim(0x7c, 0x7f, 0x87);
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::Button, window);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::AlternateBase, window);
    palette.setColor(QPalette::ToolTipBase, window);
    palette.setColor(QPalette::Highlight, QColor(0x4a, 0x6f, 0xa5));
    palette.setColor(QPalette::HighlightedText, Qt::white);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::ToolTipText}) {
        palette.setColor(role, text);
        palette.setColor(QPalette::Disabled, role, dim);
    }
    application.setPalette(palette);
    application.setStyleSheet(
        "QMenuBar { background: #26272b; padding: 2px; }"
        "QStackedWidget { background: #1c1d20; }"
        "QStatusBar { background: #26272b; border-top: 1px solid #16171a; min-height: 26px; }"
        "QStatusBar::item { border: none; }"
        "QStatusBar QLabel { padding: 0 10px; color: #a9acb4; }"
        "QStatusBar QLabel#values { color: #e6e8ec; }"
        "QStatusBar QLabel#device { border-left: 1px solid #3a3c42; color: #e6e8ec; }");
}

}  // namespace texton::viewer
