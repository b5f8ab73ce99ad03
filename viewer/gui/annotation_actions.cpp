// Actions of the Edit menu for annotations.
#include "viewer/gui/annotation_tool.h"
#include "viewer/gui/main_window.h"

namespace texton::viewer {

void add_annotation_actions(MainWindow& window) {
    Actions& actions = window.actions();
    AnnotationTool& tool = window.workspace().annotation_tool();
    const auto tr = [](const char* text) { return MainWindow::tr(text); };
    const QString edit = tr("&Edit");
    struct Tool {
        const char* id;
        QString text;
        QString tip;
        AnnotationKind kind;
    };
    const Tool tools[] = {
        {"draw-arrow", tr("Draw &arrows"), tr("Drags on the canvas draw arrows; Escape ends it"),
         AnnotationKind::arrow},
        {"draw-box", tr("Draw &boxes"), tr("Drags on the canvas draw boxes around texels; Escape ends it"),
         AnnotationKind::box},
        {"draw-text", tr("Write &text"), tr("Clicks on the canvas place text; Escape ends it"), AnnotationKind::text},
        {"draw-ruler", tr("Draw ru&lers"), tr("Drags on the canvas measure lengths in texels; Escape ends it"),
         AnnotationKind::ruler}};
    for (const Tool& each : tools) {
        const AnnotationKind kind = each.kind;
        actions.add({each.id,
                     edit,
                     each.text,
                     each.tip,
                     {},
                     [&window, &tool, kind] {
                         tool.choose(tool.kind() == kind ? std::nullopt : std::optional(kind));
                         window.canvas().setFocus();
                     },
                     [&tool, kind] { return tool.kind() == kind; },
                     [&window] { return window.workspace().shown() != nullptr; }});
    }
    actions.add({"annotation-text",
                 edit,
                 tr("Edit te&xt of the annotation"),
                 tr("Edits the text of the selected annotation"),
                 {QKeySequence(Qt::Key_F2)},
                 [&tool] { tool.edit_text(*tool.selected()); },
                 {},
                 [&tool] { return tool.selected().has_value(); }});
    actions.add({"remove-annotations",
                 edit,
                 tr("R&emove all annotations"),
                 tr("Removes all annotations of the image"),
                 {},
                 [&tool] { tool.remove_all(); },
                 {},
                 [&tool] { return tool.has_any(); }});
}

}  // namespace texton::viewer
