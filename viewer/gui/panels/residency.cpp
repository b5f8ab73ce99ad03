#include "viewer/gui/panels/residency.h"

#include <QGridLayout>
#include <algorithm>

#include <texton/error.h>

#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr std::size_t kMaxUndo = 200;

struct Seen {
    Residency residency;
    std::vector<QImage> images;
    TilePoolUsage pool;
    std::size_t resident = 0;
    double unmapped = 0;  // fraction of the fetches from level 0
    QString problem;
};

// Returns an image of the results. Fetches from unmapped tiles are shown as stripes.
QImage image_of(const SparseReads& reads, QRgb unmapped) {
    QImage image(static_cast<int>(reads.width), static_cast<int>(reads.height), QImage::Format_RGB32);
    for (std::size_t y = 0; y < reads.height; ++y) {
        auto* row = reinterpret_cast<QRgb*>(image.scanLine(static_cast<int>(y)));
        for (std::size_t x = 0; x < reads.width; ++x) {
            const std::size_t i = y * reads.width + x;
            const bool stripe = (x + y) / 4 % 2 == 0;
            row[x] = reads.resident[i] != 0 ? reads.pixels[i] : stripe ? unmapped : QColor(unmapped).darker(130).rgb();
        }
    }
    return image;
}

}  // namespace

ResidencyPanel::ResidencyPanel(Workspace& workspace, QWidget* parent)
    : MemoryPanel(workspace, "residency", LooksAt::image, parent),
      tiles_(new TileView),
      numbers_(new QLabel),
      filter_(new QComboBox),
      map_all_(new QPushButton(tr("&Map all"))),
      unmap_all_(new QPushButton(tr("U&nmap all"))),
      undo_button_(new QPushButton(tr("&Undo"))),
      redo_button_(new QPushButton(tr("&Redo"))) {
    make_widgets();
    connect(tiles_, &TileView::begun, this, [this] { keep(); });
    connect(tiles_, &TileView::edited, this, [this] { apply(); });
    connect(tiles_, &TileView::chosen_changed, this, [this] { outline(); });
    connect(filter_, &QComboBox::currentIndexChanged, this, [this] { apply(); });
    for (const bool mapped : {true, false}) {
        connect(mapped ? map_all_ : unmap_all_, &QPushButton::clicked, this, [this, mapped] {
            if (map_ == nullptr) return;
            keep();
            go_to(map_->uniform(mapped));
        });
    }
    connect(undo_button_, &QPushButton::clicked, this, [this] {
        if (undo_.empty()) return;
        redo_.push_back(tiles_->residency());
        const Residency before = undo_.back();
        undo_.pop_back();
        go_to(before);
    });
    connect(redo_button_, &QPushButton::clicked, this, [this] {
        if (redo_.empty()) return;
        undo_.push_back(tiles_->residency());
        const Residency after = redo_.back();
        redo_.pop_back();
        go_to(after);
    });
    show_undo();
}

void ResidencyPanel::make_widgets() {
    numbers_->setObjectName("numbers");
    numbers_->setWordWrap(true);
    numbers_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    filter_->setObjectName("filter");
    filter_->addItems({tr("point"), tr("linear")});
    filter_->setAccessibleName(tr("Filter"));
    filter_->setToolTip(tr("With the linear filter, all texels of a fetch need memory"));
    undo_button_->setToolTip(tr("Undoes the last change of the tiles"));
    redo_button_->setToolTip(tr("Redoes the last undone change of the tiles"));
    map_all_->setObjectName("map-all");
    unmap_all_->setObjectName("unmap-all");
    undo_button_->setObjectName("undo");
    redo_button_->setObjectName("redo");
    content()->addWidget(numbers_);
    content()->addWidget(tiles_);
    auto* grid = new QGridLayout;
    grid->addWidget(map_all_, 0, 0);
    grid->addWidget(unmap_all_, 0, 1);
    grid->addWidget(undo_button_, 1, 0);
    grid->addWidget(redo_button_, 1, 1);
    auto* label = new QLabel(tr("&Filter"));
    label->setBuddy(filter_);
    grid->addWidget(label, 2, 0);
    grid->addWidget(filter_, 2, 1);
    content()->addLayout(grid);
    auto* legend =
        new QLabel(tr("Click or drag to map and unmap tiles of 64 KiB. Stripes mark fetches from unmapped tiles."));
    legend->setWordWrap(true);
    content()->addWidget(legend);
    content()->addStretch();
}

void ResidencyPanel::renew() {
    say(tr("Creating a sparse array like the image..."));
    work([this, document = document(), plane = subresource().plane](const CancellationToken&) -> Finish {
        const auto map = std::make_shared<ResidencyMap>(Array(document->array(plane).block()));
        return [this, map] {
            map_ = map;
            say({});
            const FormatInfo& format = info(map_->info().format);
            filter_->setEnabled(format.kind != FormatKind::uint && format.kind != FormatKind::sint);
            if (!filter_->isEnabled()) filter_->setCurrentIndex(0);
            const SubresourceIndex subresource = subresource_now();
            layer_ = subresource.layer;
            slice_ = subresource.slice << subresource.level;
            tiles_->show_map(map_, layer_, slice_);
            // The initial state is a checkerboard of mapped and unmapped tiles.
            Residency start = map_->uniform(false);
            for (std::size_t t = 0; t < start.size(); ++t) {
                const TileTable& table = map_->tables()[t];
                for (std::size_t i = 0; i < start[t].size(); ++i) {
                    const Offset at = table.offset_of(i);
                    start[t][i] = table.tail || (at.x + at.y + at.z) % 2 == 0;
                }
            }
            go_to(start);
        };
    });
}

void ResidencyPanel::forget() {
    stop();
    map_.reset();
    undo_.clear();
    redo_.clear();
    tiles_->show_map(nullptr, 0, 0);
    workspace().outline(id(), {});
    show_undo();
}

void ResidencyPanel::session_changed() {
    if (map_ == nullptr) return;
    const SubresourceIndex subresource = subresource_now();
    const std::size_t slice = subresource.slice << subresource.level;
    if (subresource.layer == layer_ && slice == slice_) return;
    layer_ = subresource.layer;
    slice_ = slice;
    tiles_->show_map(map_, layer_, slice_);
    apply();
}

void ResidencyPanel::resizeEvent(QResizeEvent* event) {
    MemoryPanel::resizeEvent(event);
    if (map_ != nullptr && isVisible()) apply();
}

void ResidencyPanel::keep() {
    undo_.push_back(tiles_->residency());
    if (undo_.size() > kMaxUndo) undo_.erase(undo_.begin());
    redo_.clear();
    show_undo();
}

void ResidencyPanel::go_to(const Residency& target) {
    tiles_->set_residency(target);
    show_undo();
    apply();
}

void ResidencyPanel::apply() {
    if (map_ == nullptr) return;
    std::vector<QSize> sizes;
    for (int level = 0; level < std::min(map_->properties().first_tail_level, map_->info().levels); ++level)
        sizes.push_back(tiles_->image_size(level));
    const Filter filter = filter_->currentIndex() == 1 ? Filter::linear : Filter::point;
    const QRgb unmapped = data_color(palette(), 320).rgb();
    work([this, map = map_, target = tiles_->residency(), sizes, filter, unmapped, layer = layer_,
          slice = slice_](const CancellationToken& token) -> Finish {
        Seen seen;
        try {
            map->apply(target, token);
        } catch (const Canceled&) {
            throw;
        } catch (const Error& error) {
            seen.problem = QString::fromStdString(error_text(error));
        }
        for (std::size_t level = 0; level < sizes.size(); ++level) {
            throw_if_canceled(token);
            const QSize size = sizes[level];
            if (size.isEmpty()) continue;
            const std::size_t depth = level_extent(map->info(), static_cast<int>(level)).depth;
            const SparseReads reads =
                map->read(static_cast<int>(level), layer, std::min(slice >> level, depth - 1),
                          static_cast<std::size_t>(size.width()), static_cast<std::size_t>(size.height()), filter);
            seen.images.push_back(image_of(reads, unmapped));
            if (level == 0)
                seen.unmapped = static_cast<double>(std::ranges::count(reads.resident, 0)) /
                                static_cast<double>(std::max<std::size_t>(reads.resident.size(), 1));
        }
        seen.residency = map->residency();
        seen.pool = map->pool();
        seen.resident = map->resident_slots();
        return [this, map, seen = std::move(seen)] {
            if (map != map_) return;
            tiles_->set_residency(seen.residency);
            tiles_->set_images(seen.images);
            show_numbers(seen.pool, seen.resident);
            if (!seen.images.empty())
                numbers_->setText(
                    numbers_->text() + ' ' +
                    tr("%1 % of the fetches from level 0 read unmapped tiles.").arg(seen.unmapped * 100, 0, 'f', 1));
            if (!seen.problem.isEmpty()) say(seen.problem, false);
        };
    });
}

void ResidencyPanel::show_numbers(const TilePoolUsage& pool, std::size_t resident) {
    const Extent tile = map_->properties().tile;
    numbers_->setText(tr("%1 of %2 slots mapped (%3 of %4). Tile size: %5 texels. Pool: %6 slots, "
                         "%7 used, %8 free, largest free range %9.")
                          .arg(number_text(resident), number_text(map_->slots()), byte_text(resident * kTileBytes),
                               byte_text(map_->slots() * kTileBytes), QString::fromStdString(to_string(tile)),
                               number_text(pool.held), number_text(pool.used), number_text(pool.free),
                               number_text(pool.largest_free)));
}

void ResidencyPanel::show_undo() {
    undo_button_->setEnabled(!undo_.empty());
    redo_button_->setEnabled(!redo_.empty());
}

void ResidencyPanel::outline() {
    const std::optional<TileView::Tile> tile = tiles_->chosen();
    if (map_ == nullptr || !tile || map_->tables()[tile->table].tail) return workspace().outline(id(), {});
    const TileTable& table = map_->tables()[tile->table];
    const Offset at = table.offset_of(tile->index);
    const Extent side = map_->properties().tile;
    const Extent level = level_extent(map_->info(), table.level);
    SubresourceIndex subresource = subresource_now();
    subresource.level = table.level;
    subresource.slice = std::min(slice_ >> table.level, level.depth - 1);
    const std::size_t x = at.x * side.width;
    const std::size_t y = at.y * side.height;
    workspace().outline(id(), {{subresource, static_cast<double>(x), static_cast<double>(y),
                                static_cast<double>(std::min(side.width, level.width - x)),
                                static_cast<double>(std::min(side.height, level.height - y)),
                                data_color(palette(), 320), tr("tile (%1, %2)").arg(at.x).arg(at.y)}});
}

}  // namespace texton::viewer
