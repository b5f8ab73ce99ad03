#pragma once
#include <QCheckBox>
#include <QImage>
#include <QLineEdit>
#include <QSlider>
#include <QSpinBox>
#include <array>

#include "viewer/gui/panels/bytes_view.h"
#include "viewer/gui/panels/memory_panel.h"

namespace texton::viewer {

/// Panel that shows a copy of the subresource in pitched memory, byte by byte: texels, padding and gaps. It also shows
/// the image read with a different pitch.
class ByteMap : public MemoryPanel {
    Q_OBJECT

public:
    explicit ByteMap(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;
    void session_changed() override;

private:
    void make_widgets();
    void show_summary(const CanaryReport& report);
    void read_seen();
    void select(std::size_t byte);
    void select_texel();
    void select_typed();
    void read_sheared();

    std::shared_ptr<const PitchedCopy> memory_;
    std::vector<Position> pins_;  // of the session at the last session_changed()
    BytesView* bytes_;
    QLabel* summary_;
    QLabel* legend_;
    QLineEdit* byte_;
    std::array<QSpinBox*, 3> texel_{};
    QLabel* selected_;
    QSlider* pitch_slider_;
    QSpinBox* pitch_;
    QLabel* sheared_;
};

}  // namespace texton::viewer
