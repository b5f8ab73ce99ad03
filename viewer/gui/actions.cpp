#include "viewer/gui/actions.h"

#include <QMenuBar>
#include <QSettings>
#include <QWidget>
#include <algorithm>

#include "viewer/model/old_names.h"
#include "viewer/text/error_text.h"

namespace texton::viewer {
namespace {

QString settings_key(const QString& id) { return "keys/" + id; }

QList<QKeySequence> chosen_keys(const ActionInfo& info) {
    const QSettings settings;
    QString key = settings_key(info.id);
    if (!settings.contains(key)) {
        const std::string_view old_id = old_name(info.id.toStdString());
        if (old_id.empty()) return info.keys;
        key = settings_key(QString::fromUtf8(old_id.data(), static_cast<qsizetype>(old_id.size())));
    }
    if (!settings.contains(key)) return info.keys;
    return QKeySequence::listFromString(settings.value(key).toString(), QKeySequence::PortableText);
}

}  // namespace

Actions::Actions(QWidget* window) : QObject(window), window_(window) {}

QAction* Actions::add(ActionInfo info) {
    auto* action = new QAction(info.text, this);
    action->setObjectName(info.id);
    action->setToolTip(info.tip);
    action->setStatusTip(info.tip);
    action->setShortcuts(chosen_keys(info));
    action->setCheckable(static_cast<bool>(info.is_on));
    connect(action, &QAction::triggered, this, [this, run = info.run] {
        // Qt cannot pass exceptions on to the sender of a signal.
        try {
            run();
        } catch (const std::exception& error) {
            Q_EMIT failed(QString::fromStdString(error_text(error)));
        }
        refresh();
    });
    window_->addAction(action);
    infos_.push_back(std::move(info));
    actions_.push_back(action);
    return action;
}

QAction* Actions::find(const QString& id) const {
    const auto found = std::ranges::find(actions_, id, &QAction::objectName);
    return found != actions_.end() ? *found : nullptr;
}

void Actions::refresh() {
    for (std::size_t i = 0; i < infos_.size(); ++i) {
        if (infos_[i].is_on) actions_[i]->setChecked(infos_[i].is_on());
        if (infos_[i].is_able) actions_[i]->setEnabled(infos_[i].is_able());
        if (infos_[i].text_now) actions_[i]->setText(infos_[i].text_now());
    }
}

void Actions::set_keys(const QString& id, const QList<QKeySequence>& keys) {
    QAction* action = find(id);
    if (action == nullptr) return;
    // Qt runs neither of two actions with the same shortcut, so the keys are removed from all other actions.
    for (QAction* other : actions_) {
        if (other == action) continue;
        QList<QKeySequence> left = other->shortcuts();
        const auto taken = left.removeIf([&](const QKeySequence& each) { return keys.contains(each); });
        if (taken == 0) continue;
        other->setShortcuts(left);
        QSettings().setValue(settings_key(other->objectName()),
                             QKeySequence::listToString(left, QKeySequence::PortableText));
    }
    action->setShortcuts(keys);
    QSettings().setValue(settings_key(id), QKeySequence::listToString(keys, QKeySequence::PortableText));
}

void Actions::reset_keys() {
    QSettings().remove("keys");
    for (std::size_t i = 0; i < infos_.size(); ++i) actions_[i]->setShortcuts(infos_[i].keys);
}

QString Actions::holder_of(const QKeySequence& keys) const {
    for (const QAction* action : actions_)
        if (action->shortcuts().contains(keys)) return action->objectName();
    return {};
}

}  // namespace texton::viewer
