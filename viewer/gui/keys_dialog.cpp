#include "viewer/gui/keys_dialog.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QPushButton>
#include <QVBoxLayout>

#include "viewer/gui/command_palette.h"

namespace texton::viewer {

KeysDialog::KeysDialog(Actions& actions, QWidget* parent)
    : QDialog(parent),
      actions_(actions),
      search_(new QLineEdit),
      list_(new QTreeWidget),
      keys_(new QKeySequenceEdit),
      note_(new QLabel),
      holder_(new QLabel) {
    setWindowTitle(tr("Keys"));
    search_->setPlaceholderText(tr("Search for an action, a description or a key"));
    search_->setAccessibleName(tr("Search"));
    search_->setClearButtonEnabled(true);
    list_->setAccessibleName(tr("Actions"));
    list_->setRootIsDecorated(false);
    list_->setHeaderLabels({tr("Action"), tr("Keys"), tr("Description")});
    keys_->setAccessibleName(tr("New keys"));
    holder_->setAccessibleName(tr("Note on the keys"));
    holder_->setWordWrap(true);
    note_->setWordWrap(true);
    note_->setText(
        tr("The wheel zooms at the cursor; Ctrl+wheel steps through slices. A drag pans. A right click pins a texel. "
           "Hold T to show the reference. Hold Ctrl+Shift to show hexadecimal values."));
    auto* set = new QPushButton(tr("&Set keys"));
    auto* none = new QPushButton(tr("&Remove keys"));
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close | QDialogButtonBox::RestoreDefaults);
    auto* row = new QHBoxLayout;
    row->addWidget(keys_, 1);
    row->addWidget(set);
    row->addWidget(none);
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(note_);
    layout->addWidget(search_);
    layout->addWidget(list_, 1);
    layout->addLayout(row);
    layout->addWidget(holder_);
    layout->addWidget(buttons);
    resize(fontMetrics().averageCharWidth() * 110, fontMetrics().height() * 34);

    connect(search_, &QLineEdit::textChanged, this, &KeysDialog::filter);
    connect(list_, &QTreeWidget::currentItemChanged, this, &KeysDialog::show_current);
    connect(set, &QPushButton::clicked, this, &KeysDialog::choose);
    connect(keys_, &QKeySequenceEdit::keySequenceChanged, this, &KeysDialog::show_holder);
    connect(none, &QPushButton::clicked, this, [this] {
        keys_->clear();
        choose();
    });
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, this, [this] {
        actions_.reset_keys();
        fill();
    });
    fill();
}

void KeysDialog::fill() {
    const QString chosen =
        list_->currentItem() != nullptr ? list_->currentItem()->data(0, Qt::UserRole).toString() : QString();
    list_->clear();
    for (const ActionInfo& info : actions_.all()) {
        const QString keys = QKeySequence::listToString(actions_.find(info.id)->shortcuts(), QKeySequence::NativeText)
                                 .replace("; ", "   ");
        auto* item = new QTreeWidgetItem(list_, {QString(info.text).remove('&').remove("..."), keys, info.tip});
        item->setData(0, Qt::UserRole, info.id);
        if (info.id == chosen) list_->setCurrentItem(item);
    }
    list_->resizeColumnToContents(0);
    list_->resizeColumnToContents(1);
    filter();
}

// Hides the actions that do not contain all words of the search line. The current action is always visible, so that
// keys are not set for a hidden one.
void KeysDialog::filter() {
    QTreeWidgetItem* first = nullptr;
    for (int row = 0; row < list_->topLevelItemCount(); ++row) {
        QTreeWidgetItem* item = list_->topLevelItem(row);
        const QString text = item->text(0) + '\n' + item->text(1) + '\n' + item->text(2);
        item->setHidden(!CommandPalette::has_words(search_->text(), text));
        if (first == nullptr && !item->isHidden()) first = item;
    }
    if (list_->currentItem() == nullptr || list_->currentItem()->isHidden()) list_->setCurrentItem(first);
}

void KeysDialog::show_current() {
    if (list_->currentItem() == nullptr) return keys_->clear();
    keys_->setKeySequence(actions_.find(list_->currentItem()->data(0, Qt::UserRole).toString())->shortcut());
}

// Says which other action would lose the keys.
void KeysDialog::show_holder(const QKeySequence& keys) {
    const QString id = keys.isEmpty() ? QString() : actions_.holder_of(keys);
    const bool is_other = !id.isEmpty() && id != list_->currentItem()->data(0, Qt::UserRole).toString();
    holder_->setText(is_other ? tr("%1 is used by the action %2, which will lose it.")
                                    .arg(keys.toString(QKeySequence::NativeText),
                                         actions_.find(id)->text().remove('&').remove("..."))
                              : QString());
}

void KeysDialog::choose() {
    if (list_->currentItem() == nullptr) return;
    const QKeySequence keys = keys_->keySequence();
    actions_.set_keys(list_->currentItem()->data(0, Qt::UserRole).toString(),
                      keys.isEmpty() ? QList<QKeySequence>() : QList<QKeySequence>{keys});
    fill();
}

}  // namespace texton::viewer
