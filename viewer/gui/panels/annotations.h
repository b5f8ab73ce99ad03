#pragma once
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QToolButton>
#include <map>

#include "viewer/gui/live_panel.h"

namespace texton::viewer {

class AnnotationTool;

/// Panel that lists the annotations of the current image, edits their text and color, and chooses the tool that draws
/// them.
class AnnotationsPanel : public LivePanel {
    Q_OBJECT

public:
    explicit AnnotationsPanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    QBoxLayout* tool_buttons();
    void list_annotations();
    void choose_current();
    AnnotationTool& tool() const;

    std::map<AnnotationKind, QToolButton*> tools_;
    QListWidget* list_;
    CalmText* hint_;
    QLineEdit* text_;
    QComboBox* color_;
    QPushButton* remove_;
};

}  // namespace texton::viewer
