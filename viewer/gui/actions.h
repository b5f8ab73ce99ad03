#pragma once
#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>
#include <functional>
#include <vector>

namespace texton::viewer {

/// One command of the window. The menus, the command palette, the key map and the list of keys are built from it.
struct ActionInfo {
    QString id;    ///< object name of the QAction and key in the settings, for example "zoom-in"
    QString menu;  ///< for example "&View"; empty: only in the command palette and by keys
    QString text;
    QString tip;
    QList<QKeySequence> keys;  ///< defaults
    std::function<void()> run;
    std::function<bool()> is_on{};    ///< makes the action checkable; empty: not checkable
    std::function<bool()> is_able{};  ///< whether the action is enabled; empty: always
    /// Text that depends on the state of the window, for example on what is undone; empty: always `text`.
    std::function<QString()> text_now{};
};

/// The actions of a window, in the order in which they were added. Keys that the user chose are stored in QSettings
/// under "keys/". For the GUI thread only.
class Actions : public QObject {
    Q_OBJECT

public:
    explicit Actions(QWidget* window);

    /// Creates the action with the stored keys, or with its default keys if none are stored. The object owns the
    /// action.
    QAction* add(ActionInfo info);
    const std::vector<ActionInfo>& all() const noexcept { return infos_; }
    /// Returns null if there is no action with this id.
    QAction* find(const QString& id) const;
    /// Updates the text and the checked and enabled state of all actions.
    void refresh();
    /// Sets and stores the keys of an action. Removes these keys from all other actions.
    void set_keys(const QString& id, const QList<QKeySequence>& keys);
    /// Restores the default keys of all actions.
    void reset_keys();
    /// Returns the id of the action that has these keys, or an empty string.
    QString holder_of(const QKeySequence& keys) const;

Q_SIGNALS:
    /// An action ended with an exception, whose message is `why`.
    void failed(QString why);

private:
    QWidget* window_;
    std::vector<ActionInfo> infos_;
    std::vector<QAction*> actions_;
};

}  // namespace texton::viewer
