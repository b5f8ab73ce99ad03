#include "viewer/gui/panels/streaming.h"

#include <QLocale>
#include <QPointer>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <tuple>

#include "viewer/gui/panels/memory_panel.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kTag = "streaming";
constexpr const char* kId = "streaming";
constexpr int kHueOfResident = 130, kHueOfCoarser = 40, kHueOfFailed = 0;
constexpr std::chrono::duration<double> kRateTime{0.5};
constexpr std::size_t kMaxFailures = 200;
constexpr std::size_t kMaxOutlines = 2000;

std::size_t count_of(const StreamedStatus& status, bool resident, bool failed) {
    return static_cast<std::size_t>(std::ranges::count_if(status.tiles, [&](const StreamedTile& tile) {
        return tile.is_resident() == resident && tile.failed == failed;
    }));
}

}  // namespace

StreamingPanel::StreamingPanel(Workspace& workspace)
    : LivePanel(workspace),
      tiles_(new QLabel),
      numbers_(new QWidget),
      memory_(new QLabel),
      queue_(new QLabel),
      requests_(new QLabel),
      loaded_(new QLabel),
      evicted_(new QLabel),
      outlines_(new QCheckBox(tr("&Outline tiles"))),
      failures_(new QListWidget),
      note_(new CalmText(tr("Note on streaming"))) {
    tiles_->setObjectName("tiles");
    auto* rows = narrow_form();
    rows->setContentsMargins(0, 0, 0, 0);
    numbers_->setLayout(rows);
    const std::tuple<QLabel*, QString, const char*, QString> all[] = {
        {memory_, tr("Memory"), "memory", tr("Device memory of the tiles, and its maximum (--stream-budget)")},
        {queue_, tr("Queue"), "queue", tr("Tiles that wait to be read, and tiles that are being read")},
        {requests_, tr("Requests"), "requests", tr("Tiles that were resident when they were requested, and others")},
        {loaded_, tr("Loaded"), "loaded", tr("Tiles that became resident, and their rate now")},
        {evicted_, tr("Evicted"), "evicted", tr("Tiles whose memory was taken for others")}};
    for (const auto& [label, title, name, tip] : all) {
        label->setObjectName(name);
        label->setToolTip(tip);
        rows->addRow(title, label);
    }
    for (QLabel* label : {tiles_, memory_, queue_, requests_, loaded_, evicted_}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    outlines_->setObjectName("outlines");
    outlines_->setChecked(true);
    outlines_->setToolTip(tr("Green: resident. Orange: a coarser level is shown. Red: the tile could not be read"));
    failures_->setObjectName("failures");
    failures_->setAccessibleName(tr("Tiles that could not be read"));
    failures_->setWordWrap(true);
    failures_->setMinimumHeight(failures_->fontMetrics().height() * 4);
    auto* column = new QVBoxLayout;
    column->addStrut(fontMetrics().averageCharWidth() * 40);  // also while the numbers are hidden
    column->addWidget(note_);
    column->addWidget(tiles_);
    column->addWidget(numbers_);
    column->addWidget(outlines_);
    column->addWidget(failures_, 1);
    column->addStretch();
    lay_out(column);
    connect(&workspace, &Workspace::texels_arrived, this, [this] { stale(); });
    connect(outlines_, &QCheckBox::toggled, this, [this] { outline(); });
    connect(failures_, &QListWidget::currentRowChanged, this, [this](int row) { go_to_failure(row); });
    show_nothing({});
}

void StreamingPanel::refresh() {
    const std::shared_ptr<const Document> shown = workspace().shown();
    const std::shared_ptr<StreamedImage> image = shown ? shown->streamed() : nullptr;
    if (image == nullptr) {
        workspace().jobs().drop(kTag);
        if (!shown) return show_nothing(tr("No image is open."));
        return show_nothing(
            !shown->streaming_problem().empty()
                ? tr("The image is not streamed. %1").arg(QString::fromStdString(shown->streaming_problem()))
                : tr("The image is in memory. Files with levels are streamed if they exceed "
                     "--image-memory or do not fit the device."));
    }
    const QPointer<StreamingPanel> self(this);
    workspace().jobs().start(kTag, [self, image](const CancellationToken&) -> Jobs::Finish {
        return [self, image, status = image->status()] {
            if (!self || !self->isVisible()) return;
            if (self->image_.lock() != image) {
                self->image_ = image;
                self->at_ = std::chrono::steady_clock::now();
                self->counted_ = status.counts.loaded_tiles;
                self->rate_ = 0;
            }
            self->show_status(status);
        };
    });
}

void StreamingPanel::hideEvent(QHideEvent* event) {
    LivePanel::hideEvent(event);
    workspace().jobs().drop(kTag);
    workspace().outline(kId, {});
}

void StreamingPanel::show_status(const StreamedStatus& status) {
    status_ = status;
    const std::size_t resident = count_of(status, true, false);
    const std::size_t failed = count_of(status, false, true) + count_of(status, true, true);
    const std::size_t coarser = status.tiles.size() - resident - failed;
    if (status.tiles.empty()) {
        tiles_->setText(tr("The level in memory is fine enough for this view."));
    } else {
        QString text = tr("Level %1: %2 of %3 visible tiles are resident, %4 show a coarser level, %5 failed.")
                           .arg(status.tiles.front().level)
                           .arg(number_text(resident), number_text(status.tiles.size()), number_text(coarser),
                                number_text(failed));
        if (status.unfit > 0)
            text += ' ' + tr("The budget is too small for %1 tiles. Start the viewer with a larger --stream-budget.")
                              .arg(number_text(status.unfit));
        tiles_->setText(text);
    }
    const StreamingStatistics& counts = status.counts;
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - at_;
    if (passed >= kRateTime || status.settled) {
        rate_ = status.settled ? 0 : static_cast<double>(counts.loaded_tiles - counted_) / passed.count();
        at_ = now;
        counted_ = counts.loaded_tiles;
    }
    memory_->setText(
        tr("%1 of %2 in %3 tiles")
            .arg(byte_text(counts.resident_bytes), byte_text(status.budget), number_text(counts.resident_tiles)));
    queue_->setText(tr("%1 waiting, %2 being read").arg(number_text(counts.queued), number_text(counts.reading)));
    requests_->setText(tr("%1 hits, %2 misses").arg(number_text(counts.hits), number_text(counts.misses)));
    loaded_->setText(
        tr("%1 tiles (%2), %3 per second")
            .arg(number_text(counts.loaded_tiles), byte_text(counts.loaded_bytes), QLocale().toString(rate_, 'f', 0)));
    evicted_->setText(tr("%1 tiles").arg(number_text(counts.evicted_tiles)));
    numbers_->show();
    tiles_->show();
    outlines_->show();
    note_->say(!status.problem.empty() ? QString::fromStdString(status.problem)
               : status.window ? tr("Levels finer than the device supports are read in a window of %1 x %2 texels "
                                    "of level %3, at %4, %5.")
                                     .arg(status.window->box.width)
                                     .arg(status.window->box.height)
                                     .arg(status.window->level)
                                     .arg(status.window->box.x)
                                     .arg(status.window->box.y)
                               : QString());
    show_failures(status);
    outline();
}

void StreamingPanel::show_failures(const StreamedStatus& status) {
    const int count = static_cast<int>(std::min(status.failures.size(), kMaxFailures));
    const QSignalBlocker quiet(failures_);
    for (int row = 0; row < count; ++row) {
        const StreamingFailure& failure = status.failures[static_cast<std::size_t>(row)];
        const Offset& at = failure.box.region.offset;
        const QString text = tr("Level %1, texel (%2, %3): %4")
                                 .arg(failure.box.level)
                                 .arg(at.x)
                                 .arg(at.y)
                                 .arg(QString::fromStdString(failure.message));
        if (row >= failures_->count()) failures_->addItem(text);
        if (failures_->item(row)->text() != text) failures_->item(row)->setText(text);
    }
    while (failures_->count() > count) delete failures_->takeItem(count);
    failures_->setVisible(count > 0);
}

void StreamingPanel::show_nothing(const QString& why) {
    status_ = {};
    image_.reset();
    note_->say(why);
    for (QWidget* widget : std::initializer_list<QWidget*>{tiles_, numbers_, outlines_, failures_}) widget->hide();
    workspace().outline(kId, {});
}

// Outlines are given in texels of the loaded array.
void StreamingPanel::outline() {
    const std::shared_ptr<const Document> shown = workspace().shown();
    std::vector<Outline> outlines;
    if (outlines_->isChecked() && shown && shown->streamed() && shown->streamed() == image_.lock()) {
        const SubresourceIndex subresource = shown->in_array(workspace().session().subresource);
        for (const StreamedTile& tile : status_.tiles) {
            if (tile.layer != streamed_layer(shown->whole(), shown->clamped(workspace().session().subresource)))
                continue;
            if (outlines.size() == kMaxOutlines) break;
            const double side = std::ldexp(1.0, tile.level - shown->halvings() - subresource.level);
            const int hue = tile.failed ? kHueOfFailed : tile.is_resident() ? kHueOfResident : kHueOfCoarser;
            outlines.push_back({subresource, static_cast<double>(tile.box.x) * side,
                                static_cast<double>(tile.box.y) * side, static_cast<double>(tile.box.width) * side,
                                static_cast<double>(tile.box.height) * side, data_color(palette(), hue),
                                tile.is_resident() ? QString() : tr("level %1").arg(tile.shown_level)});
        }
    }
    workspace().outline(kId, std::move(outlines));
}

void StreamingPanel::go_to_failure(int row) {
    if (row < 0 || static_cast<std::size_t>(row) >= status_.failures.size()) return;
    const PyramidBox& box = status_.failures[static_cast<std::size_t>(row)].box;
    workspace().look([&](Session& session) {
        const double side = std::ldexp(1.0, box.level - session.subresource.level);
        session.fits = false;
        session.view.zoom = 1 / side;
        session.view.center = {
            (static_cast<double>(box.region.offset.x) + static_cast<double>(box.region.extent.width) / 2) * side,
            (static_cast<double>(box.region.offset.y) + static_cast<double>(box.region.extent.height) / 2) * side};
    });
}

}  // namespace texton::viewer
