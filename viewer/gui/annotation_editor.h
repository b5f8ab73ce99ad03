#pragma once
#include <QLineEdit>

#include "viewer/gui/annotation_shapes.h"

namespace texton::viewer {

class AnnotationTool;

/// The field over the canvas in which the text of an annotation is edited. Return stores the text, as does leaving the
/// field; Escape restores it. The tool must outlive the editor.
class AnnotationEditor : public QLineEdit {
    Q_OBJECT

public:
    AnnotationEditor(AnnotationTool& tool, QWidget* canvas);

    /// Shows the field at the annotation that is being edited, or hides it. `ratio` is the device pixel ratio.
    void place(const AnnotationShapes& shapes, double ratio);

protected:
    bool event(QEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    AnnotationTool& tool_;
};

}  // namespace texton::viewer
