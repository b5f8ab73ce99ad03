#include "viewer/gui/panels/sampler_compare.h"

#include <QHBoxLayout>
#include <QHeaderView>

namespace texton::viewer {

SamplerComparePanel::SamplerComparePanel(Workspace& workspace)
    : InspectionPanel(workspace, "sampler compare"),
      copy_(new QPushButton(tr("A to B"))),
      swap_(new QPushButton(tr("Swap"))),
      wipe_(new QPushButton(tr("Wipe A | B"))),
      fields_(new SamplerFields),
      table_(new QTreeWidget) {
    copy_->setToolTip(tr("Copies A, the sampler of the image, to B"));
    swap_->setToolTip(tr("Exchanges A and B"));
    wipe_->setToolTip(tr("Shows A on the left of the canvas and B on the right"));
    wipe_->setCheckable(true);
    fields_->setAccessibleName(tr("Sampler B"));
    table_->setAccessibleName(tr("Differing fields"));
    table_->setHeaderLabels({tr("Field of B"), tr("A"), tr("B"), tr("Pixels"), tr("Ulps")});
    table_->header()->moveSection(3, 1);  // so that the differences are visible in a narrow dock
    table_->header()->moveSection(4, 2);
    table_->setRootIsDecorated(false);
    table_->setSelectionMode(QAbstractItemView::NoSelection);
    table_->setFixedHeight(table_->fontMetrics().height() * 8);
    auto* buttons = new QHBoxLayout;
    for (QPushButton* button : {copy_, swap_, wipe_}) buttons->addWidget(button);
    column()->addLayout(buttons);
    column()->addWidget(text());
    column()->addWidget(table_);
    column()->addWidget(fields_);
    column()->addStretch();

    connect(copy_, &QPushButton::clicked, this, [this] {
        const std::optional<Inspected> at = inspected();
        if (at)
            this->workspace().change(tr("Copy A to B"),
                                     [&](Session& session) { session.second_sampler = at->sampler; });
    });
    connect(swap_, &QPushButton::clicked, this, [this] {
        const std::optional<Inspected> at = inspected();
        if (!at) return;
        this->workspace().change(tr("Swap samplers"), [&](Session& session) {
            session.sampler = session.second_sampler.value_or(at->sampler);
            session.second_sampler = at->sampler;
        });
    });
    connect(wipe_, &QPushButton::clicked, this, [this](bool on) {
        const std::optional<Inspected> at = inspected();
        if (!at) return;
        this->workspace().change(on ? tr("Wipe samplers") : tr("End wipe"), [&](Session& session) {
            session.compare.mode = on ? CompareMode::wipe : CompareMode::none;
            session.compare.against = Against::sampler;
            session.reading = Reading::sampled;
            if (!session.second_sampler) session.second_sampler = at->sampler;
        });
    });
    connect(fields_, &SamplerFields::edited, this, [this](const Sampler& sampler) {
        this->workspace().change(
            tr("Sampler B"), [&](Session& session) { session.second_sampler = sampler; }, "second sampler");
    });
}

void SamplerComparePanel::show_nothing() {
    table_->clear();
    table_->hide();
}

void SamplerComparePanel::refresh() {
    const Session& session = workspace().session();
    const std::optional<Inspected> at = inspected();
    for (QWidget* widget : {static_cast<QWidget*>(copy_), static_cast<QWidget*>(swap_), static_cast<QWidget*>(wipe_),
                            static_cast<QWidget*>(fields_)})
        widget->setEnabled(at.has_value());
    wipe_->setChecked(session.compare.mode == CompareMode::wipe && session.compare.against == Against::sampler);
    if (!at) {
        drop_work();
        show_nothing();
        return say(tr("No image is shown."));
    }
    const Sampler second = session.second_sampler.value_or(at->sampler);
    fields_->set_sampler(second);
    if (second == at->sampler) {
        drop_work();
        show_nothing();
        return say(tr("B is the same as A. Change a field of B."));
    }
    const FetchGrid grid = visible_fetches(*at);
    compute(
        [at = *at, second, grid](const CancellationToken& token) {
            return sampler_difference(at.document->array(at.subresource.plane), at.subresource, grid, at.sampler,
                                      second, token);
        },
        [this](const SamplerDifference& found) { show_found(found); });
}

void SamplerComparePanel::show_found(const SamplerDifference& found) {
    table_->clear();
    for (const FieldDifference& field : found.fields) add_row(field, found.fetches);
    for (int i = 0; i < table_->columnCount(); ++i) table_->resizeColumnToContents(i);
    table_->show();
    const FieldDifference& all = found.all;
    if (!all.problem.empty())
        return say(tr("Sampler B cannot be used with this image. %1").arg(QString::fromStdString(all.problem)));
    say(tr("%1 of %2 visible pixels differ, by up to %3.")
            .arg(all.differing)
            .arg(found.fetches)
            .arg(QString::fromStdString(ulp_text(all.largest))));
}

void SamplerComparePanel::add_row(const FieldDifference& field, std::size_t fetches) {
    auto* row = new QTreeWidgetItem(
        table_, {QString::fromStdString(field.name), QString::fromStdString(field.a), QString::fromStdString(field.b)});
    if (!field.problem.empty()) {
        row->setText(3, tr("invalid"));
        for (int column = 0; column < table_->columnCount(); ++column)
            row->setToolTip(column, QString::fromStdString(field.problem));
        return;
    }
    row->setText(3, QString::number(field.differing));
    constexpr std::uint32_t kMaxDigits = 100000;  // larger values are shortened to fit into a narrow dock
    row->setText(4,
                 field.largest < kMaxDigits ? QString::number(field.largest) : QString::number(field.largest, 'e', 1));
    row->setToolTip(4, QString::fromStdString(ulp_text(field.largest)));
    for (const int column : {3, 4}) row->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    row->setToolTip(
        3, tr("%1 % of the visible pixels change if only this field is taken from B")
               .arg(fetches == 0 ? 0 : 100.0 * static_cast<double>(field.differing) / static_cast<double>(fetches), 0,
                    'f', 2));
}

}  // namespace texton::viewer
