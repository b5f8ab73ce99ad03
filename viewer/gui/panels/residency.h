#pragma once
#include <QComboBox>
#include <QPushButton>
#include <memory>
#include <vector>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/gui/panels/tile_view.h"

namespace texton::viewer {

/// Panel with the image as a sparse array. The user maps and unmaps tiles; fetches from unmapped tiles are highlighted.
class ResidencyPanel : public MemoryPanel {
    Q_OBJECT

public:
    explicit ResidencyPanel(Workspace& workspace, QWidget* parent = nullptr);

protected:
    void renew() override;
    void forget() override;
    void session_changed() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void make_widgets();
    // Adds the current tiles to the undo list.
    void keep();
    void go_to(const Residency& target);
    void apply();
    void show_numbers(const TilePoolUsage& pool, std::size_t resident);
    void show_undo();
    void outline();

    std::shared_ptr<ResidencyMap> map_;
    std::size_t layer_ = 0;
    std::size_t slice_ = 0;
    std::vector<Residency> undo_;
    std::vector<Residency> redo_;
    TileView* tiles_;
    QLabel* numbers_;
    QComboBox* filter_;
    QPushButton* map_all_;
    QPushButton* unmap_all_;
    QPushButton* undo_button_;
    QPushButton* redo_button_;
};

}  // namespace texton::viewer
