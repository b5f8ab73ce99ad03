#pragma once
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <array>

#include "viewer/gui/live_panel.h"

namespace texton::viewer {

struct InspectedTexel;

/// Panel with the stored, sampled and displayed values of the last pinned texel, or of the texel under the mouse if
/// there are no pins. It also lists all pins.
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

    QLabel* subresource_;
    QLabel* shares_;
    QLabel* format_;
    QWidget* table_ = nullptr;
    std::array<std::array<QLabel*, 3>, 4> cells_{};  // a row for each channel: stored, sampled and displayed value
    std::array<QLabel*, 4> letters_{};
    CalmText* problem_;
    QLabel* pins_title_ = nullptr;
    QListWidget* pins_;
    QPushButton* pin_;
    QPushButton* remove_;
    QPushButton* clear_;
    QPushButton* copy_;
    QString text_;  // description of the texel for the clipboard
};

}  // namespace texton::viewer
