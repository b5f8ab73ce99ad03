// Actions of the View menu: zoom, layout and overlays.
#include <QInputDialog>
#include <QRegularExpression>

#include "viewer/gui/main_window.h"
#include "viewer/gui/theme.h"

namespace texton::viewer {
namespace {

void go_to(MainWindow& window) {
    Workspace& workspace = window.workspace();
    bool chosen = false;
    const QString text = QInputDialog::getText(&window, MainWindow::tr("Go to"), MainWindow::tr("Texel (x, y):"),
                                               QLineEdit::Normal, {}, &chosen);
    const auto match = QRegularExpression(R"(^\s*\(?\s*(\d+)\s*[,; x]\s*(\d+)\s*\)?\s*$)").match(text);
    if (!chosen) return;
    const auto shown = workspace.shown();
    const Extent extent = shown ? canvas_extent(workspace.scene(1, 1)) : Extent{};
    const auto x = match.captured(1).toULongLong(), y = match.captured(2).toULongLong();
    if (!match.hasMatch() || x >= extent.width || y >= extent.height) {
        workspace.tell(
            MainWindow::tr("'%1' is not a texel of the image. Enter two numbers inside the image, for example 12, 40.")
                .arg(text));
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

    actions.add({"fit", view, tr("&Fit to window"), tr("Shows the whole image"), {Qt::Key_F}, [&window] {
                     window.canvas().fit();
                 }});
    actions.add({"actual-size", view, tr("&One pixel per texel"), {}, {QKeySequence(Qt::CTRL | Qt::Key_0)}, [&window] {
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
                 tr("Shows and pins the texel at a position"),
                 {QKeySequence(Qt::CTRL | Qt::Key_G)},
                 [&window] { go_to(window); },
                 {},
                 [&workspace] { return workspace.shown() != nullptr; }});
    add_layout("layout-single", tr("&Single"), tr("Shows one level, layer, face or slice"), Layout::single, false);
    add_layout("layout-sheet", tr("Contact s&heet"), tr("Shows all levels, layers, faces and slices side by side"),
               Layout::sheet, false);
    add_layout("layout-cross", tr("&Cross"), tr("Shows the faces of a cubemap as an unfolded cube"), Layout::cross,
               true);
    add_layout("layout-sphere", tr("S&phere"), tr("Shows a cubemap from its center; drag to rotate"), Layout::sphere,
               true);
    add_overlay("values", tr("&Values in texels"), tr("Shows values in texels that are large enough"),
                &Overlays::values, {Qt::Key_V});
    add_overlay("grid", tr("G&rid"), tr("Shows lines between texels"), &Overlays::grid,
                {QKeySequence(Qt::SHIFT | Qt::Key_G)});
    add_overlay("hexadecimal", tr("He&xadecimal"), tr("Shows stored values in hexadecimal"), &Overlays::hexadecimal,
                {Qt::Key_X});
    add_overlay("footprint", tr("Footprin&t"), tr("Shows the texels that a fetch reads"), &Overlays::footprint,
                {Qt::Key_P});
    add_overlay("annotations", tr("&Annotations"), tr("Shows arrows, boxes, text and rulers over the image"),
                &Overlays::annotations, {QKeySequence(Qt::SHIFT | Qt::Key_A)});
    actions.add({"full-screen",
                 view,
                 tr("Full scree&n"),
                 {},
                 {Qt::Key_F11},
                 [&window] { window.setWindowState(window.windowState() ^ Qt::WindowFullScreen); },
                 [&window] { return window.isFullScreen(); }});
    actions.add({"light",
                 view,
                 tr("&Light theme"),
                 tr("Switches between the light and the dark theme"),
                 {},
                 [] { set_theme(theme() == Theme::light ? Theme::dark : Theme::light); },
                 [] { return theme() == Theme::light; }});
}

}  // namespace texton::viewer
