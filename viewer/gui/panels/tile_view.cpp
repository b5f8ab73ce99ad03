#include "viewer/gui/panels/tile_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "viewer/gui/panels/memory_panel.h"

namespace texton::viewer {
namespace {

constexpr int kGap = 6;      // pixels between levels
constexpr int kMinSide = 6;  // minimum width and height of a level in pixels

}  // namespace

TileView::TileView(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Tiles"));
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void TileView::show_map(std::shared_ptr<const ResidencyMap> map, std::size_t layer, std::size_t slice) {
    if (map != map_) {
        chosen_.reset();
        images_.clear();
        residency_ = map != nullptr ? map->residency() : Residency{};
    }
    map_ = std::move(map);
    layer_ = layer;
    slice_ = slice;
    if (chosen_ && !is_here(map_->tables()[chosen_->table])) chosen_.reset();
    updateGeometry();
    update();
}

void TileView::set_residency(Residency residency) {
    residency_ = std::move(residency);
    update();
}

void TileView::set_images(std::vector<QImage> levels) {
    images_ = std::move(levels);
    update();
}

// Returns the rectangles of the levels: level 0 across the whole width, the other levels side by side below it. If
// there is a mip tail, the last rectangle is its row.
std::vector<QRect> TileView::level_rectangles(int width) const {
    std::vector<QRect> out;
    if (map_ == nullptr) return out;
    const int tiled = std::min(map_->properties().first_tail_level, map_->info().levels);
    int x = 0;
    int y = 0;
    int below = 0;
    for (int level = 0; level < tiled; ++level) {
        const Extent extent = level_extent(map_->info(), level);
        const Extent whole = map_->info().extent;
        const double scale = (width - 1) / static_cast<double>(whole.width);
        const int w = std::max(kMinSide, static_cast<int>(std::lround(static_cast<double>(extent.width) * scale)));
        const int h = std::clamp(static_cast<int>(std::lround(static_cast<double>(extent.height) * scale)), kMinSide,
                                 std::max(kMinSide, width * 2 >> level));
        if (level > 0 && x + w > width) {
            x = 0;
            y = below;
        }
        out.emplace_back(x, y, w, h);
        below = std::max(below, y + h + kGap);
        if (level == 0) {
            y = below;
        } else {
            x += w + kGap;
        }
    }
    if (map_->properties().tail_bytes > 0) out.emplace_back(0, below, width - 1, fontMetrics().height() + kGap * 2);
    return out;
}

int TileView::heightForWidth(int width) const {
    int height = 0;
    for (const QRect& each : level_rectangles(width)) height = std::max(height, each.bottom() + 2);
    return std::max(height, 24);
}

std::size_t TileView::tile_row(int level) const { return (slice_ >> level) / map_->properties().tile.depth; }

bool TileView::is_here(const TileTable& table) const {
    return table.layer == layer_ || (table.tail && !map_->properties().tail_per_layer);
}

QRect TileView::rectangle(const Tile& tile) const {
    const TileTable& table = map_->tables().at(tile.table);
    const std::vector<QRect> levels = level_rectangles(width());
    if (table.tail) return levels.back();
    const QRect level = levels.at(static_cast<std::size_t>(table.level));
    const Extent texels = level_extent(map_->info(), table.level);
    const Extent side = map_->properties().tile;
    const Offset at = table.offset_of(tile.index);
    const auto subresource = [](std::size_t texel, std::size_t texels_in_all, int pixels) {
        return static_cast<int>(std::lround(static_cast<double>(std::min(texel, texels_in_all)) * pixels /
                                            static_cast<double>(texels_in_all)));
    };
    const int left = subresource(at.x * side.width, texels.width, level.width());
    const int right = subresource((at.x + 1) * side.width, texels.width, level.width());
    const int top = subresource(at.y * side.height, texels.height, level.height());
    const int bottom = subresource((at.y + 1) * side.height, texels.height, level.height());
    return {level.x() + left, level.y() + top, right - left, bottom - top};
}

std::optional<TileView::Tile> TileView::tile_at(QPoint point) const {
    if (map_ == nullptr) return std::nullopt;
    const std::vector<TileTable>& tables = map_->tables();
    for (std::size_t t = 0; t < tables.size(); ++t) {
        if (!is_here(tables[t])) continue;
        if (tables[t].tail) {
            if (rectangle({t, 0}).contains(point)) return Tile{t, 0};
            continue;
        }
        const QRect level = level_rectangles(width()).at(static_cast<std::size_t>(tables[t].level));
        if (!level.contains(point)) continue;
        const Extent texels = level_extent(map_->info(), tables[t].level);
        const Extent side = map_->properties().tile;
        const auto at = [](int pixel, int pixels, std::size_t texels_in_all, std::size_t tile, std::size_t tiles) {
            const double texel = (pixel + 0.5) * static_cast<double>(texels_in_all) / pixels;
            return std::min(static_cast<std::size_t>(texel) / tile, tiles - 1);
        };
        const Offset tile{at(point.x() - level.x(), level.width(), texels.width, side.width, tables[t].tiles.width),
                          at(point.y() - level.y(), level.height(), texels.height, side.height, tables[t].tiles.height),
                          std::min(tile_row(tables[t].level), tables[t].tiles.depth - 1)};
        return Tile{t, tables[t].index_of(tile)};
    }
    return std::nullopt;
}

QSize TileView::image_size(int level) const {
    const std::vector<QRect> levels = level_rectangles(width());
    if (map_ == nullptr || level >= std::min(map_->properties().first_tail_level, map_->info().levels)) return {};
    const QSize size = levels.at(static_cast<std::size_t>(level)).size() * devicePixelRatioF();
    return size.boundedTo({512, 512});
}

void TileView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    if (map_ == nullptr) return;
    const std::vector<QRect> levels = level_rectangles(width());
    for (std::size_t level = 0; level < std::min(images_.size(), levels.size()); ++level) {
        if (!images_[level].isNull()) painter.drawImage(levels[level], images_[level]);
    }
    const std::vector<TileTable>& tables = map_->tables();
    for (std::size_t t = 0; t < tables.size(); ++t) {
        const TileTable& table = tables[t];
        if (!is_here(table)) continue;
        if (table.tail) {
            const QRect where = rectangle({t, 0});
            const bool mapped = residency_.at(t).front();
            const QColor back = mapped ? palette().color(QPalette::Highlight) : palette().color(QPalette::Button);
            painter.fillRect(where, back);
            painter.setPen(mapped ? palette().color(QPalette::HighlightedText) : palette().color(QPalette::ButtonText));
            const QString text = mapped ? tr("Mip tail from level %1: mapped") : tr("Mip tail from level %1: unmapped");
            painter.drawText(where.adjusted(kGap, 0, -kGap, 0), Qt::AlignVCenter,
                             fontMetrics().elidedText(text.arg(table.level), Qt::ElideRight, where.width() - 2 * kGap));
        }
        const std::size_t slices = table.tail ? 0 : std::min(tile_row(table.level), table.tiles.depth - 1);
        const std::size_t in_slice = table.tiles.width * table.tiles.height;
        const QRect first = rectangle({t, 0});
        if (!table.tail && first.width() < 3) continue;  // the lines would hide the image
        painter.setPen(palette().color(QPalette::Mid));
        for (std::size_t i = slices * in_slice; i < (slices + 1) * in_slice; ++i) painter.drawRect(rectangle({t, i}));
    }
    if (chosen_) {
        painter.setPen(QPen(palette().color(QPalette::Base), 4));
        painter.drawRect(rectangle(*chosen_));
        painter.setPen(QPen(palette().color(hasFocus() ? QPalette::Highlight : QPalette::Text), 2));
        painter.drawRect(rectangle(*chosen_));
    }
}

void TileView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    updateGeometry();
}

void TileView::choose(const Tile& tile) {
    chosen_ = tile;
    const TileTable& table = map_->tables()[tile.table];
    const Offset at = table.offset_of(tile.index);
    const QString state = residency_.at(tile.table).at(tile.index) ? tr("mapped") : tr("unmapped");
    setAccessibleDescription(table.tail
                                 ? tr("Mip tail, %1").arg(state)
                                 : tr("Level %1, tile (%2, %3), %4").arg(table.level).arg(at.x).arg(at.y).arg(state));
    update();
    Q_EMIT chosen_changed();
}

void TileView::set(const Tile& tile, bool mapped) {
    if (residency_.at(tile.table).at(tile.index) != mapped) {
        residency_[tile.table][tile.index] = mapped;
        Q_EMIT edited();
    }
    choose(tile);
}

void TileView::mousePressEvent(QMouseEvent* event) {
    const std::optional<Tile> tile = tile_at(event->pos());
    if (event->button() != Qt::LeftButton || !tile) return;
    maps_ = !residency_.at(tile->table).at(tile->index);
    Q_EMIT begun();
    set(*tile, maps_);
}

void TileView::mouseMoveEvent(QMouseEvent* event) {
    const std::optional<Tile> tile = tile_at(event->pos());
    if ((event->buttons() & Qt::LeftButton) && tile && tile != chosen_) set(*tile, maps_);
}

bool TileView::event(QEvent* event) {
    return claims_key(event, {Qt::Key_Left, Qt::Key_Right, Qt::Key_Up, Qt::Key_Down, Qt::Key_PageUp, Qt::Key_PageDown,
                              Qt::Key_Space}) ||
           QWidget::event(event);
}

void TileView::keyPressEvent(QKeyEvent* event) {
    if (map_ == nullptr || map_->tables().empty()) return QWidget::keyPressEvent(event);
    const std::vector<TileTable>& tables = map_->tables();
    const auto next_table = [&](std::size_t from, int step) {
        for (auto t = static_cast<std::ptrdiff_t>(from) + step;
             t >= 0 && t < static_cast<std::ptrdiff_t>(tables.size()); t += step) {
            if (is_here(tables[static_cast<std::size_t>(t)])) return static_cast<std::size_t>(t);
        }
        return from;
    };
    if (!chosen_) {
        const std::size_t first = is_here(tables.front()) ? 0 : next_table(0, 1);
        if (!is_here(tables[first])) return QWidget::keyPressEvent(event);
        if (event->key() != Qt::Key_Tab) choose({first, 0});
        return;
    }
    Tile tile = *chosen_;
    const TileTable& table = tables[tile.table];
    Offset at = table.offset_of(tile.index);
    switch (event->key()) {
        case Qt::Key_Left: at.x -= at.x > 0 ? 1 : 0; break;
        case Qt::Key_Right: at.x = std::min(at.x + 1, table.tiles.width - 1); break;
        case Qt::Key_Up: at.y -= at.y > 0 ? 1 : 0; break;
        case Qt::Key_Down: at.y = std::min(at.y + 1, table.tiles.height - 1); break;
        case Qt::Key_PageDown: return choose({next_table(tile.table, 1), 0});
        case Qt::Key_PageUp: return choose({next_table(tile.table, -1), 0});
        case Qt::Key_Space: Q_EMIT begun(); return set(tile, !residency_.at(tile.table).at(tile.index));
        default: return QWidget::keyPressEvent(event);
    }
    choose({tile.table, table.index_of(at)});
}

}  // namespace texton::viewer
