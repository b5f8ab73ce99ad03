#include "viewer/gui/panels/review.h"

#include <QAction>
#include <QFontDatabase>
#include <QHeaderView>
#include <QMainWindow>
#include <QSignalBlocker>

namespace texton::viewer {
namespace {

using verify::Outcome;
using verify::Verdict;

constexpr int kIndexRole = Qt::UserRole;
constexpr int kOutputLines = 6;

const QString kMarks[] = {QString(), QStringLiteral("\u2713"), QStringLiteral("\u2717")};  // by Verdict

QString difference_text(const verify::Result& result) {
    switch (result.outcome) {
        case Outcome::failed: return QObject::tr("failed");
        case Outcome::no_reference: return QObject::tr("no reference");
        case Outcome::passed:
        case Outcome::skipped: return {};
        case Outcome::differs: break;
    }
    if (result.comparisons.empty()) return QObject::tr("other shape");
    const QString texels =
        result.differing() == 1 ? QObject::tr("1 texel") : QObject::tr("%1 texels").arg(result.differing());
    if (result.max_ulp() == kFarthest) return QObject::tr("%1, NaN").arg(texels);
    return QObject::tr("%1, %2 ulp").arg(texels).arg(result.max_ulp());
}

QString verdict_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::undecided: return QObject::tr("undecided");
        case Verdict::approved: return QObject::tr("approved");
        case Verdict::rejected: return QObject::tr("rejected");
    }
    return {};
}

// Runs an action of the window that the panel belongs to. A floating dock is a window of its own.
void trigger(const QWidget* panel, const QString& id) {
    for (const QWidget* each = panel; each != nullptr; each = each->parentWidget())
        if (auto* action = each->findChild<QAction*>(id)) return action->trigger();
}

}  // namespace

ReviewPanel::ReviewPanel(Workspace& workspace)
    : LivePanel(workspace),
      review_(workspace.review()),
      status_(new CalmText(tr("State of the review"))),
      list_(new QTreeWidget),
      image_(choice_box(tr("Image of the case"), {})),
      view_(choice_box(tr("View"), {"side by side", "wipe", "flip", "difference", "FLIP map", "ulp map"})),
      message_(new QLabel),
      output_(new QPlainTextEdit),
      note_(new QLineEdit),
      problem_(new CalmText(tr("Message of the review"))) {
    list_->setAccessibleName(tr("Failing cases"));
    list_->setToolTip(tr("Failing cases, the most severe ones first. Cases that differ in the same way are a group."));
    list_->setHeaderLabels({QString(), tr("Case"), tr("Difference")});
    list_->setTreePosition(1);
    list_->setUniformRowHeights(true);
    list_->setIndentation(14);
    list_->setMinimumWidth(list_->fontMetrics().averageCharWidth() * 44);
    list_->setMinimumHeight(list_->fontMetrics().lineSpacing() * 8);
    list_->header()->setStretchLastSection(false);
    list_->header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
    list_->header()->setSectionResizeMode(1, QHeaderView::Stretch);
    list_->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    view_->setToolTip(tr("How the canvas shows the result and the reference"));
    message_->setAccessibleName(tr("Why the case fails"));
    message_->setWordWrap(true);
    message_->setTextFormat(Qt::PlainText);
    message_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    output_->setAccessibleName(tr("Last lines of the command"));
    output_->setReadOnly(true);
    output_->setTabChangesFocus(true);
    output_->setLineWrapMode(QPlainTextEdit::NoWrap);
    output_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    output_->setFixedHeight(output_->fontMetrics().lineSpacing() * kOutputLines);
    note_->setAccessibleName(tr("Note"));
    note_->setPlaceholderText(tr("Why the result is wrong"));
    note_->setToolTip(tr("A note rejects the case. Return shows the next case."));
    problem_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);

    QFormLayout* form = narrow_form();
    form->addRow(tr("Image"), image_);
    form->addRow(tr("View"), view_);
    form->addRow(tr("Note"), note_);
    auto* column = new QVBoxLayout;
    column->addWidget(status_);
    column->addWidget(make_progress());
    column->addWidget(list_, 1);
    column->addWidget(message_);
    column->addWidget(output_);
    column->addLayout(form);
    column->addWidget(problem_);
    QWidget* buttons = make_buttons();
    column->addWidget(buttons);
    lay_out(column);
    case_widgets_ = {list_, message_, image_, view_, note_, buttons};
    for (QWidget* field : {static_cast<QWidget*>(image_), static_cast<QWidget*>(view_), static_cast<QWidget*>(note_)})
        case_widgets_.push_back(form->labelForField(field));
    image_widgets_ = {image_, view_, form->labelForField(image_), form->labelForField(view_)};
    if (review_ == nullptr) return;

    connect(review_, &SuiteReview::changed, this, &ReviewPanel::stale);
    connect(review_, &SuiteReview::changed, this, [this] { problem_->say(review_->mask_note()); });
    connect(review_, &SuiteReview::failed, this, [this](const QString& why) { problem_->say(why); });
    connect(review_, &SuiteReview::note_wanted, this, [this] {
        if (!isVisible()) return;
        note_->setFocus();
        note_->selectAll();
    });
    connect(list_, &QTreeWidget::currentItemChanged, this, [this](const QTreeWidgetItem* item) {
        if (!refreshing_ && item != nullptr) review_->show(item->data(0, kIndexRole).toULongLong());
    });
    connect(image_, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (index >= 0) review_->show_image(static_cast<std::size_t>(index));
    });
    connect(view_, &QComboBox::currentIndexChanged, this,
            [this](int index) { review_->set_view(static_cast<ReviewView>(index)); });
    connect(note_, &QLineEdit::returnPressed, this, [this] {
        review_->set_note(note_->text());
        note_->setModified(false);  // editingFinished() follows, when the next case is the current one
        review_->step(1, true);
        list_->setFocus();
    });
    connect(note_, &QLineEdit::editingFinished, this, [this] {
        if (note_->isModified()) review_->set_note(note_->text());
        note_->setModified(false);
    });
}

QWidget* ReviewPanel::make_progress() {
    running_ = new QWidget;
    auto* row = new QHBoxLayout(running_);
    row->setContentsMargins(0, 0, 0, 0);
    progress_ = new QProgressBar;
    progress_->setAccessibleName(tr("Progress of the suite"));
    auto* cancel = new QPushButton(tr("Cancel"));
    cancel->setAccessibleName(tr("Cancel the suite"));
    row->addWidget(progress_, 1);
    row->addWidget(cancel);
    connect(cancel, &QPushButton::clicked, this, [this] { review_->cancel(); });
    running_->hide();
    return running_;
}

QWidget* ReviewPanel::make_buttons() {
    auto* grid_widget = new QWidget;
    auto* grid = new QGridLayout(grid_widget);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(4);
    const struct {
        const char* action;
        QString text;
    } buttons[] = {{"review-approve", tr("Approve")},
                   {"review-reject", tr("Reject")},
                   {"review-approve-group", tr("Approve group")},
                   {"review-reject-group", tr("Reject group")},
                   {"review-reopen", tr("Remove decision")},
                   {"review-apply", tr("Apply...")}};
    int i = 0;
    for (const auto& each : buttons) {
        auto* button = new QPushButton(each.text);
        button->setAccessibleName(each.text);
        button->setProperty("action", each.action);
        grid->addWidget(button, i / 2, i % 2);
        connect(button, &QPushButton::clicked, this, [this, id = QString(each.action)] { trigger(this, id); });
        buttons_.push_back(button);
        ++i;
    }
    return grid_widget;
}

// --- list ------------------------------------------------------------------------------------------------------------

// The first case of a group is the parent of the others.
void ReviewPanel::make_items() {
    list_->clear();
    const verify::Review* review = review_->review();
    if (review == nullptr) return;
    const verify::SuiteRun& run = review->run();
    QList<QTreeWidgetItem*> items;
    for (const auto& group : review->groups()) {
        QTreeWidgetItem* first = nullptr;
        for (const std::size_t index : group) {
            auto* item = first != nullptr ? new QTreeWidgetItem(first) : new QTreeWidgetItem;
            if (first == nullptr) items.append(item);
            const QString name = QString::fromStdString(run.cases[index]->name);
            const bool has_more = first == nullptr && group.size() > 1;
            item->setText(1, has_more ? tr("%1 +%2").arg(name).arg(group.size() - 1) : name);
            const QString message = SuiteReview::reason(run.results[index]);
            item->setToolTip(
                1, has_more ? tr("%1\n%2 cases fail in the same way. %3").arg(name).arg(group.size()).arg(message)
                            : name + '\n' + message);
            item->setText(2, difference_text(run.results[index]));
            item->setData(0, kIndexRole, QVariant::fromValue<qulonglong>(index));
            if (first == nullptr) first = item;
        }
    }
    list_->addTopLevelItems(items);
}

QTreeWidgetItem* ReviewPanel::item_of(std::size_t index) const {
    const auto group = review_->review()->group_of(index);
    const auto& groups = review_->review()->groups();
    for (int i = 0; i < list_->topLevelItemCount(); ++i) {
        if (static_cast<std::size_t>(i) >= groups.size() || groups[static_cast<std::size_t>(i)].data() != group.data())
            continue;
        QTreeWidgetItem* first = list_->topLevelItem(i);
        const auto at = std::ranges::find(group, index) - group.begin();
        return at == 0 ? first : first->child(static_cast<int>(at) - 1);
    }
    return nullptr;
}

void ReviewPanel::show_decision(QTreeWidgetItem& item, std::size_t index) const {
    const verify::Decision& decision = review_->review()->decision(index);
    item.setText(0, kMarks[static_cast<std::size_t>(decision.verdict)]);
    item.setData(0, Qt::AccessibleTextRole, verdict_text(decision.verdict));
    item.setToolTip(0, verdict_text(decision.verdict));
}

// --- contents --------------------------------------------------------------------------------------------------------

void ReviewPanel::refresh() {
    if (review_ == nullptr) {
        for (QWidget* widget : case_widgets_) widget->hide();
        message_->hide();
        output_->hide();
        status_->say(tr("Start texton-view with --review SUITE to review the failing cases of a suite."));
        return;
    }
    refreshing_ = true;
    show_run();
    show_case();
    refreshing_ = false;
}

void ReviewPanel::show_run() {
    status_->say(review_->status());
    running_->setVisible(review_->is_running());
    progress_->setRange(0, static_cast<int>(review_->cases()));
    progress_->setValue(static_cast<int>(review_->done()));
    const verify::Review* review = review_->review();
    const verify::SuiteRun* run = review != nullptr ? &review->run() : nullptr;
    std::size_t cases = 0;
    if (review != nullptr)
        for (const auto& group : review->groups()) cases += group.size();
    if (run != shown_run_ || cases != shown_cases_) make_items();
    shown_run_ = run;
    shown_cases_ = cases;
    for (int i = 0; i < list_->topLevelItemCount(); ++i) {
        QTreeWidgetItem* first = list_->topLevelItem(i);
        show_decision(*first, first->data(0, kIndexRole).toULongLong());
        for (int k = 0; k < first->childCount(); ++k)
            show_decision(*first->child(k), first->child(k)->data(0, kIndexRole).toULongLong());
    }
}

void ReviewPanel::show_case() {
    const std::optional<std::size_t> current = review_->current();
    for (QWidget* widget : case_widgets_) widget->setVisible(current.has_value());
    output_->setVisible(false);
    if (!current) return;
    const verify::Review& review = *review_->review();
    const verify::Result& result = review.run().results[*current];
    list_->setCurrentItem(item_of(*current));
    message_->setText(SuiteReview::reason(result));
    const QString output = QString::fromStdString(result.output).trimmed();
    output_->setVisible(!output.isEmpty() && !review_->images().empty());  // otherwise the canvas shows it
    if (output_->toPlainText() != output) output_->setPlainText(output);

    const QSignalBlocker quiet_image(image_), quiet_view(view_);
    image_->clear();
    for (const verify::ImagePair& each : review_->images()) image_->addItem(QString::fromStdString(each.text));
    image_->setCurrentIndex(static_cast<int>(review_->image()));
    image_->setEnabled(review_->images().size() > 1);
    for (QWidget* widget : image_widgets_) widget->setVisible(!review_->images().empty());
    view_->setCurrentIndex(static_cast<int>(review_->view()));
    const QString note = QString::fromStdString(review.decision(*current).note);
    if (current != noted_case_ || (!note_->isModified() && note_->text() != note)) note_->setText(note);
    noted_case_ = current;

    const std::size_t group = review.group_of(*current).size();
    for (QPushButton* button : buttons_) {
        const QString action = button->property("action").toString();
        const bool of_group = action.endsWith("group");
        bool able = !review_->is_busy() && (!of_group || group > 1);
        if (action.startsWith("review-approve")) able = able && review.is_approvable(*current);
        if (action == "review-reopen") able = able && review.decision(*current).verdict != Verdict::undecided;
        if (action == "review-apply") able = able && review_->has_changes();
        button->setEnabled(able);
    }
}

}  // namespace texton::viewer
