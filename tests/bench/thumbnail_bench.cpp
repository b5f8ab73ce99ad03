// texton-thumbnail-bench FILE...: opens the files in a window, rendered offscreen, and prints how long it takes until
// the first image is painted, until the list of images shows the first thumbnail, and until it shows all of them. Times
// are wall-clock times from the creation of the window; processor time includes that of the reading processes only
// after they ended, so compare wall-clock times on an idle machine.
#include <QApplication>
#include <QElapsedTimer>
#include <QListWidget>
#include <QStandardPaths>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "arrays/files/reader/forked_helper.h"
#include "viewer/gui/main_window.h"
#include "viewer/gui/theme.h"

namespace {

using namespace texton::viewer;

// `known` are the rows that are known to have a thumbnail. `icons` are the icons of the others at the last call.
int count_thumbnails(const QListWidget& list, std::set<int>& known, std::map<int, qint64>& icons) {
    for (int row = 0; row < list.count(); ++row) {
        if (known.contains(row)) continue;
        const qint64 key = list.item(row)->icon().cacheKey();
        if (std::exchange(icons[row], key) == key) continue;
        const QPixmap icon = list.item(row)->icon().pixmap(list.iconSize());
        const QImage image = icon.toImage();
        if (qAlpha(image.pixel(image.width() / 2, image.height() / 2)) == 255) known.insert(row);
    }
    return static_cast<int>(known.size());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "texton-thumbnail-bench: pass image files.\n");
        return 2;
    }
    setenv("QT_QPA_PLATFORM", "offscreen", 0);
    QStandardPaths::setTestModeEnabled(true);
    texton::reader::fork_helper();  // as texton-view does, before there are threads
    const QApplication application(argc, argv);
    apply_theme(*qApp);
    QElapsedTimer timer;
    timer.start();
    Session session;
    session.device = "cpu";
    session.panels = {"files"};
    for (int i = 1; i < argc; ++i) session.images.push_back({.paths = {argv[i]}, .options = {}});
    Workspace workspace(session);
    MainWindow window(workspace);
    window.resize(1280, 800);
    window.show();
    const auto* list = window.docks().at("files")->findChild<QListWidget*>();
    double painted = 0, first = 0;
    int made = 0;
    std::set<int> known;
    std::map<int, qint64> icons;
    constexpr double kMaxSeconds = 600;
    const auto seconds = [&timer] { return static_cast<double>(timer.nsecsElapsed()) / 1e9; };
    while (made < list->count() && seconds() < kMaxSeconds) {
        QApplication::processEvents(QEventLoop::AllEvents | QEventLoop::WaitForMoreEvents, 20);
        if (painted == 0 && workspace.shown() && window.canvas().is_complete()) painted = seconds();
        made = count_thumbnails(*list, known, icons);
        if (first == 0 && made > 0) first = seconds();
    }
    fmt::print(
        "first image painted after {:.2f} s, first thumbnail after {:.2f} s, {} of {} thumbnails after {:.2f} s\n",
        painted, first, made, list->count(), seconds());
    return made == list->count() ? 0 : 1;
}
