#include "viewer/gui/panels/compare.h"

#include <QFontDatabase>
#include <QPointer>
#include <QSignalBlocker>

#include <fmt/format.h>

#include "viewer/inspect/sampler_difference.h"
#include "viewer/model/session_names.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kTag = "compare";

QString text(double value) { return QString::fromStdString(fmt::format("{:.6g}", value)); }

}  // namespace

ComparePanel::ComparePanel(Workspace& workspace)
    : LivePanel(workspace),
      mode_(choice_box(tr("Mode"), all_names(kCompareModes))),
      against_(choice_box(tr("Against"), all_names(kAgainst))),
      reference_(choice_box(tr("Reference"), {})),
      wipe_(new SliderField(tr("Wipe"), 0, 1, 0.01)),
      flip_(new QCheckBox(tr("Compute FLIP"))),
      worst_title_(new QLabel(tr("Worst texels"))),
      worst_(new QListWidget),
      note_(new CalmText(tr("Note on the comparison"))) {
    mode_->setToolTip(tr("How the canvas shows the comparison"));
    against_->setToolTip(tr("Compares with the reference image, with the second sampler, or with the other device"));
    wipe_->setToolTip(tr("Fraction of the canvas width that shows the current image"));
    wipe_->number()->set_range(0, 1);
    flip_->setAccessibleName(tr("Compute FLIP"));
    flip_->setToolTip(tr("Computes FLIP, which measures the visible difference. This takes longer."));
    worst_->setAccessibleName(tr("Worst texels"));
    worst_->setToolTip(tr("Click a texel or press Return to show it on the canvas"));
    worst_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    worst_->setMinimumHeight(worst_->fontMetrics().lineSpacing() * 6);

    QFormLayout* form = narrow_form();
    form->addRow(tr("Mode"), mode_);
    form->addRow(tr("Against"), against_);
    form->addRow(tr("Reference"), reference_);
    form->addRow(tr("Wipe"), wipe_);
    auto* column = new QVBoxLayout;
    column->addLayout(form);
    column->addWidget(flip_);
    column->addWidget(note_);
    column->addWidget(make_figures());
    column->addWidget(worst_title_);
    column->addWidget(worst_, 1);
    column->addStretch();
    lay_out(column);

    const auto change = [this](const QString& what, const char* id, const std::function<void(Session&)>& edit) {
        this->workspace().change(what, edit, QString("compare ") + id);
    };
    connect(mode_, &QComboBox::currentIndexChanged, this, [=](int index) {
        change(tr("Compare"), "mode",
               [=](Session& session) { session.compare.mode = static_cast<CompareMode>(index); });
    });
    connect(against_, &QComboBox::currentIndexChanged, this, [=](int index) {
        change(tr("Compare against"), "against",
               [=](Session& session) { session.compare.against = static_cast<Against>(index); });
    });
    // The first entry means no reference.
    connect(reference_, &QComboBox::currentIndexChanged, this, [=](int index) {
        change(tr("Reference"), "reference", [=](Session& session) {
            session.reference.reset();
            if (index > 0) session.reference = static_cast<std::size_t>(index - 1);
        });
    });
    connect(wipe_, &SliderField::edited, this,
            [=](double value) { change(tr("Wipe"), "wipe", [=](Session& session) { session.compare.wipe = value; }); });
    connect(flip_, &QCheckBox::clicked, this,
            [=](bool on) { change(tr("FLIP"), "flip", [=](Session& session) { session.compare.flip = on; }); });
    const auto jump = [this](const QListWidgetItem* item) {
        const auto row = static_cast<std::size_t>(worst_->row(item));
        if (found_ && row < found_->worst.size()) jump_to(found_->subresource, found_->worst[row]);
    };
    connect(worst_, &QListWidget::itemClicked, this, jump);
    connect(worst_, &QListWidget::itemActivated, this, jump);
}

QWidget* ComparePanel::make_figures() {
    figures_ = new QWidget;
    QFormLayout* form = narrow_form();
    form->setContentsMargins(0, 0, 0, 0);
    form->setVerticalSpacing(3);
    figures_->setLayout(form);
    for (const QString& title : {tr("Differing"), tr("Maximum"), tr("Mean"), tr("MSE"), tr("PSNR"), tr("SSIM"),
                                 tr("Maximum ulps"), tr("FLIP")}) {
        auto* cell = new QLabel;
        cell->setAccessibleName(title);
        cell->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
        cell->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
        form->addRow(title, cell);
        cells_.push_back(cell);
    }
    return figures_;
}

void ComparePanel::show_choices() {
    const Session& session = workspace().session();
    const QSignalBlocker quiet_mode(mode_), quiet_against(against_), quiet_reference(reference_);
    mode_->setCurrentIndex(static_cast<int>(session.compare.mode));
    against_->setCurrentIndex(static_cast<int>(session.compare.against));
    reference_->clear();
    reference_->addItem(tr("none"));
    for (const Source& source : session.images) reference_->addItem(QString::fromStdString(title_of(source)));
    reference_->setCurrentIndex(session.reference ? static_cast<int>(*session.reference) + 1 : 0);
    reference_->setEnabled(session.compare.against == Against::reference);
    wipe_->set_value(session.compare.wipe);
    wipe_->setEnabled(session.compare.mode == CompareMode::wipe);
    flip_->setChecked(session.compare.flip);
}

ComparePanel::SamplerPair ComparePanel::samplers(const Document& shown, const SubresourceIndex& subresource) const {
    const Session& session = workspace().session();
    const Sampler usual = shown.standard_sampler(subresource.plane);
    return {session.sampler.value_or(usual), session.second_sampler.value_or(usual),
            visible_fetches(*shown.as_loaded(), shown.in_array(subresource))};
}

RegionComparison ComparePanel::compared(const Subject& subject, const Scene& scene, const CancellationToken& token) {
    const ComparisonOptions options{.flip = subject.flip, .worst = 20};
    if (!subject.samplers) return compare_region(scene, options);
    const auto& [shown, against, grid] = *subject.samplers;
    const Document& document = *subject.shown;
    RegionComparison found =
        compare_samplers(document.array(subject.subresource.plane), document.in_array(subject.subresource), grid, shown,
                         against, options, token);
    for (Position& texel : found.worst)
        texel = in_files(document, subject.subresource, {document.in_array(subject.subresource), texel}).at;
    found.subresource = subject.subresource;
    found.note =
        tr("The samplers were compared at the %1 x %2 visible pixels.").arg(grid.columns).arg(grid.rows).toStdString();
    return found;
}

void ComparePanel::refresh() {
    show_choices();
    const Session& session = workspace().session();
    Subject next{workspace().shown(), workspace().against(), session.subresource, session.compare.flip};
    if (session.compare.mode == CompareMode::none) return show_nothing(tr("Choose a mode to compare."));
    if (!next.shown) return show_nothing(tr("No image is shown."));
    if (!next.against) {
        if (session.compare.against == Against::device) {
            return show_nothing(workspace().other_device() ? tr("The image is loading.")
                                                           : tr("This computer has no other device."));
        }
        return show_nothing(session.reference ? tr("The reference is not loaded yet.") : tr("Choose a reference."));
    }
    if (session.compare.against == Against::sampler) {
        next.subresource = next.shown->clamped(session.subresource);
        next.samplers = samplers(*next.shown, next.subresource);
        if (next.samplers->grid.columns == 0) return show_nothing(tr("No part of the image is visible."));
    }
    if (next == subject_) return;
    subject_ = next;
    note_->say(tr("Comparing..."));
    const QPointer<ComparePanel> self(this);
    const Scene scene = workspace().scene(1, 1);
    workspace().jobs().start(kTag, [self, scene, next](const CancellationToken& token) -> Jobs::Finish {
        try {
            const RegionComparison found = compared(next, scene, token);
            return [self, found] {
                if (self) self->show_comparison(found);
            };
        } catch (const std::exception& error) {
            return [self, why = QString::fromStdString(error_text(error))] {
                if (!self) return;
                const std::optional<Subject> of = self->subject_;
                self->show_nothing(why);
                self->subject_ = of;  // so that refreshes do not repeat the failing work
            };
        }
    });
}

void ComparePanel::show_nothing(const QString& why) {
    workspace().jobs().drop(kTag);
    subject_.reset();
    found_.reset();
    for (QWidget* widget : std::initializer_list<QWidget*>{figures_, worst_, worst_title_}) widget->hide();
    note_->say(why);
}

void ComparePanel::show_comparison(const RegionComparison& found) {
    found_ = found;
    const Difference& all = found.comparison.all;
    const std::size_t texels = found.extent.width * found.extent.height;
    const std::vector<QString> figures{
        tr("%1 of %2").arg(all.differing).arg(texels),
        text(all.max),
        text(all.mean),
        text(all.mse),
        tr("%1 dB").arg(text(all.psnr)),
        all.ssim ? text(*all.ssim) : tr("not available"),
        all.max_ulp == kFarthest ? tr("NaN") : QString::number(all.max_ulp),
        found.comparison.flip
            ? tr("%1, max %2").arg(text(found.comparison.flip->mean), text(found.comparison.flip->max))
            : tr("not computed")};
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i]->setText(figures[i]);
    worst_->clear();
    for (std::size_t i = 0; i < found.worst.size(); ++i) worst_->addItem(QString::fromStdString(worst_text(found, i)));
    figures_->show();
    worst_->setVisible(!found.comparison.worst.empty());
    worst_title_->setVisible(!found.comparison.worst.empty());
    note_->say(QString::fromStdString(found.note));
}

}  // namespace texton::viewer
