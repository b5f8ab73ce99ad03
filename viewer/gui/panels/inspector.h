#pragma once
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <array>

#include "viewer/gui/live_panel.h"

namespace texton::viewer {

struct InspectedTexel;

/// The texel that is pinned last, or else under the mouse: stored, sampled and shown; and all that are pinned.
class InspectorPanel : public LivePanel {
    Q_OBJECT

public:
    explicit InspectorPanel(Workspace& workspace);

protected:
    void refresh() override;

private:
    QWidget* make_table();
    QWidget* make_pins();
    void inspect();
    void show_texel(const InspectedTexel& texel);
    void show_pins();
    void show_nothing(const QString& why);
    void copy_text();

    QLabel* place_;
    QLabel* shares_;
    QLabel* format_;
    QWidget* table_ = nullptr;
    std::array<std::array<QLabel*, 3>, 4> cells_{};  // a row for each channel: stored, sampled, shown
    std::array<QLabel*, 4> letters_{};
    CalmText* problem_;
    QListWidget* pins_;
    QPushButton* pin_;
    QPushButton* remove_;
    QPushButton* clear_;
    QPushButton* copy_;
    QString text_;  // what is copied of the texel
};

}  // namespace texton::viewer
