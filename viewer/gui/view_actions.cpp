// What the View menu does: where the canvas looks, and what it draws over the picture.
#include <QInputDialog>
#include <QRegularExpression>

#include "viewer/gui/main_window.h"
#include "viewer/gui/theme.h"

namespace texton::viewer {
namespace {

void go_to(MainWindow& window) {
    Workspace& workspace = window.workspace();
    bool chosen = false;
    const QString text = QInputDialog::getText(&window, MainWindow::tr("Go to"), MainWindow::tr("The texel, as x, y:"),
                                               QLineEdit::Normal, {}, &chosen);
    const auto match = QRegularExpression(R"(^\s*\(?\s*(\d+)\s*[,; x]\s*(\d+)\s*\)?\s*$)").match(text);
    if (!chosen) return;
    const auto shown = workspace.shown();
    const Extent extent = shown ? canvas_extent(workspace.scene(1, 1)) : Extent{};
    const auto x = match.captured(1).toULongLong(), y = match.captured(2).toULongLong();
    if (!match.hasMatch() || x >= extent.width || y >= extent.height) {
        workspace.tell(MainWindow::tr("'%1' is no texel of the picture. Write two numbers, such as 12, 40.").arg(text));
        return;
    }
    const Position at{static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5};
    workspace.change(MainWindow::tr("Go to"), [&](Session& session) { session.pins = {at}; });
    window.canvas().look_at(at);
}

}  // namespace

void add_view_actions(MainWindow& window) {
    Actions& actions = window.actions();
    Workspace& workspace = window.workspace();
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    const QString view = tr("&View");
    const auto add_layout = [&](const char* id, const QString& text, const QString& tip, Layout layout, bool cube) {
        actions.add({id,
                     view,
                     text,
                     tip,
                     {},
                     [&workspace, layout, text] {
                         workspace.change(QString(text).remove('&'), [&](Session& session) {
                             session.layout = layout;
                             session.fits = true;
                         });
                     },
                     [&workspace, layout] { return workspace.session().layout == layout; },
                     [&workspace, cube] {
                         const auto shown = workspace.shown();
                         return shown && (!cube || is_cube(shown->info().kind));
                     }});
    };
    const auto add_overlay = [&](const char* id, const QString& text, const QString& tip, bool Overlays::*field,
                                 const QList<QKeySequence>& keys) {
        actions.add({id, view, text, tip, keys,
                     [&workspace, field, text] {
                         workspace.change(QString(text).remove('&'), [&](Session& session) {
                             session.overlays.*field = !(session.overlays.*field);
                         });
                     },
                     [&workspace, field] { return workspace.session().overlays.*field; }});
    };

    actions.add({"fit", view, tr("&Fit to window"), tr("All of the picture"), {Qt::Key_F}, [&window] {
                     window.canvas().fit();
                 }});
    actions.add({"actual-size", view, tr("&One pixel a texel"), {}, {QKeySequence(Qt::CTRL | Qt::Key_0)}, [&window] {
                     window.canvas().actual_size();
                 }});
    actions.add({"zoom-in",
                 view,
                 tr("Zoom &in"),
                 {},
                 {Qt::Key_Plus, Qt::Key_Equal, QKeySequence(Qt::CTRL | Qt::Key_Plus)},
                 [&window] { window.canvas().zoom_by(2); }});
    actions.add(
        {"zoom-out", view, tr("Zoom o&ut"), {}, {Qt::Key_Minus, QKeySequence(Qt::CTRL | Qt::Key_Minus)}, [&window] {
             window.canvas().zoom_by(0.5);
         }});
    actions.add({"go-to",
                 view,
                 tr("&Go to..."),
                 tr("A texel by its numbers"),
                 {QKeySequence(Qt::CTRL | Qt::Key_G)},
                 [&window] { go_to(window); },
                 {},
                 [&workspace] { return workspace.shown() != nullptr; }});
    add_layout("layout-single", tr("&Single"), tr("One level, layer or face"), Layout::single, false);
    add_layout("layout-sheet", tr("Contact s&heet"), tr("All levels, layers, faces and slices"), Layout::sheet, false);
    add_layout("layout-cross", tr("&Cross"), tr("The faces of a cube as they join"), Layout::cross, true);
    add_layout("layout-sphere", tr("S&phere"), tr("A cube from its middle; drag to turn"), Layout::sphere, true);
    add_overlay("values", tr("&Values in texels"), tr("Where a texel has room for them"), &Overlays::values,
                {Qt::Key_V});
    add_overlay("grid", tr("G&rid"), tr("Between texels"), &Overlays::grid, {QKeySequence(Qt::SHIFT | Qt::Key_G)});
    add_overlay("hexadecimal", tr("He&xadecimal"), tr("Values as they are stored"), &Overlays::hexadecimal,
                {Qt::Key_X});
    add_overlay("footprint", tr("Footprin&t"), tr("The texels that a fetch reads"), &Overlays::footprint, {Qt::Key_P});
    actions.add({"full-screen",
                 view,
                 tr("F&ull screen"),
                 {},
                 {Qt::Key_F11},
                 [&window] { window.setWindowState(window.windowState() ^ Qt::WindowFullScreen); },
                 [&window] { return window.isFullScreen(); }});
    actions.add({"light",
                 view,
                 tr("&Light window"),
                 tr("Dark text on light grey"),
                 {},
                 [] { set_theme(theme() == Theme::light ? Theme::dark : Theme::light); },
                 [] { return theme() == Theme::light; }});
}

}  // namespace texton::viewer
