#include "viewer/gui/annotation_editor.h"

#include <QKeyEvent>
#include <algorithm>

#include "viewer/gui/annotation_tool.h"

namespace texton::viewer {

AnnotationEditor::AnnotationEditor(AnnotationTool& tool, QWidget* canvas) : QLineEdit(canvas), tool_(tool) {
    setObjectName("annotation-editor");
    setAccessibleName(tr("Text of the annotation"));
    setPlaceholderText(tr("Text"));
    setMaxLength(static_cast<int>(kMaxAnnotationText));
    setContextMenuPolicy(Qt::NoContextMenu);  // the menu would take the focus
    resize(28 * fontMetrics().averageCharWidth(), sizeHint().height());
    hide();
    connect(this, &QLineEdit::returnPressed, this, [this] { tool_.accept_text(text()); });
}

void AnnotationEditor::place(const AnnotationShapes& shapes, double ratio) {
    const auto& edited = tool_.edited();
    const auto at = edited ? shapes.pixel_of(edited->annotation.subresource, edited->annotation.from) : std::nullopt;
    if (edited && !at) return tool_.cancel_text();  // the canvas shows another subresource now
    if (!at) {
        if (isHidden()) return;
        const bool had_focus = hasFocus();
        hide();
        if (had_focus) parentWidget()->setFocus();
        return;
    }
    const auto limited = [](double pixel, int side, int space) {
        return static_cast<int>(std::clamp(pixel, 0.0, static_cast<double>(std::max(0, space - side))));
    };
    move(limited(at->x() / ratio, width(), parentWidget()->width()),
         limited(at->y() / ratio, height(), parentWidget()->height()));
    if (!isHidden()) return;
    setText(QString::fromStdString(edited->annotation.text));
    selectAll();
    show();
    setFocus();
}

// Escape is also the key of an action of the window.
bool AnnotationEditor::event(QEvent* event) {
    const bool is_key = event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress;
    if (!is_key || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape) return QLineEdit::event(event);
    if (event->type() == QEvent::KeyPress) tool_.cancel_text();
    event->accept();
    return true;
}

void AnnotationEditor::focusOutEvent(QFocusEvent* event) {
    QLineEdit::focusOutEvent(event);
    tool_.accept_text(text());
}

}  // namespace texton::viewer
