#pragma once
#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/inspect/residency.h"

namespace texton::viewer {

/// The levels of one layer of a sparse array, cut into tiles, and the mip tail. A click maps or unmaps a tile, a drag those
/// that it crosses; arrows choose a tile, PgUp and PgDn another level, Space maps or unmaps it.
class TileView : public QWidget {
    Q_OBJECT

public:
    explicit TileView(QWidget* parent = nullptr);

    /// Null: nothing. `slice` is of level 0 of a volume.
    void show_map(std::shared_ptr<const ResidencyMap> map, std::size_t layer, std::size_t slice);
    void set_residency(Residency residency);
    const Residency& residency() const noexcept { return residency_; }
    /// What fetches return of each level that has tiles, and of those in the tail.
    void set_pictures(std::vector<QImage> levels);

    /// A tile, by its table and its place in it.
    struct Tile {
        std::size_t table = 0;
        std::size_t index = 0;
        bool operator==(const Tile&) const = default;
    };
    std::optional<Tile> tile_at(QPoint point) const;
    QRect rectangle(const Tile& tile) const;
    /// Pixels that a level's picture has.
    QSize picture_size(int level) const;
    const std::optional<Tile>& chosen() const noexcept { return chosen_; }

    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override { return {280, heightForWidth(280)}; }
    QSize minimumSizeHint() const override { return {120, heightForWidth(120)}; }

Q_SIGNALS:
    /// A person began to change tiles: what was until now may be kept.
    void begun();
    void edited();
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
    std::size_t tile_row(int level) const;  // of a volume, the tiles that the slice lies in
    bool is_here(const TileTable& table) const;
    void choose(const Tile& tile);
    void set(const Tile& tile, bool mapped);

    std::shared_ptr<const ResidencyMap> map_;
    std::size_t layer_ = 0;
    std::size_t slice_ = 0;
    Residency residency_;
    std::vector<QImage> pictures_;
    std::optional<Tile> chosen_;
    bool maps_ = true;  // what the drag does
};

}  // namespace texton::viewer
