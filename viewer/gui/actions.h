#pragma once
#include <QAction>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QString>
#include <functional>
#include <vector>

namespace texton::viewer {

/// What a person can do: one row feeds menu, palette, key map and help.
struct ActionInfo {
    QString id;    ///< in the settings: "zoom-in"
    QString menu;  ///< "&View"; empty: in the palette and by keys only
    QString text;
    QString tip;
    QList<QKeySequence> keys;
    std::function<void()> run;
    std::function<bool()> is_on{};    ///< of one that can be checked
    std::function<bool()> is_able{};  ///< empty: always
};

/// The actions of a window, in their order. Keys that a person chose are kept in QSettings under "keys/".
class Actions : public QObject {
    Q_OBJECT

public:
    explicit Actions(QWidget* window);

    QAction* add(ActionInfo info);
    const std::vector<ActionInfo>& all() const noexcept { return infos_; }
    QAction* find(const QString& id) const;
    /// Checks and enables all by what is true now.
    void refresh();
    void set_keys(const QString& id, const QList<QKeySequence>& keys);
    void reset_keys();
    /// The action that has these keys, if one has.
    QString holder_of(const QKeySequence& keys) const;

private:
    QWidget* window_;
    std::vector<ActionInfo> infos_;
    std::vector<QAction*> actions_;
};

}  // namespace texton::viewer
