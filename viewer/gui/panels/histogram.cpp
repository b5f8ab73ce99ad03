#include "viewer/gui/panels/histogram.h"

#include <QFontDatabase>
#include <QGridLayout>
#include <QPointer>

#include "viewer/model/session_names.h"
#include "viewer/text/error_text.h"
#include "viewer/text/value_text.h"

namespace texton::viewer {
namespace {

constexpr const char* kTag = "histogram";

QString short_text(float value) { return QString::number(static_cast<double>(value), 'g', 4); }

}  // namespace

HistogramPanel::HistogramPanel(Workspace& workspace)
    : LivePanel(workspace),
      scope_(choice_box(tr("Scope"), all_names(kHistogramScopes))),
      logarithmic_(new QCheckBox(tr("Logarithmic"))),
      view_(new HistogramView),
      lowest_(new QLabel),
      highest_(new QLabel),
      specials_(new CalmText(tr("NaN and infinite values"))),
      problem_(new CalmText(tr("Note on the histogram"))) {
    scope_->setToolTip(tr("Visible texels, selected texels, or all texels"));
    logarithmic_->setAccessibleName(tr("Logarithmic"));
    logarithmic_->setToolTip(tr("Logarithmic scale of the counts"));
    auto* top = new QHBoxLayout;
    top->addWidget(scope_, 1);
    top->addWidget(logarithmic_);
    auto* ends = new QHBoxLayout;
    const QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    for (QLabel* label : {lowest_, highest_}) label->setFont(fixed);
    lowest_->setAccessibleName(tr("First value of the histogram"));
    highest_->setAccessibleName(tr("Last value of the histogram"));
    ends->addWidget(lowest_);
    ends->addStretch();
    ends->addWidget(highest_);
    auto* column = new QVBoxLayout;
    column->addLayout(top);
    column->addWidget(view_);
    column->addLayout(ends);
    column->addWidget(make_table());
    column->addWidget(specials_);
    column->addWidget(problem_);
    column->addStretch();
    lay_out(column);

    connect(scope_, &QComboBox::activated, this, [this](int index) {
        this->workspace().change(tr("Histogram scope"), [&](Session& session) {
            session.histogram_scope = static_cast<HistogramScope>(index);
        });
    });
    connect(logarithmic_, &QCheckBox::toggled, view_, &HistogramView::set_logarithmic);
    connect(view_, &HistogramView::range_edited, this, [this](const ValueRange& range) {
        this->workspace().change(
            tr("Range"),
            [&](Session& session) {
                session.display.low = range.low / unit_;
                session.display.high = range.high / unit_;
            },
            "histogram range");
    });
}

QWidget* HistogramPanel::make_table() {
    table_ = new QWidget;
    auto* grid = new QGridLayout(table_);
    grid->setContentsMargins(0, 0, 0, 0);
    const std::array<QString, 4> titles{QString(), tr("Minimum"), tr("Mean"), tr("Maximum")};
    const QFont fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    for (int column = 0; column < 4; ++column) {
        const auto index = static_cast<std::size_t>(column);
        auto* title = new QLabel(titles[index]);
        title->setForegroundRole(QPalette::PlaceholderText);
        grid->addWidget(title, 0, column, column == 0 ? Qt::AlignLeft : Qt::AlignRight);
        for (int channel = 0; channel < 4; ++channel) {
            auto* cell = new QLabel;
            const QString letter(channel_letter(channel));
            if (column == 0) {
                cell->setText(letter);
            } else {
                cell->setAccessibleName(tr("%1, %2").arg(letter, titles[index]));
                cell->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
                cell->setFont(fixed);
            }
            grid->addWidget(cell, channel + 1, column, column == 0 ? Qt::AlignLeft : Qt::AlignRight);
            cells_[static_cast<std::size_t>(channel)][index] = cell;
        }
    }
    grid->setColumnStretch(1, 1);
    grid->setColumnStretch(2, 1);
    grid->setColumnStretch(3, 1);
    return table_;
}

std::optional<HistogramPanel::Subject> HistogramPanel::subject(QString& why_not) const {
    const std::shared_ptr<const Document> shown = workspace().shown();
    const Session& session = workspace().session();
    why_not = tr("No image is shown.");
    if (!shown) return {};
    const SubresourceIndex subresource = shown->clamped(session.subresource);
    std::optional<TexelBox> box;
    switch (session.histogram_scope) {
        case HistogramScope::view:
            why_not = tr("No part of the image is visible.");
            box = visible_texels();
            break;
        case HistogramScope::selection:
            why_not = tr("Nothing is selected. Hold Shift and drag over the image.");
            if (session.selection) box = clamped(*session.selection, shown->extent(subresource));
            break;
        case HistogramScope::all: box = whole_box(*shown, subresource); break;
    }
    if (!box) return {};
    return Subject{shown, subresource, *box};
}

void HistogramPanel::refresh() {
    scope_->setCurrentIndex(static_cast<int>(workspace().session().histogram_scope));
    QString why_not;
    const std::optional<Subject> next = subject(why_not);
    if (!next) return show_nothing(why_not);
    const Display& display = workspace().session().display;
    unit_ = display_unit(next->document->info(next->subresource.plane).format);
    view_->show_channels(display.channels);
    view_->show_range({display.low * unit_, display.high * unit_});
    if (next == subject_) return;
    subject_ = next;
    const QPointer<HistogramPanel> self(this);
    workspace().jobs().start(kTag, [self, of = *next](const CancellationToken&) -> Jobs::Finish {
        try {
            const RegionStatistics found = region_statistics(*of.document, of.subresource, of.box);
            return [self, found] {
                if (self) self->show_statistics(found);
            };
        } catch (const std::exception& error) {
            return [self, of, why = QString::fromStdString(error_text(error))] {
                if (!self) return;
                self->show_nothing(why);
                self->subject_ = of;  // so that refreshes do not repeat the failing work
            };
        }
    });
}

void HistogramPanel::show_nothing(const QString& why) {
    workspace().jobs().drop(kTag);
    subject_.reset();
    view_->show_statistics({});
    for (QWidget* widget : std::initializer_list<QWidget*>{table_, lowest_, highest_}) widget->hide();
    specials_->say({});
    problem_->say(why);
}

void HistogramPanel::show_statistics(const RegionStatistics& statistics) {
    const int halvings = subject_ ? subject_->document->halvings(subject_->subresource) : 0;
    problem_->say(
        halvings == 0
            ? QString()
            : tr("Computed from the reduced image on the device: 1/%1 of the width and height.").arg(1 << halvings));
    view_->show_statistics(statistics);
    lowest_->setText(short_text(statistics.range.low));
    highest_->setText(short_text(statistics.range.high));
    QStringList specials;
    for (int channel = 0; channel < 4; ++channel) {
        const auto& row = cells_[static_cast<std::size_t>(channel)];
        const bool there = channel < statistics.channels;
        for (QLabel* cell : row) cell->setVisible(there);
        if (!there) continue;
        const Statistics& of = statistics.statistics;
        const bool any = of.finite[channel] > 0;
        row[1]->setText(any ? short_text(of.lowest(channel)) : tr("none"));
        row[2]->setText(any ? short_text(of.mean(channel)) : tr("none"));
        row[3]->setText(any ? short_text(of.highest(channel)) : tr("none"));
        if (of.nans[channel] + of.infinities[channel] == 0) continue;
        specials.append(tr("%1: %2 NaN, %3 infinite")
                            .arg(QChar(channel_letter(channel)))
                            .arg(of.nans[channel])
                            .arg(of.infinities[channel]));
    }
    specials_->say(specials.join('\n'));
    for (QWidget* widget : std::initializer_list<QWidget*>{table_, lowest_, highest_}) widget->show();
}

}  // namespace texton::viewer
