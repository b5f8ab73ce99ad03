#pragma once
#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/inspect/residency.h"

namespace texton::viewer {

/// View of one layer of a sparse array: its levels, divided into tiles, and the mip tail. A click maps or unmaps a
/// tile, and a drag all tiles that it crosses. The arrow keys select a tile, PgUp and PgDn another level, and Space
/// maps or unmaps the selected tile.
class TileView : public QWidget {
    Q_OBJECT

public:
    explicit TileView(QWidget* parent = nullptr);

    /// Shows a layer, or nothing if `map` is null. `slice` is the slice of level 0 of a volume.
    void show_map(std::shared_ptr<const ResidencyMap> map, std::size_t layer, std::size_t slice);
    void set_residency(Residency residency);
    const Residency& residency() const noexcept { return residency_; }
    /// Sets the results of fetches, one image for each level with tiles.
    void set_images(std::vector<QImage> levels);

    /// A tile: the index of its table, and its index in the table.
    struct Tile {
        std::size_t table = 0;
        std::size_t index = 0;
        bool operator==(const Tile&) const = default;
    };
    std::optional<Tile> tile_at(QPoint point) const;
    QRect rectangle(const Tile& tile) const;
    /// Returns the size in screen pixels of the image that set_images() expects for a level, at most 512 x 512. Empty
    /// for levels of the mip tail.
    QSize image_size(int level) const;
    const std::optional<Tile>& chosen() const noexcept { return chosen_; }

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return {280, heightForWidth(280)}; }
    QSize minimumSizeHint() const override { return {120, heightForWidth(120)}; }

Q_SIGNALS:
    /// The user begins to change tiles. residency() is still unchanged.
    void begun();
    /// The user changed residency().
    void edited();
    /// chosen() or its state changed.
    void chosen_changed();

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    std::vector<QRect> level_rectangles(int width) const;
    std::size_t tile_row(int level) const;  // z index of the tiles that contain the slice
    // Returns true if the table belongs to the shown layer.
    bool is_here(const TileTable& table) const;
    void choose(const Tile& tile);
    void set(const Tile& tile, bool mapped);

    std::shared_ptr<const ResidencyMap> map_;
    std::size_t layer_ = 0;
    std::size_t slice_ = 0;
    Residency residency_;
    std::vector<QImage> images_;
    std::optional<Tile> chosen_;
    bool maps_ = true;  // true: the drag maps tiles; false: it unmaps them
};

}  // namespace texton::viewer
