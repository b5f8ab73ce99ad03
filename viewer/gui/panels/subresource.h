#pragma once
#include <QGridLayout>
#include <QToolButton>
#include <map>

#include "viewer/gui/live_panel.h"
#include "viewer/gui/playback.h"

namespace texton::viewer {

/// Panel that selects the visible level, layer, face, slice and plane of the image, and the layout of the canvas.
class SubresourcePanel : public LivePanel {
    Q_OBJECT

public:
    explicit SubresourcePanel(Workspace& workspace);

protected:
    void refresh() override;
    void hideEvent(QHideEvent* event) override;

private:
    void change(const QString& what, const char* id, const std::function<void(SubresourceIndex&)>& edit);
    void add_row(const QString& label, QWidget* field);
    void show_row(QWidget* field, bool shown) const;
    void play(bool on);
    void list_axes();

    QGridLayout* rows_;
    std::map<QWidget*, QLabel*> labels_;
    QLabel* what_;
    QComboBox* layout_;
    IndexField* frame_;
    IndexField* level_;
    IndexField* layer_;
    QComboBox* face_;
    IndexField* slice_;
    QComboBox* plane_;
    QToolButton* play_;
    QComboBox* axis_;
    std::vector<PlaybackAxis> axes_;  // in the list of axis_
    QSpinBox* rate_;
    QWidget* playing_;
    CalmText* late_;
    Playback* playback_;
};

}  // namespace texton::viewer
