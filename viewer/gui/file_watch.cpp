#include "viewer/gui/file_watch.h"

#include <QFileInfo>

namespace texton::viewer {

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
    settled_.setSingleShot(true);
    settled_.setInterval(150);
    connect(&settled_, &QTimer::timeout, this, &FileWatch::check);
    const auto touched = [this] { settled_.start(); };
    connect(&watcher_, &QFileSystemWatcher::fileChanged, this, touched);
    // QFileSystemWatcher stops watching a file that is replaced. The change of its folder reports the new file.
    connect(&watcher_, &QFileSystemWatcher::directoryChanged, this, touched);
}

FileWatch::Seen FileWatch::look(const QString& path) {
    const QFileInfo file(path);
    return file.exists() ? Seen{file.lastModified(), file.size()} : Seen{};
}

void FileWatch::watch(const std::set<QString>& paths) {
    std::erase_if(seen_, [&](const auto& each) { return !paths.contains(each.first); });
    for (const QString& path : paths) seen_.try_emplace(path, look(path));
    follow();
}

void FileWatch::follow() {
    QStringList watched_paths;
    for (const auto& [path, unused] : seen_) {
        const QFileInfo file(path);
        if (file.exists()) watched_paths.append(path);
        if (const QString folder = file.absolutePath(); !watched_paths.contains(folder)) watched_paths.append(folder);
    }
    const QStringList have = watcher_.files() + watcher_.directories();
    for (const QString& path : have)
        if (!watched_paths.contains(path)) watcher_.removePath(path);
    for (const QString& path : watched_paths)
        if (!have.contains(path)) watcher_.addPath(path);
}

void FileWatch::check() {
    QStringList changed;
    for (auto& [path, seen] : seen_) {
        const Seen now = look(path);
        if (now.bytes < 0 || now == seen) continue;  // a missing file may return
        seen = now;
        changed.append(path);
    }
    follow();
    for (const QString& path : changed) Q_EMIT file_changed(path);
}

}  // namespace texton::viewer
