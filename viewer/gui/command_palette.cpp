#include "viewer/gui/command_palette.h"

#include <QKeyEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <optional>

namespace texton::viewer {

CommandPalette::CommandPalette(Actions& actions, QWidget* parent)
    : QDialog(parent), actions_(actions), line_(new QLineEdit), list_(new QListWidget) {
    setWindowTitle(tr("Commands"));
    line_->setPlaceholderText(tr("Type letters of an action, or words of its description"));
    line_->setAccessibleName(tr("Search"));
    line_->setClearButtonEnabled(true);
    list_->setAccessibleName(tr("Commands"));
    list_->setUniformItemSizes(true);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(line_);
    layout->addWidget(list_);
    resize(fontMetrics().averageCharWidth() * 78, fontMetrics().height() * 24);
    line_->installEventFilter(this);
    connect(line_, &QLineEdit::textChanged, this, &CommandPalette::filter);
    connect(line_, &QLineEdit::returnPressed, this, &CommandPalette::run);
    connect(list_, &QListWidget::itemActivated, this, &CommandPalette::run);
    actions_.refresh();
    filter();
}

std::optional<int> CommandPalette::distance(const QString& letters, const QString& text) {
    int at = -1, first = -1;
    for (const QChar letter : letters) {
        if (letter.isSpace()) continue;
        at = static_cast<int>(text.indexOf(letter, at + 1, Qt::CaseInsensitive));
        if (at < 0) return {};
        if (first < 0) first = at;
    }
    return at - std::max(first, 0);
}

bool CommandPalette::has_words(const QString& words, const QString& text) {
    return std::ranges::all_of(words.split(' ', Qt::SkipEmptyParts),
                               [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

void CommandPalette::filter() {
    constexpr int kByTip = 1000;  // actions that match only by their description are listed last
    struct Row {
        int distance;
        const ActionInfo* info;
    };
    std::vector<Row> rows;
    for (const ActionInfo& info : actions_.all()) {
        if (info.id == "palette") continue;
        const QString text = QString(info.menu + " " + info.text).remove('&');
        if (const auto far = distance(line_->text(), text)) {
            rows.push_back({*far, &info});
        } else if (has_words(line_->text(), info.tip)) {
            rows.push_back({kByTip, &info});
        }
    }
    std::ranges::stable_sort(rows, {}, &Row::distance);
    list_->clear();
    for (const Row& row : rows) {
        const QAction* action = actions_.find(row.info->id);
        const QString keys = action->shortcut().toString(QKeySequence::NativeText);
        auto* item = new QListWidgetItem(QString(row.info->text).remove('&').remove("...") +
                                         (keys.isEmpty() ? QString() : "   " + keys));
        item->setData(Qt::UserRole, row.info->id);
        item->setToolTip(row.info->tip);
        if (!action->isEnabled()) item->setFlags(Qt::NoItemFlags);
        list_->addItem(item);
    }
    if (rows.empty()) {
        list_->addItem(tr("No action matches '%1'.").arg(line_->text()));
        list_->item(0)->setFlags(Qt::NoItemFlags);
    }
    list_->setCurrentRow(0);
}

void CommandPalette::run() {
    const QListWidgetItem* item = list_->currentItem();
    if (item == nullptr || !(item->flags() & Qt::ItemIsEnabled)) return;
    QAction* action = actions_.find(item->data(Qt::UserRole).toString());
    accept();
    action->trigger();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        const int by = key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0;
        if (by != 0 && list_->count() != 0) {
            list_->setCurrentRow(std::clamp(list_->currentRow() + by, 0, list_->count() - 1));
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

}  // namespace texton::viewer
