#pragma once
#include <QGridLayout>
#include <QTimer>
#include <QToolButton>
#include <map>

#include "viewer/gui/live_panel.h"

namespace texton::viewer {

/// Which level, layer, face, slice or plane of the picture is seen, and how its parts are laid out.
class SubresourcePanel : public LivePanel {
    Q_OBJECT

public:
    explicit SubresourcePanel(Workspace& workspace);

protected:
    void refresh() override;
    void hideEvent(QHideEvent* event) override;

private:
    // What can be played through: the first of these that the picture has several of.
    enum class Axis : std::uint8_t { none, slices, layers, faces, levels };

    void change(const QString& what, const std::function<void(Place&)>& edit);
    void add_row(const QString& label, QWidget* field);
    void show_row(QWidget* field, bool shown) const;
    Axis axis() const;
    void play(bool on);
    void step();

    QGridLayout* rows_;
    std::map<QWidget*, QLabel*> labels_;
    QLabel* what_;
    QComboBox* layout_;
    IndexField* level_;
    IndexField* layer_;
    QComboBox* face_;
    IndexField* slice_;
    QComboBox* plane_;
    QToolButton* play_;
    QSpinBox* rate_;
    QWidget* playing_;
    QTimer timer_;
};

}  // namespace texton::viewer
