#include "viewer/gui/panels/round_trip.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <algorithm>

#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

QString text(const ArrayInfo& info, const TripPart& part) {
    QString text = RoundTripPanel::tr("level %1").arg(part.subresource.level);
    if (is_layered(info.kind)) text += RoundTripPanel::tr(", layer %1").arg(part.subresource.layer);
    if (is_cube(info.kind)) text += RoundTripPanel::tr(", face %1").arg(part.subresource.face);
    return text;
}

QString text(const TripMismatch& first) {
    return RoundTripPanel::tr("byte %1, texel (%2, %3) of slice %4: 0x%5 instead of 0x%6")
        .arg(number_text(first.byte))
        .arg(first.texel.x)
        .arg(first.texel.y)
        .arg(first.subresource.slice)
        .arg(std::to_integer<int>(first.found), 2, 16, QChar('0'))
        .arg(std::to_integer<int>(first.expected), 2, 16, QChar('0'));
}

}  // namespace

RoundTripPanel::RoundTripPanel(Workspace& workspace, QWidget* parent)
    : MemoryPanel(workspace, "round-trip", LooksAt::image, parent),
      run_(new QPushButton),
      damage_(new QCheckBox(tr("&Corrupt a byte"))),
      progress_(new QProgressBar),
      verdict_(new QLabel),
      table_(new QTableWidget(0, 4)) {
    run_->setObjectName("run");
    damage_->setObjectName("damage");
    damage_->setToolTip(tr("Changes a byte on the device before the comparison, to test that the difference is found"));
    progress_->setObjectName("progress");
    QSizePolicy policy = progress_->sizePolicy();
    policy.setRetainSizeWhenHidden(true);
    progress_->setSizePolicy(policy);
    progress_->setAccessibleName(tr("Compared parts"));
    verdict_->setObjectName("verdict");
    verdict_->setWordWrap(true);
    verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    table_->setObjectName("table");
    table_->setAccessibleName(tr("Levels, layers and faces"));
    table_->setHorizontalHeaderLabels({tr("Part"), tr("Bytes"), tr("Different"), tr("First difference")});
    table_->verticalHeader()->hide();
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setTabKeyNavigation(false);
    table_->setToolTip(tr("Click a row to show its first difference on the canvas and in the byte map"));
    table_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);
    table_->setMinimumHeight(table_->fontMetrics().height() * 4);
    auto* line = new QHBoxLayout;
    line->addWidget(run_);
    line->addWidget(progress_, 1);
    content()->addLayout(line);
    content()->addWidget(damage_);
    content()->addWidget(verdict_);
    content()->addWidget(table_, 1);
    progress_timer_.setInterval(100);
    connect(&progress_timer_, &QTimer::timeout, this, [this] {
        if (done_ != nullptr) progress_->setValue(static_cast<int>(*done_));
    });
    connect(run_, &QPushButton::clicked, this, [this] { running_ ? cancel() : start(); });
    connect(table_, &QTableWidget::cellClicked, this, [this](int row, int) { go_to(row); });
    connect(table_, &QTableWidget::cellActivated, this, [this](int row, int) { go_to(row); });
    show_running(false);
}

void RoundTripPanel::renew() {
    say({});
    verdict_->setText(
        tr("Choose Compare to upload the texels of the files to a new array, read them back and compare every byte."));
}

void RoundTripPanel::forget() {
    cancel();
    results_.clear();
    table_->setRowCount(0);
    progress_->setValue(0);
    workspace().outline(id(), {});
}

void RoundTripPanel::start() {
    if (document() == nullptr) return;
    workspace().outline(id(), {});
    const ImageFile image =
        document()->is_planar() ? document()->image().plane(subresource().plane) : document()->image();
    const std::vector<TripPart> parts = trip_parts(image.info());
    done_ = std::make_shared<std::atomic<std::size_t>>(0);
    progress_->setRange(0, static_cast<int>(parts.size()));
    progress_->setValue(0);
    verdict_->setText(tr("Uploading and comparing..."));
    table_->setRowCount(0);
    show_running(true);
    std::optional<std::size_t> damaged;
    if (damage_->isChecked()) damaged = packed_bytes(image.info().format, parts.front().extent) / 2;
    work([this, device = document()->device(), image, damaged, done = done_](const CancellationToken& token) -> Finish {
        std::vector<TripResult> results;
        QString problem;
        try {
            round_trip(
                device, image,
                [&](const TripResult& result) {
                    results.push_back(result);
                    ++*done;
                },
                token, damaged);
        } catch (const Canceled&) {
            throw;
        } catch (const Error& error) {
            problem = QString::fromStdString(error_text(error));
        }
        return [this, results = std::move(results), problem] {
            show_running(false);
            show_results(results);
            if (!problem.isEmpty()) verdict_->setText(problem);
        };
    });
}

void RoundTripPanel::cancel() {
    if (!running_) return;
    stop();
    show_running(false);
    verdict_->setText(tr("The comparison was canceled."));
}

void RoundTripPanel::show_results(const std::vector<TripResult>& results) {
    results_ = results;
    progress_->setValue(static_cast<int>(results_.size()));
    table_->setRowCount(static_cast<int>(results_.size()));
    const ArrayInfo& info = document()->info(subresource().plane);
    std::size_t bytes = 0;
    std::size_t different = 0;
    int first = -1;
    for (int row = 0; row < table_->rowCount(); ++row) {
        const TripResult& result = results_[static_cast<std::size_t>(row)];
        const QString cells[] = {text(info, result.part), number_text(result.bytes), number_text(result.different),
                                 result.first ? text(*result.first) : QString()};
        for (int column = 0; column < table_->columnCount(); ++column) {
            auto* item = new QTableWidgetItem(cells[column]);
            const bool is_number = column == 1 || column == 2;
            item->setTextAlignment((is_number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
            if (result.first) item->setForeground(data_color(palette(), 0));
            table_->setItem(row, column, item);
        }
        bytes += result.bytes;
        different += result.different;
        if (result.first && first < 0) first = row;
    }
    if (different == 0) {
        verdict_->setText(tr("All %1 bytes are unchanged.").arg(number_text(bytes)));
    } else {
        verdict_->setText(tr("%1 of %2 bytes differ. First difference: %3.")
                              .arg(number_text(different), number_text(bytes),
                                   text(*results_[static_cast<std::size_t>(first)].first)));
        table_->selectRow(first);
        go_to(first);
    }
}

void RoundTripPanel::show_running(bool running) {
    running_ = running;
    progress_->setVisible(running);
    run_->setText(running ? tr("&Stop") : tr("Co&mpare"));
    if (running) {
        progress_timer_.start();
    } else {
        progress_timer_.stop();
    }
}

void RoundTripPanel::go_to(int row) {
    if (row < 0 || row >= static_cast<int>(results_.size())) return;
    const TripResult& result = results_[static_cast<std::size_t>(row)];
    SubresourceIndex target = result.first ? result.first->subresource : result.part.subresource;
    target.plane = subresource().plane;
    // The byte map selects the texel of the pin.
    SeenTexel texel{target, {}};
    if (result.first)
        texel.at = {static_cast<double>(result.first->texel.x) + 0.5, static_cast<double>(result.first->texel.y) + 0.5};
    texel = workspace().in_files(texel);
    workspace().change(tr("Show the difference"), [&](Session& session) {
        session.subresource = texel.subresource;
        if (result.first) session.pins = {texel.at};
    });
    if (!result.first) return workspace().outline(id(), {});
    const auto side = static_cast<double>(block_side(document()->info(target.plane).format));
    workspace().outline(
        id(), {{target, static_cast<double>(result.first->texel.x), static_cast<double>(result.first->texel.y), side,
                side, data_color(palette(), 0), tr("different")}});
}

}  // namespace texton::viewer
