#pragma once
#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <QDateTime>

namespace texton::viewer {

/// Reports changed files, by time of modification and size. Also reports files that were replaced or that were missing
/// for some time. For the GUI thread only.
class FileWatch : public QObject {
    Q_OBJECT

public:
    explicit FileWatch(QObject* parent = nullptr);

    /// Sets the files to watch. Files that are watched already keep their last known state.
    void watch(const std::set<QString>& paths);

Q_SIGNALS:
    /// Emitted when no further change came for 150 ms.
    void file_changed(QString path);

private:
    struct Seen {
        QDateTime modified;
        qint64 bytes = -1;
        bool operator==(const Seen&) const = default;
    };

    static Seen look(const QString& path);
    void check();
    void follow();

    QFileSystemWatcher watcher_;
    QTimer settled_;  // programs may write a file in several steps
    std::map<QString, Seen> seen_;
};

}  // namespace texton::viewer
