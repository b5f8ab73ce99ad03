#include "viewer/gui/panels/ulp_map.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include <texton/metrics.h>

#include "viewer/inspect/twin.h"

namespace texton::viewer {
namespace {

QImage image_of(const UlpMap& map) {
    if (map.cells.empty()) return {};
    const std::vector<std::byte> colors = ulp_map(map.cells);
    const auto row = map.columns * 4;
    QImage image(static_cast<int>(map.columns), static_cast<int>(map.rows), QImage::Format_RGBX8888);
    for (std::size_t y = 0; y < map.rows; ++y)
        std::memcpy(image.scanLine(static_cast<int>(y)), colors.data() + y * row, row);
    return image;
}

}  // namespace

// --- histogram -------------------------------------------------------------------------------------------------------

UlpHistogram::UlpHistogram(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Histogram of ulps"));
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void UlpHistogram::set_counts(const std::array<std::size_t, 33>& counts) {
    bars_.clear();
    QStringList text;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) continue;
        bars_.push_back({QString::fromStdString(ulp_range_text(i)), counts[i]});
        text.push_back(tr("%1: %2").arg(bars_.back().range).arg(counts[i]));
    }
    setAccessibleDescription(text.join("; "));
    setToolTip(text.join("\n"));
    updateGeometry();
    update();
}

QSize UlpHistogram::sizeHint() const { return {200, static_cast<int>(bars_.size()) * (fontMetrics().height() + 4)}; }

void UlpHistogram::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const int line = fontMetrics().height() + 4;
    int label = 0, number = 0;
    std::size_t maximum = 1;
    for (const Bar& bar : bars_) {
        label = std::max(label, fontMetrics().horizontalAdvance(bar.range));
        number = std::max(number, fontMetrics().horizontalAdvance(QString::number(bar.count)));
        maximum = std::max(maximum, bar.count);
    }
    // The lengths are logarithmic, so that one fetch among a million is visible. Bars are omitted if the labels leave
    // no room.
    const int room = width() - label - number - 16;
    for (std::size_t i = 0; i < bars_.size(); ++i) {
        const int top = static_cast<int>(i) * line;
        const double share = std::log1p(static_cast<double>(bars_[i].count)) / std::log1p(static_cast<double>(maximum));
        painter.setPen(palette().color(QPalette::Text));
        painter.drawText(QRect(0, top, label, line), Qt::AlignRight | Qt::AlignVCenter, bars_[i].range);
        if (room > 0)
            painter.fillRect(QRectF(label + 8, top + 3, std::max(1.0, share * room), line - 6),
                             palette().color(QPalette::Highlight));
        painter.drawText(QRect(width() - number, top, number, line), Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(bars_[i].count));
    }
}

// --- panel -----------------------------------------------------------------------------------------------------------

UlpMapPanel::UlpMapPanel(Workspace& workspace)
    : InspectionPanel(workspace, "ulp map"),
      region_(choice_box(tr("Region"), {tr("visible pixels").toStdString(), tr("whole image").toStdString()})),
      points_(choice_box(tr("Points along a texel"), {})),
      map_(new MapView(tr("Map of ulps"))),
      histogram_(new UlpHistogram),
      worst_(new QPushButton(tr("Show the largest distance"))),
      pointed_(new CalmText(tr("Distance under the mouse"))) {
    region_->setToolTip(tr("One fetch for each canvas pixel, or several for each texel of the whole image"));
    points_->setToolTip(tr("Fetches along each dimension of a texel, for the whole image"));
    for (const int points : UlpRegion::kPoints) points_->addItem(QString::number(points), points);
    worst_->setAccessibleName(tr("Go to the largest distance"));
    worst_->setToolTip(tr("Shows the position with the largest distance on the canvas"));
    auto* choices = new QHBoxLayout;
    choices->addWidget(region_, 2);
    choices->addWidget(points_, 1);
    column()->addLayout(choices);
    column()->addWidget(text());
    column()->addWidget(map_);
    column()->addWidget(pointed_);
    column()->addWidget(worst_);
    column()->addWidget(histogram_);
    column()->addStretch();
    show_nothing();
    connect(region_, &QComboBox::activated, this, [this](int index) {
        this->workspace().change(tr("Ulp map region"),
                                 [&](Session& session) { session.ulp_region.whole = index == 1; });
    });
    connect(points_, &QComboBox::activated, this, [this] {
        this->workspace().change(tr("Ulp map points"),
                                 [&](Session& session) { session.ulp_region.points = points_->currentData().toInt(); });
    });
    connect(worst_, &QPushButton::clicked, this, [this] {
        if (found_) go_to(found_->map.worst);
    });
    connect(map_, &MapView::chosen, this, [this](QPoint cell) {
        if (found_)
            go_to(found_->map.subresource_of(static_cast<std::size_t>(cell.x()), static_cast<std::size_t>(cell.y())));
    });
    connect(map_, &MapView::pointed_at, this, [this](QPoint cell) {
        if (!found_ || cell.x() < 0) return pointed_->say({});
        const UlpMap& map = found_->map;
        const auto column = static_cast<std::size_t>(cell.x()), row = static_cast<std::size_t>(cell.y());
        const Position at = map.subresource_of(column, row);
        pointed_->say(tr("%1 at (%2, %3)")
                          .arg(QString::fromStdString(ulp_text(map.cells[row * map.columns + column])))
                          .arg(at.x, 0, 'f', 2)
                          .arg(at.y, 0, 'f', 2));
    });
}

void UlpMapPanel::go_to(Position texel) {
    const SeenTexel of_files = workspace().in_files({found_->at.subresource, texel});
    jump_to(of_files.subresource, of_files.at);
}

void UlpMapPanel::set_twin(Twin twin) {
    twin_ = std::move(twin);
    stale();
}

void UlpMapPanel::show_nothing() {
    found_.reset();
    for (QWidget* widget :
         {static_cast<QWidget*>(map_), static_cast<QWidget*>(histogram_), static_cast<QWidget*>(worst_)})
        widget->hide();
    pointed_->say({});
}

void UlpMapPanel::refresh() {
    const std::optional<Inspected> at = inspected();
    const std::optional<Device> other = workspace().other_device();
    const UlpRegion& region = workspace().session().ulp_region;
    region_->setCurrentIndex(region.whole ? 1 : 0);
    points_->setCurrentIndex(points_->findData(region.points));
    points_->setEnabled(region.whole);
    if (!at || (!other && !twin_)) {
        drop_work();
        show_nothing();
        return say(!at ? tr("No image is shown.") : tr("This computer has no GPU to compare with the CPU device."));
    }
    const FetchGrid grid =
        region.whole ? whole_grid(at->document->extent(at->subresource), region.points) : visible_fetches(*at);
    if (grid.columns == 0) {
        drop_work();
        show_nothing();
        return say(tr("No part of the image is visible."));
    }
    compute(
        [at = *at, other, make_twin = twin_, grid](const CancellationToken& token) {
            const Array& shown = at.document->array(at.subresource.plane);
            const std::shared_ptr<const Array> twin = make_twin ? std::make_shared<const Array>(make_twin(shown))
                                                                : on_device(at.document, at.subresource.plane, *other);
            const SubresourceFetches fetches(at.info(), at.subresource, at.sampler);
            return Found{at, ulp_map_of(at.document->texture(at.sampler, at.subresource.plane),
                                        Texture(*twin, at.sampler), fetches, grid, token)};
        },
        [this](const Found& found) { show_found(found); });
}

void UlpMapPanel::show_found(const Found& found) {
    found_ = found;
    const UlpMap& map = found_->map;
    map_->set_map(image_of(map));
    const auto cell = [&](double subresource, double first, double step) {
        return static_cast<int>(std::lround((subresource - first) / step)) / static_cast<int>(map.cell);
    };
    map_->mark(map.differing == 0 ? std::nullopt
                                  : std::optional(QPoint(cell(map.worst.x, map.grid.first.x, map.grid.step.x),
                                                         cell(map.worst.y, map.grid.first.y, map.grid.step.y))));
    histogram_->set_counts(map.histogram);
    map_->show();
    histogram_->show();
    worst_->setVisible(map.differing != 0);
    say(map.differing == 0 ? tr("All %1 fetches return the same bits on both devices.").arg(map.fetches)
                           : tr("%1 of %2 fetches differ, by up to %3 at (%4, %5).")
                                 .arg(map.differing)
                                 .arg(map.fetches)
                                 .arg(QString::fromStdString(ulp_text(map.largest)))
                                 .arg(map.worst.x, 0, 'f', 2)
                                 .arg(map.worst.y, 0, 'f', 2));
}

}  // namespace texton::viewer
