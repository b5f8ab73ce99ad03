#include "viewer/gui/panels/lod_map.h"

#include <QFontDatabase>
#include <QPainter>
#include <algorithm>
#include <cstring>

namespace texton::viewer {
namespace {

constexpr int kLargestSide = 320;  // maximum width and height of the map in pixels; the canvas may be larger

QImage image_of(const LodMap& map, LodQuantity quantity) {
    if (map.pixels.empty()) return {};
    const std::vector<std::uint32_t> colors = colors_of(map, quantity, 0);
    QImage image(map.width, map.height, QImage::Format_ARGB32);
    for (int y = 0; y < map.height; ++y)
        std::memcpy(image.scanLine(y),
                    colors.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(map.width),
                    static_cast<std::size_t>(map.width) * sizeof(std::uint32_t));
    return image;
}

}  // namespace

// --- legend ----------------------------------------------------------------------------------------------------------

Legend::Legend(QWidget* parent) : QWidget(parent) {
    setAccessibleName(tr("Legend"));
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void Legend::set_range(double low, double high) {
    low_ = low;
    high_ = high;
    setAccessibleDescription(tr("From %1 (violet) to %2 (yellow)").arg(low).arg(high));
    update();
}

QSize Legend::sizeHint() const { return {160, fontMetrics().height() + 4}; }

void Legend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QString low = QString::number(low_), high = QString::number(high_);
    const int left = fontMetrics().horizontalAdvance(low) + 8;
    const int right = fontMetrics().horizontalAdvance(high) + 8;
    const QRect bar = rect().adjusted(left, 2, -right, -2);
    for (int x = bar.left(); x <= bar.right(); ++x)
        painter.fillRect(
            x, bar.top(), 1, bar.height(),
            QColor::fromRgb(legend_color(static_cast<double>(x - bar.left()) / std::max(1, bar.width() - 1))));
    painter.setPen(palette().color(QPalette::Text));
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, low);
    painter.drawText(rect(), Qt::AlignRight | Qt::AlignVCenter, high);
}

// --- panel -----------------------------------------------------------------------------------------------------------

LodMapPanel::LodMapPanel(Workspace& workspace)
    : InspectionPanel(workspace, "lod map"),
      quantity_(
          choice_box(tr("Quantity"), {tr("level of detail").toStdString(), tr("clamped level of detail").toStdString(),
                                      tr("finer level").toStdString(), tr("weight of the coarser level").toStdString(),
                                      tr("anisotropy").toStdString(), tr("samples").toStdString()})),
      plane_(new QCheckBox(tr("Plane in perspective"))),
      tilt_(slider(tr("Tilt"), "tilt", -85, 85, 1, &LodPlane::tilt)),
      turn_(slider(tr("Rotation"), "turn", -180, 180, 1, &LodPlane::turn)),
      repeats_(slider(tr("Repeats"), "repeats", 1, 64, 1, &LodPlane::repeats)),
      map_view_(new MapView(tr("Map of levels of detail"))),
      legend_(new Legend),
      pointed_(new CalmText(tr("Level of detail under the mouse"))) {
    plane_->setToolTip(tr("Shows the image on a tilted plane. If it is off, the map shows the canvas."));
    tilt_->setToolTip(tr("Degrees by which the top of the plane is tilted away"));
    turn_->setToolTip(tr("Rotation of the image on the plane, in degrees"));
    repeats_->setToolTip(tr("Number of images along the height of the plane"));
    auto* form = narrow_form();
    form->addRow(tr("Show"), quantity_);
    form->addRow(plane_);
    form->addRow(tr("Tilt"), tilt_);
    form->addRow(tr("Rotation"), turn_);
    form->addRow(tr("Repeats"), repeats_);
    column()->addLayout(form);
    column()->addWidget(text());
    column()->addWidget(map_view_);
    column()->addWidget(legend_);
    column()->addWidget(pointed_);
    column()->addStretch();
    connect(quantity_, &QComboBox::activated, this, [this](int index) {
        this->workspace().change(tr("Quantity of the level map"),
                                 [&](Session& session) { session.lod_quantity = static_cast<LodQuantity>(index); });
    });
    connect(map_view_, &MapView::pointed_at, this, &LodMapPanel::show_pointed);
    connect(plane_, &QCheckBox::clicked, this, [this](bool on) {
        this->workspace().change(on ? tr("Plane in perspective") : tr("Flat image"),
                                 [&](Session& session) { session.lod_plane.shown = on; });
    });
}

SliderField* LodMapPanel::slider(const QString& name, const char* id, double low, double high, double step,
                                 double LodPlane::*member) {
    auto* field = new SliderField(name, low, high, step);
    field->number()->set_range(low, high);
    connect(field, &SliderField::edited, this, [this, name, id, member](double value) {
        workspace().change(
            name, [&](Session& session) { session.lod_plane.*member = value; }, QString("lod plane ") + id);
    });
    return field;
}

void LodMapPanel::resizeEvent(QResizeEvent* event) {
    InspectionPanel::resizeEvent(event);
    stale();
}

void LodMapPanel::show_nothing() {
    map_ = {};
    map_view_->set_map({});
    pointed_->say({});
}

void LodMapPanel::refresh() {
    const Session& session = workspace().session();
    quantity_->setCurrentIndex(static_cast<int>(session.lod_quantity));
    plane_->setChecked(session.lod_plane.shown);
    tilt_->set_value(static_cast<float>(session.lod_plane.tilt));
    turn_->set_value(static_cast<float>(session.lod_plane.turn));
    repeats_->set_value(static_cast<float>(session.lod_plane.repeats));
    for (SliderField* field : {tilt_, turn_, repeats_}) field->setEnabled(session.lod_plane.shown);
    const std::optional<Inspected> at = inspected();
    if (!at) {
        drop_work();
        show_nothing();
        return say(tr("No image is shown."));
    }
    const QSize canvas = canvas_pixels();
    const QSize size =
        canvas.scaled(canvas.boundedTo({kLargestSide, kLargestSide}), Qt::KeepAspectRatio).expandedTo({1, 1});
    const LodView view{session.lod_plane, view_of(*at), canvas.width(), canvas.height(), size.width(), size.height()};
    compute(
        [at = *at, view](const CancellationToken& token) {
            return lod_map(Model(at.document->array(at.subresource.plane), at.sampler), at.info(), at.subresource, view,
                           token);
        },
        [this, levels = at->info().levels](const LodMap& map) {
            map_ = map;
            say(levels > 1 ? QString() : tr("The image has only one level, which every fetch reads."));
            show_colors();
        });
}

void LodMapPanel::show_colors() {
    const LodQuantity quantity = workspace().session().lod_quantity;
    map_view_->set_map(image_of(map_, quantity));
    const auto [low, high] = range_of(map_, quantity);
    legend_->set_range(low, high);
    show_pointed(map_view_->pointed().value_or(QPoint(-1, -1)));
}

void LodMapPanel::show_pointed(QPoint cell) {
    if (cell.x() < 0 || cell.x() >= map_.width || cell.y() >= map_.height) return pointed_->say({});
    const std::optional<LevelChoice>& choice = map_.at(cell.x(), cell.y());
    pointed_->say(choice ? QString::fromStdString(words_of(*choice)) : tr("above the horizon"));
}

}  // namespace texton::viewer
