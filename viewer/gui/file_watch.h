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

/// Tells when a file has another content: also one that was replaced by another of its name, or is not there for a moment.
class FileWatch : public QObject {
    Q_OBJECT

public:
    explicit FileWatch(QObject* parent = nullptr);

    void watch(const std::set<QString>& paths);

Q_SIGNALS:
    /// Some time after the last of several changes.
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
    QTimer settled_;  // programs write a file in several steps
    std::map<QString, Seen> seen_;
};

}  // namespace texton::viewer
